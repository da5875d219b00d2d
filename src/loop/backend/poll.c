/*
 * poll.c - readiness with poll(2), on any POSIX system, for any number of descriptors.
 *
 * The array that is passed to the kernel contains only descriptors that have a waiting
 * operation or a watcher. The descriptor's entry stores the index in that array. When an
 * element is removed, the last element takes its place.
 */
#include "readiness.h"

#include "../../base/fault.h"
#include "../loop.h"

#include <poll.h>
#include <time.h>

struct poll_backend {
    struct coil__readiness readiness;
    struct pollfd *entries;
    size_t count, capacity;
};

static struct poll_backend *poll_of(struct coil__backend *backend)
{
    return COIL__CONTAINER(backend, struct poll_backend, readiness.backend);
}

static int append(struct poll_backend *p, int fd, struct coil__descriptor *d)
{
    if (p->count == p->capacity) {
        size_t capacity = p->capacity != 0 ? p->capacity * 2 : 16;
        struct pollfd *entries = coil__realloc(p->entries, capacity * sizeof *entries);

        if (entries == NULL)
            return -ENOMEM;
        p->entries = entries;
        p->capacity = capacity;
    }
    p->entries[p->count] = (struct pollfd){.fd = fd};
    d->slot = (uint32_t)p->count++;
    return 0;
}

static void drop_slot(struct poll_backend *p, uint32_t slot)
{
    const struct pollfd *last = &p->entries[--p->count];

    if (slot == p->count)
        return;
    p->entries[slot] = *last;
    coil__descriptor_find(&p->readiness.backend.descriptors, last->fd)->slot = slot;
}

static int set_interest(struct coil__backend *backend, int fd, struct coil__descriptor *d,
                        unsigned interest)
{
    struct poll_backend *p = poll_of(backend);

    if (interest == 0) {
        if (d->interest != 0)
            drop_slot(p, d->slot);
        return 0;
    }
    if (d->interest == 0) {
        int rc = append(p, fd, d);

        if (rc < 0)
            return rc;
    }
    p->entries[d->slot].events = (short)((interest & COIL__FOR_IN ? POLLIN : 0) |
                                         (interest & COIL__FOR_OUT ? POLLOUT : 0));
    return 0;
}

static const struct coil__poller poller = {.exact = true, .set_interest = set_interest};

static int create(struct coil__backend **out)
{
    struct poll_backend *p = coil__alloc_zeroed(sizeof *p);

    if (p == NULL)
        return -ENOMEM;
    coil__readiness_init(&p->readiness, &coil__backend_poll, &poller);
    *out = &p->readiness.backend;
    return 0;
}

static void destroy(struct coil__backend *backend)
{
    struct poll_backend *p = poll_of(backend);

    coil__free(p->entries);
    coil__free(p);
}

static unsigned found_of(int revents)
{
    const int broken = POLLHUP | POLLERR;
    unsigned found = 0;

    if (revents & (POLLIN | broken))
        found |= COIL__FOR_IN;
    if (revents & (POLLOUT | broken))
        found |= COIL__FOR_OUT;
    if (revents & broken)
        found |= COIL__FOUND_UNUSUAL;
    return found;
}

static int poll_once(struct coil__backend *backend, int64_t timeout_ns)
{
    struct poll_backend *p = poll_of(backend);
    struct timespec span;
    const struct timespec *until =
        coil__readiness_timespec(coil__readiness_timeout(backend, timeout_ns), &span);
    int n;

    coil__loop_enter_kernel();
    n = COIL__CALL(EINTR, ppoll(p->entries, p->count, until, NULL));
    coil__loop_leave_kernel();
    if (n < 0)
        return errno == EINTR ? 0 : -errno;
    /*
     * Iterate backwards, because handling an element may remove it. In that case the last
     * element takes its place, and that element was already handled.
     */
    for (size_t i = p->count; i-- > 0 && n > 0;) {
        struct pollfd entry = p->entries[i];

        if (entry.revents == 0)
            continue;
        n--;
        if (entry.revents & POLLNVAL)
            coil__readiness_gone(backend, entry.fd);
        else
            coil__readiness_found(backend, entry.fd, found_of(entry.revents));
    }
    coil__readiness_try_paused(backend);
    return 0;
}

const struct coil__backend_class coil__backend_poll = {
    .name = "poll",
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
};
