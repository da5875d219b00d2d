/*
 * selecting.c - select(2) and pselect(2).
 *
 * The C library's pselect() with a time-out of 0 reports ready descriptors and invalid
 * arguments. Between two such calls, the task waits with coil_poll(). select() and poll()
 * differ in one point: a hang-up always ends poll(), but it ends select() only if the
 * descriptor is in the read set. So if poll() has returned but select() still reports
 * nothing, the task naps before it polls again.
 *
 * The sets may contain more descriptors than an fd_set, because Linux reads as many bits
 * as the first argument specifies.
 */
#include "waiting.h"

#include <stdlib.h>
#include <string.h>

#define FEW 64
#define MOST 1048576 /* with more descriptors, the C library makes the call */

struct selecting {
    int n;
    fd_set *given[3]; /* sets to read, to write, exceptional; may be NULL */
    /* copies of the sets, because each select() overwrites `given` */
    fd_mask *asked[3];
    const sigset_t *mask; /* the mask during select(), or NULL for the current mask */
};

/*
 * Return the size of a set. The kernel reads only the words that contain the first n
 * descriptors, and the caller's memory may end there.
 */
static size_t set_bytes(const struct selecting *s)
{
    return (size_t)(s->n + NFDBITS - 1) / NFDBITS * sizeof(fd_mask);
}

/* Call pselect() with a time-out of 0. */
static int try_select(struct selecting *s)
{
    static const struct timespec none;

    for (int i = 0; i < 3; i++)
        if (s->given[i] != NULL)
            memcpy(s->given[i], s->asked[i], set_bytes(s));
    return NEXT(pselect)(s->n, s->given[0], s->given[1], s->given[2], &none, s->mask);
}

static short events_of(const struct selecting *s, int fd)
{
    static const short events[3] = {POLLIN, POLLOUT, POLLPRI};
    int found = 0;

    for (int i = 0; i < 3; i++)
        if (s->given[i] != NULL &&
            s->asked[i][fd / NFDBITS] & (fd_mask)(1ul << (fd % NFDBITS)))
            found |= events[i];
    return (short)found;
}

/*
 * Fill in the selected descriptors, at most `places`, and return how many are selected.
 */
static nfds_t list_descriptors(const struct selecting *s, struct pollfd *fds,
                               nfds_t places)
{
    nfds_t count = 0;

    for (int fd = 0; fd < s->n; fd++) {
        short events = events_of(s, fd);

        if (events == 0)
            continue;
        if (count < places)
            fds[count] = (struct pollfd){.fd = fd, .events = events};
        count++;
    }
    return count;
}

/*
 * Wait with coil_poll() for the descriptors of the sets. Returns 0 or -1. A descriptor of
 * 1,024 or more, for which the select backend cannot wait (EINVAL), does not count as a
 * failure: the caller then naps.
 */
static int wait_by_poll(const struct selecting *s, int64_t deadline)
{
    struct pollfd few[FEW], *fds = few;
    nfds_t count = list_descriptors(s, few, FEW);
    int rc;

    if (count > FEW)
        fds = malloc(count * sizeof *fds);
    if (fds == NULL)
        return -1;
    list_descriptors(s, fds, count);
    if (s->mask != NULL)
        rc = posix__poll_by_mask(fds, count, posix__left(deadline), s->mask);
    else if (count > 0)
        rc = posix__poll(fds, count, posix__left(deadline));
    else
        rc = posix__pause(posix__left(deadline));
    if (fds != few)
        free(fds);
    return rc < 0 && errno != EINVAL ? -1 : 0;
}

static int select_until(struct selecting *s, int64_t deadline)
{
    int64_t nap = 0;
    bool waited = false;
    int count;

    for (;;) {
        count = try_select(s);
        if (count != 0 || posix__left(deadline) == 0)
            return count;
        if (waited && posix__nap(&nap, deadline) < 0)
            return -1;
        if (wait_by_poll(s, deadline) < 0)
            return -1;
        waited = true;
    }
}

static int select_in_task(struct selecting *s, int64_t deadline)
{
    fd_set few[3];
    fd_mask *copies = (fd_mask *)few;
    size_t bytes = set_bytes(s);
    int count;

    posix__fairly();
    if (bytes > sizeof *few && (copies = malloc(3 * bytes)) == NULL)
        return -1;
    for (size_t i = 0; i < 3; i++) {
        s->asked[i] = copies + i * bytes / sizeof *copies;
        if (s->given[i] != NULL)
            memcpy(s->asked[i], s->given[i], bytes);
    }
    count = select_until(s, deadline);
    if (copies != (fd_mask *)few)
        free(copies);
    return count;
}

static bool is_count(int n)
{
    return n >= 0 && n <= MOST;
}

INTERPOSE int select(int n, fd_set *restrict to_read, fd_set *restrict to_write,
                     fd_set *restrict exceptional, struct timeval *restrict timeout)
{
    struct selecting s = {.n = n, .given = {to_read, to_write, exceptional}};
    int64_t deadline = COIL_NEVER;
    int count;

    if (!IN_TASK() || !is_count(n) ||
        (timeout != NULL && (timeout->tv_sec < 0 || timeout->tv_usec < 0)))
        return NEXT(select)(n, to_read, to_write, exceptional, timeout);
    if (timeout != NULL)
        deadline = posix__deadline(
            &(struct timespec){.tv_sec = timeout->tv_sec + timeout->tv_usec / 1000000,
                               .tv_nsec = timeout->tv_usec % 1000000 * 1000});
    count = select_in_task(&s, deadline);
    if (timeout != NULL) { /* store the time left, like Linux */
        int64_t left = posix__left(deadline);

        *timeout = (struct timeval){.tv_sec = left / COIL_SEC(1),
                                    .tv_usec = left % COIL_SEC(1) / 1000};
    }
    return count;
}

INTERPOSE int pselect(int n, fd_set *restrict to_read, fd_set *restrict to_write,
                      fd_set *restrict exceptional,
                      const struct timespec *restrict timeout,
                      const sigset_t *restrict mask)
{
    struct selecting s = {
        .n = n, .given = {to_read, to_write, exceptional}, .mask = mask};

    if (!IN_TASK() || !is_count(n) || !posix__is_span(timeout))
        return NEXT(pselect)(n, to_read, to_write, exceptional, timeout, mask);
    return select_in_task(&s, posix__deadline(timeout));
}
