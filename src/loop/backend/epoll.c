/*
 * epoll.c - readiness with epoll(7), on Linux.
 *
 * A descriptor used by operations is registered edge-triggered, and stays registered
 * until it is detached, so an operation needs no epoll_ctl(2). EPOLLOUT is added only
 * when an operation first waits to write, because a local socket reports EPOLLOUT for
 * each message that its peer reads, which would wake the loop unnecessarily. A watched
 * descriptor is registered level-triggered, for the directions that are watched.
 *
 * A descriptor that is borrowed, for COIL__OP_POLL operations, is registered for one
 * event in their directions. After that event it stays registered without events, so each
 * wait needs only one epoll_ctl(2). A wait that is cancelled or times out needs two,
 * because it removes the registration. If the file is still open in another process or
 * under another number, a registration without events may outlive the descriptor, but
 * costs nothing except kernel memory.
 *
 * An event contains the descriptor's number and generation. If a file is still open under
 * another number or in another process (after dup(2) or fork(2)), the kernel reports its
 * events even after this process has closed the descriptor. Such events are recognized by
 * their older generation, and ignored.
 *
 * With epoll_pwait2(2) (Linux 5.11) the time-out is in nanoseconds, otherwise in
 * milliseconds, rounded up.
 */
#include "readiness.h"

#include "../../base/fault.h"
#include "../loop.h"

#include <limits.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

struct epoll_backend {
    struct coil__readiness readiness;
    int epoll_fd;
    bool in_milliseconds; /* the kernel lacks epoll_pwait2() */
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
    if (interest & COIL__FOR_ONCE)
        events |= EPOLLONESHOT;
    return events;
}

static int set_interest(struct coil__backend *backend, int fd, struct coil__descriptor *d,
                        unsigned interest)
{
    int epoll_fd = epoll_of(backend)->epoll_fd;
    struct epoll_event event = {
        .events = events_of(interest),
        .data.u64 = (uint64_t)d->generation << 32 | (uint32_t)fd,
    };

    if (interest == 0) {
        /* Ignore errors: the owner may already have closed the descriptor. */
        epoll_ctl(epoll_fd, EPOLL_CTL_DEL, fd, &event);
        return 0;
    }
    /*
     * The owner may have closed the descriptor and opened another one with the same
     * number, so the kernel's registration may differ from d->interest: try both MOD and
     * ADD.
     */
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

static const struct coil__poller poller = {
    .edges = true, .exact = true, .set_interest = set_interest};

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
    coil__free(e);
}

static void forked(struct coil__backend *backend)
{
    close(epoll_of(backend)->epoll_fd);
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
        /* old sandboxes return EPERM */
        if (n >= 0 || (errno != ENOSYS && errno != EPERM))
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

/* Return the entry of the event's descriptor. Never NULL, because a registered descriptor
 * has an entry. */
static const struct coil__descriptor *entry_of_event(const struct coil__backend *backend,
                                                     const struct epoll_event *event)
{
    return coil__descriptor_find(&backend->descriptors, (int)(uint32_t)event->data.u64);
}

static int poll_once(struct coil__backend *backend, int64_t timeout_ns)
{
    struct epoll_backend *e = epoll_of(backend);
    struct epoll_event events[BATCH];
    int n;

    coil__loop_enter_kernel();
    n = wait_events(e, events, backend->always_ready == 0 ? timeout_ns : 0);
    coil__loop_leave_kernel();
    if (n < 0)
        return errno == EINTR ? 0 : -errno;
    for (int i = 0; i < n; i++) {
        int fd = (int)(uint32_t)events[i].data.u64;
        uint32_t generation = (uint32_t)(events[i].data.u64 >> 32);

        if (i + 2 < n)
            COIL__PREFETCH(entry_of_event(backend, &events[i + 2]));
        if (i + 1 < n)
            coil__readiness_next(backend, (int)(uint32_t)events[i + 1].data.u64);
        if (entry_of_event(backend, &events[i])->generation == generation)
            coil__readiness_found(backend, fd, found_of(events[i].events));
    }
    if (COIL__UNLIKELY(backend->always_ready > 0))
        coil__readiness_found_always(backend);
    return 0;
}

static int pollable(struct coil__backend *backend)
{
    return epoll_of(backend)->epoll_fd;
}

const struct coil__backend_class coil__backend_epoll = {
    .name = "epoll",
    .idles_without_use = true,
    .create = create,
    .destroy = destroy,
    .attach = coil__readiness_attach,
    .detach = coil__readiness_detach,
    .submit = coil__readiness_submit,
    .attempt = coil__readiness_attempt,
    .cancel = coil__readiness_cancel,
    .watch = coil__readiness_watch,
    .poll = poll_once,
    .pollable = pollable,
    .forked = forked,
};
