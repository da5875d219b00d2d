/*
 * coil/poll.h - poll(2) for tasks: wait for several descriptors, with a timeout.
 *
 *     struct pollfd fds[] = {{.fd = in, .events = POLLIN},
 *                            {.fd = out, .events = POLLOUT}};
 *     int n = coil_poll(fds, 2, COIL_SEC(5));
 *
 *     if (n > 0 && fds[0].revents != 0)
 *         take_input(in);
 *
 * Use these calls for descriptors that belong to other code, such as a library that
 * reports the descriptors for which it waits, or a library that runs on libcoil-posix.
 * Polling does not change a descriptor. Other tasks, readers, writers or a stream may
 * wait for the descriptor at the same time.
 *
 * A stream's own descriptor is readable when the connection has more bytes. This includes
 * bytes that io_uring has received before any call read them; after such a poll, coil no
 * longer receives in advance for that stream. The stream itself may also hold bytes that
 * were read ahead, decrypted, or moved from another loop with the stream. poll(2) never
 * reports these bytes, but coil_peek() does.
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
 * Like poll(2), but only the calling task waits, for at most `timeout_ns`.
 *
 * COIL_NEVER means no limit; with 0 or less, the call does not wait. Returns how many of
 * the `n` descriptors have events in `revents`; 0 after the timeout. Regular files are
 * always ready, on every backend. Signals never interrupt the call.
 *
 * Never allocates memory. The call needs an epoll(7) descriptor if there are more than
 * four descriptors, or events other than POLLIN and POLLOUT. The call may also need an
 * epoll(7) descriptor if a stream, a reader or a writer uses one of the descriptors.
 *
 * Fails with -ECANCELED, -EMFILE, -ENFILE or -ENOMEM, or with -EBADF if coil_poll_end()
 * was called for one of the descriptors. Fails with -EINVAL for more descriptors than
 * RLIMIT_NOFILE, and with the select backend for descriptors of 1024 or more. An invalid
 * descriptor does not make the call fail: its revents are POLLNVAL.
 */
COIL_SUSPENDS int coil_poll(struct pollfd *fds, nfds_t n, int64_t timeout_ns);

/*
 * Wait for one descriptor after a system call on it has failed with EAGAIN. When
 * coil_poll_retry() returns 1, repeat that system call.
 *
 * `events` is POLLIN, POLLOUT or both. Like coil_poll(), but faster: it does not call
 * poll(2) before and after the wait. The descriptor may no longer be ready when the call
 * returns 1, for example because another task has taken the bytes.
 *
 * Returns 0 after the timeout. Fails like coil_poll(), or with -EBADF if the descriptor
 * is invalid.
 */
COIL_SUSPENDS int coil_poll_retry(int fd, short events, int64_t timeout_ns);

/*
 * Wake the tasks of this thread that are waiting for `fd`. Code that cannot wait calls
 * this function before it closes `fd`. The waiting calls return -EBADF: those of
 * coil_poll_retry(), and those of coil_poll() with at most four descriptors.
 *
 * The function is necessary because the backends cannot detect that a descriptor is
 * closed. Returns the number of tasks that were woken.
 */
COIL_API int coil_poll_end(int fd);

#ifdef __cplusplus
}
#endif

#endif
