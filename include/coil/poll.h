/*
 * coil/poll.h - poll(2) for tasks: wait for several descriptors, with a time-out.
 *
 *     struct pollfd fds[] = {{.fd = in, .events = POLLIN},
 *                            {.fd = out, .events = POLLOUT}};
 *     int n = coil_poll(fds, 2, COIL_SEC(5));
 *
 *     if (n > 0 && fds[0].revents != 0)
 *         take_input(in);
 *
 * For descriptors that belong to other code: a library that tells what it waits for, or
 * one that libcoil-posix runs. Polling changes nothing about a descriptor, and other
 * tasks, readers and writers, or a stream may wait for it at the same time.
 *
 * A stream's own descriptor is readable when the connection has more bytes, those
 * included that io_uring has received ahead (after such a poll it receives no more ahead
 * for that stream). Bytes that the stream itself holds, because it looked ahead,
 * decrypted them, or brought them from another loop, no poll(2) reports: use coil_peek().
 */
#ifndef COIL_POLL_H
#define COIL_POLL_H

#include <coil/base.h>

#include <poll.h>

struct pollfd; /* hidden by strict -std=c11 in some C libraries */

#ifdef __cplusplus
extern "C" {
#endif

/*
 * As poll(2), but only the calling task waits, for at most `timeout_ns`: COIL_NEVER for
 * as long as it takes, 0 or less not at all. Returns how many of the `n` have something
 * in `revents`, 0 when the time is over. Regular files are always ready, on every
 * backend. It is never interrupted. (poll(2))
 *
 * Nothing is allocated. More than four descriptors, or unusual events (other than POLLIN
 * and POLLOUT), take an epoll(7) descriptor for as long as the call waits; so may a
 * descriptor that a stream, a reader or a writer has.
 *
 * Fails with -ECANCELED, -EBADF where coil_poll_end() was called for one of them, -EINVAL
 * (more than RLIMIT_NOFILE; with the select backend, a number of 1024 or more), -EMFILE,
 * -ENFILE, -ENOMEM. An invalid descriptor is not a failure: its revents are POLLNVAL.
 */
COIL_SUSPENDS int coil_poll(struct pollfd *fds, nfds_t n, int64_t timeout_ns);

/*
 * `fd` is about to be closed by somebody who must not be waited for: those of this
 * thread's tasks that wait for it in coil_poll(), with at most four descriptors, go on
 * with -EBADF. No backend can tell by itself. Returns how many there were.
 */
COIL_API int coil_poll_end(int fd);

#ifdef __cplusplus
}
#endif

#endif
