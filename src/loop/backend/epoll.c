/*
 * epoll.c - readiness by epoll(7): Linux.
 *
 * A descriptor used by operations is registered once, for edges of both directions, and
 * stays until it is detached: no epoll_ctl(2) per request. One that is watched is
 * registered level-triggered, with the union of its directions.
 *
 * An event carries number and generation. The kernel keeps reporting on a description
 * that is still open elsewhere (a fork, a dup) after its number was given away here; such
 * events are of an older generation and fall flat.
 *
 * Where the kernel has epoll_pwait2(2) (Linux 5.11) it waits by nanoseconds, else by
 * milliseconds, rounded up.
 */
#include "readiness.h"

#include "../../base/fault.h"

#include <limits.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

struct epoll_backend {
    struct coil__readiness readiness;
    int epoll_fd;
    bool in_milliseconds; /* the kernel has not got epoll_pwait2() */
};

enum { BATCH = 256 };

static struct epoll_backend *epoll_of(struct coil__backend *backend)
{
    return COIL__CONTAINER(backend, struct epoll_backend, readiness.backend);
}

static uint32_t events_of(unsigned interest)
{
    uint32_t events = 0;

    if (interest & COIL__FOR_IN)
        events |= EPOLLIN;
    if (interest & COIL__FOR_OUT)
        events |= EPOLLOUT;
    if (interest & COIL__FOR_EDGES)
        events |= EPOLLET | EPOLLRDHUP | EPOLLPRI;
    return events;
}

static int set_interest(struct coil__backend *backend, int fd,
                        const struct coil__descriptor *d, unsigned interest, size_t *slot)
{
    int epoll_fd = epoll_of(backend)->epoll_fd;
    struct epoll_event event = {
        .events = events_of(interest),
        .data.u64 = (uint64_t)d->generation << 32 | (uint32_t)fd,
    };

    (void)slot;
    if (interest == 0) {
        /* Fails if the owner has closed it already, and then there is nothing to do. */
        epoll_ctl(epoll_fd, EPOLL_CTL_DEL, fd, &event);
        return 0;
    }
    /* What is registered may differ from what we remember, if a number was closed and
       opened again behind our back: try both ways. */
    if (d->interest != 0) {
        if (COIL__CALL(ENOMEM, epoll_ctl(epoll_fd, EPOLL_CTL_MOD, fd, &event)) == 0)
            return 0;
        if (errno != ENOENT)
            return -errno;
    }
    if (COIL__CALL(ENOSPC, epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event)) == 0)
        return 0;
    if (errno == EEXIST &&
        COIL__CALL(ENOMEM, epoll_ctl(epoll_fd, EPOLL_CTL_MOD, fd, &event)) == 0)
        return 0;
    return -errno;
}

static const struct coil__poller poller = {.edges = true, .set_interest = set_interest};

static int create(struct coil__backend **out)
{
    struct epoll_backend *e = coil__alloc_zeroed(sizeof *e);

    if (e == NULL)
        return -ENOMEM;
    e->epoll_fd = COIL__CALL(EMFILE, epoll_create1(EPOLL_CLOEXEC));
    if (e->epoll_fd < 0) {
        int error = errno;

        coil__free(e);
        return -error;
    }
    coil__readiness_init(&e->readiness, &coil__backend_epoll, &poller);
    *out = &e->readiness.backend;
    return 0;
}

static void destroy(struct coil__backend *backend)
{
    struct epoll_backend *e = epoll_of(backend);

    close(e->epoll_fd);
    coil__readiness_finish(&e->readiness);
    coil__free(e);
}

static int wait_milliseconds(struct epoll_backend *e, struct epoll_event *events,
                             int64_t timeout_ns)
{
    int64_t ms = timeout_ns / COIL_MSEC(1) + (timeout_ns % COIL_MSEC(1) != 0);

    if (timeout_ns == COIL_NEVER)
        ms = -1;
    else if (ms > INT_MAX)
        ms = INT_MAX;
    return COIL__CALL(EINTR, epoll_wait(e->epoll_fd, events, BATCH, (int)ms));
}

static int wait_events(struct epoll_backend *e, struct epoll_event *events,
                       int64_t timeout_ns)
{
#ifdef SYS_epoll_pwait2
    struct timespec span;
    int n;

    if (timeout_ns > 0 && timeout_ns != COIL_NEVER && !e->in_milliseconds) {
        coil__readiness_timespec(timeout_ns, &span);
        n = COIL__CALL(EINTR, (int)syscall(SYS_epoll_pwait2, e->epoll_fd, events, BATCH,
                                           &span, NULL, 0));
        if (n >= 0 || (errno != ENOSYS && errno != EPERM)) /* EPERM: old sandboxes */
            return n;
        e->in_milliseconds = true;
    }
#endif
    return wait_milliseconds(e, events, timeout_ns);
}

static unsigned found_of(uint32_t events)
{
    const uint32_t broken = EPOLLHUP | EPOLLERR;
    unsigned found = 0;

    if (events & (EPOLLIN | EPOLLPRI | EPOLLRDHUP | broken))
        found |= COIL__FOR_IN;
    if (events & (EPOLLOUT | broken))
        found |= COIL__FOR_OUT;
    if (events & (EPOLLPRI | EPOLLRDHUP | broken))
        found |= COIL__FOUND_UNUSUAL;
    return found;
}

static int poll_once(struct coil__backend *backend, int64_t timeout_ns)
{
    struct epoll_backend *e = epoll_of(backend);
    struct epoll_event events[BATCH];
    int n = wait_events(e, events, timeout_ns);

    if (n < 0)
        return errno == EINTR ? 0 : -errno;
    for (int i = 0; i < n; i++) {
        int fd = (int)(uint32_t)events[i].data.u64;
        uint32_t generation = (uint32_t)(events[i].data.u64 >> 32);

        if (i + 2 < n)
            coil__readiness_soon(backend, (int)(uint32_t)events[i + 2].data.u64);
        if (i + 1 < n)
            coil__readiness_next(backend, (int)(uint32_t)events[i + 1].data.u64);
        if (coil__readiness_generation(backend, fd) == generation)
            coil__readiness_found(backend, fd, found_of(events[i].events));
    }
    return 0;
}

static int pollable(struct coil__backend *backend)
{
    return epoll_of(backend)->epoll_fd;
}

const struct coil__backend_class coil__backend_epoll = {
    .name = "epoll",
    .create = create,
    .destroy = destroy,
    .attach = coil__readiness_attach,
    .detach = coil__readiness_detach,
    .submit = coil__readiness_submit,
    .cancel = coil__readiness_cancel,
    .watch = coil__readiness_watch,
    .poll = poll_once,
    .pollable = pollable,
};
