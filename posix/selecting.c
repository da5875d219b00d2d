/*
 * selecting.c - select(2), by poll(2).
 *
 * What is ready, and what is wrong with the call, the C library's select() says, with no
 * time to wait; poll() is what is waited by. The two differ in one thing: a hang-up ends
 * a poll() for whatever, but a select() for reading alone. There one naps.
 */
#include "waiting.h"

#include <stdlib.h>
#include <string.h>

#define FEW 64

struct selecting {
    int n;
    fd_set *given[3]; /* to read, to write, exceptional; may be NULL */
    fd_set asked[3];  /* as they were at first */
};

static void remember(struct selecting *s)
{
    for (int i = 0; i < 3; i++)
        if (s->given[i] != NULL)
            memcpy(&s->asked[i], s->given[i], sizeof s->asked[i]);
}

static int ask(struct selecting *s)
{
    struct timeval none = {0, 0};

    for (int i = 0; i < 3; i++)
        if (s->given[i] != NULL)
            memcpy(s->given[i], &s->asked[i], sizeof s->asked[i]);
    return NEXT(select)(s->n, s->given[0], s->given[1], s->given[2], &none);
}

static short events_of(const struct selecting *s, int fd)
{
    static const short events[3] = {POLLIN, POLLOUT | POLLWRBAND, POLLPRI};
    int found = 0;

    for (int i = 0; i < 3; i++)
        if (s->given[i] != NULL && FD_ISSET(fd, &s->asked[i]))
            found |= events[i] == (POLLOUT | POLLWRBAND) ? POLLOUT : events[i];
    return (short)found;
}

/* As many as there are places; returns how many there would be. */
static nfds_t list(const struct selecting *s, struct pollfd *fds, nfds_t places)
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

/* 0 or -1. */
static int wait_by_poll(const struct selecting *s, int64_t deadline)
{
    struct pollfd few[FEW], *fds = few;
    nfds_t count = list(s, few, FEW);
    int rc = -1;

    if (count > FEW)
        fds = malloc(count * sizeof *fds);
    if (fds == NULL)
        return -1;
    list(s, fds, count);
    rc = posix__poll(fds, count, posix__left(deadline));
    if (fds != few)
        free(fds);
    return rc < 0 ? -1 : 0;
}

static int select_in_task(struct selecting *s, int64_t deadline)
{
    int64_t nap = 0;
    bool waited = false;
    int count;

    posix__fairly();
    remember(s);
    for (;;) {
        count = ask(s);
        if (count != 0 || posix__left(deadline) == 0)
            return count;
        if (waited && posix__nap(&nap, deadline) < 0)
            return -1;
        if (wait_by_poll(s, deadline) < 0)
            return -1;
        waited = true;
    }
}

/* Sets that are larger than their type, as Linux allows, are left to the C library. */
static bool fits(int n)
{
    return n >= 0 && n <= FD_SETSIZE;
}

INTERPOSE int select(int n, fd_set *restrict to_read, fd_set *restrict to_write,
                     fd_set *restrict exceptional, struct timeval *restrict timeout)
{
    struct selecting s = {.n = n, .given = {to_read, to_write, exceptional}};
    int64_t deadline = COIL_NEVER;
    int count;

    if (!IN_TASK() || !fits(n) ||
        (timeout != NULL && (timeout->tv_sec < 0 || timeout->tv_usec < 0)))
        return NEXT(select)(n, to_read, to_write, exceptional, timeout);
    if (timeout != NULL)
        deadline = posix__deadline(
            &(struct timespec){.tv_sec = timeout->tv_sec + timeout->tv_usec / 1000000,
                               .tv_nsec = timeout->tv_usec % 1000000 * 1000});
    count = select_in_task(&s, deadline);
    if (timeout != NULL) { /* Linux says what is left */
        timeout->tv_sec = posix__left(deadline) / COIL_SEC(1);
        timeout->tv_usec = posix__left(deadline) % COIL_SEC(1) / 1000;
    }
    return count;
}

INTERPOSE int pselect(int n, fd_set *restrict to_read, fd_set *restrict to_write,
                      fd_set *restrict exceptional,
                      const struct timespec *restrict timeout,
                      const sigset_t *restrict mask)
{
    struct selecting s = {.n = n, .given = {to_read, to_write, exceptional}};

    if (!IN_TASK() || !fits(n) || mask != NULL ||
        (timeout != NULL && (timeout->tv_sec < 0 || timeout->tv_nsec < 0 ||
                             timeout->tv_nsec >= COIL_SEC(1))))
        return NEXT(pselect)(n, to_read, to_write, exceptional, timeout, mask);
    return select_in_task(&s, posix__deadline(timeout));
}
