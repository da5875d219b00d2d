/*
 * waiting.h - how an interposed function waits.
 *
 * First it tries, with something that makes the kernel not wait for this one call; then:
 *
 *     struct posix__waiting w = {.fd = fd, .events = POLLIN};
 *
 *     do
 *         n = NEXT(recv)(fd, buf, size, flags | MSG_DONTWAIT);
 *     while (n < 0 && posix__again(&w));
 *     return n;
 *
 * Whatever fails here leaves its errno, as POSIX wants it: ECANCELED in a task that was
 * cancelled, EBADF for a descriptor that was closed meanwhile.
 */
#ifndef POSIX_WAITING_H
#define POSIX_WAITING_H

#include "interpose.h"

#include <errno.h>
#include <stdint.h>

/* One call that may wait, several times perhaps, for one descriptor. */
struct posix__waiting {
    int fd;
    short events, revents; /* what for, and what was found by the latest wait */
    bool begun;
    unsigned vain;    /* so often in a row it was ready, and the attempt failed */
    int64_t nap;      /* the latest of those that are taken then */
    int64_t deadline; /* by the socket's time-out, once begun */
};

/*
 * The attempt has failed with `errno`. True: make it again. False: the call fails with
 * `errno`; EAGAIN then means that the descriptor does not block, or that its time is up.
 */
bool posix__again(struct posix__waiting *w);

/* Wait for it, whatever errno is. 1, 0 when its time is up, or -1. */
int posix__await(struct posix__waiting *w);

/* Is it for the descriptor to block? One that is none does. Keeps errno. */
bool posix__blocks(int fd);

/* When a call on it is to give up, by SO_RCVTIMEO or SO_SNDTIMEO; COIL_NEVER else. Keeps
 * errno. */
int64_t posix__socket_deadline(int fd, int option);

/*
 * May this very call suspend its task? Not in a child that was forked in the task: the
 * loop is its parent's; nor in a signal handler, as far as that can be seen. It has to
 * block then. Asked only by who is about to wait.
 */
bool posix__may_wait(void);

/* poll(2), by the task if it may. */
int posix__poll(struct pollfd *fds, nfds_t n, int64_t timeout_ns);

/* Wait so long. 0 or -1. */
int posix__sleep(int64_t span_ns);

/*
 * For what nobody tells of: wait a moment, the next time longer, up to a limit and not
 * beyond the deadline. The length begins at 0. 0 or -1.
 */
int posix__nap(int64_t *length_ns, int64_t deadline);

/* The same for calls that cannot fail: a cancellation is for a later one. */
void posix__nap_anyhow(int64_t *length_ns);

/* What is left until the deadline, or COIL_NEVER; 0 when it has passed. */
int64_t posix__left(int64_t deadline);

/* The deadline that is a `span` away; NULL: COIL_NEVER. */
int64_t posix__deadline(const struct timespec *span);

/* The time of a clock in nanoseconds. */
int64_t posix__clock(clockid_t clock);
int64_t posix__nanoseconds(const struct timespec *t);

/*
 * A call that always has what it wants makes no task wait. After so many of them let the
 * others run all the same.
 */
void posix__fairly(void);

#endif
