/*
 * select.c - readiness with select(2), on all systems, for descriptors below FD_SETSIZE.
 *
 * Two bit sets are copied before each call, and all their bits are tested after it. If a
 * descriptor is closed, select(2) fails with EBADF without reporting which one, so the
 * backend searches for it.
 */
#include "readiness.h"

#include "../../base/fault.h"
#include "../loop.h"

#include <fcntl.h>
#include <sys/select.h>
#include <time.h>

struct select_backend {
    struct coil__readiness readiness;
    fd_set in, out;
    int limit; /* highest descriptor in a set + 1 */
};

static struct select_backend *select_of(struct coil__backend *backend)
{
    return COIL__CONTAINER(backend, struct select_backend, readiness.backend);
}

static bool is_in_sets(const struct select_backend *s, int fd)
{
    return FD_ISSET(fd, &s->in) || FD_ISSET(fd, &s->out);
}

static int set_interest(struct coil__backend *backend, int fd, struct coil__descriptor *d,
                        unsigned interest)
{
    struct select_backend *s = select_of(backend);

    (void)d;
    if (fd >= FD_SETSIZE)
        return interest != 0 ? -EINVAL : 0;
    FD_CLR(fd, &s->in);
    FD_CLR(fd, &s->out);
    if (interest & COIL__FOR_IN)
        FD_SET(fd, &s->in);
    if (interest & COIL__FOR_OUT)
        FD_SET(fd, &s->out);
    if (interest != 0 && fd >= s->limit)
        s->limit = fd + 1;
    while (s->limit > 0 && !is_in_sets(s, s->limit - 1))
        s->limit--;
    return 0;
}

static const struct coil__poller poller = {.set_interest = set_interest};

static int create(struct coil__backend **out)
{
    struct select_backend *s = coil__alloc_zeroed(sizeof *s);

    if (s == NULL)
        return -ENOMEM;
    FD_ZERO(&s->in);
    FD_ZERO(&s->out);
    coil__readiness_init(&s->readiness, &coil__backend_select, &poller);
    *out = &s->readiness.backend;
    return 0;
}

static void destroy(struct coil__backend *backend)
{
    struct select_backend *s = select_of(backend);

    coil__free(s);
}

/* Find descriptors that were closed without notice, and stop polling them. */
static void drop_closed(struct select_backend *s)
{
    for (int fd = s->limit - 1; fd >= 0; fd--)
        if (is_in_sets(s, fd) && fcntl(fd, F_GETFD) < 0)
            coil__readiness_gone(&s->readiness.backend, fd);
}

static int poll_once(struct coil__backend *backend, int64_t timeout_ns)
{
    struct select_backend *s = select_of(backend);
    fd_set in = s->in, out = s->out;
    struct timespec span;
    int limit = s->limit;
    const struct timespec *until =
        coil__readiness_timespec(coil__readiness_timeout(backend, timeout_ns), &span);
    int n;

    coil__loop_enter_kernel();
    n = COIL__CALL(EINTR, pselect(limit, &in, &out, NULL, until, NULL));
    coil__loop_leave_kernel();
    if (n < 0 && errno == EBADF) {
        drop_closed(s);
        return 0;
    }
    if (n < 0)
        return errno == EINTR ? 0 : -errno;
    for (int fd = 0; fd < limit && n > 0; fd++) {
        unsigned found = (FD_ISSET(fd, &in) ? COIL__FOR_IN : 0) |
                         (FD_ISSET(fd, &out) ? COIL__FOR_OUT : 0);

        if (found == 0)
            continue;
        n -= (found & COIL__FOR_IN ? 1 : 0) + (found & COIL__FOR_OUT ? 1 : 0);
        coil__readiness_found(backend, fd, found);
    }
    coil__readiness_try_paused(backend);
    return 0;
}

const struct coil__backend_class coil__backend_select = {
    .name = "select",
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
