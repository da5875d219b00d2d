/*
 * receive.h - recv(2), send(2), read(2) and write(2) in a task, for the other files.
 */
#ifndef POSIX_RECEIVE_H
#define POSIX_RECEIVE_H

#include "waiting.h"

/* For sockets: suspend the task until the blocking call would return, and return the same
 * result. */
ssize_t posix__recv(int fd, void *buf, size_t n, int flags);
ssize_t posix__recvmsg(int fd, struct msghdr *message, int flags);
ssize_t posix__send(int fd, const void *buf, size_t n, int flags);
ssize_t posix__sendmsg(int fd, const struct msghdr *message, int flags);

/* Read or write a descriptor of any kind, like the functions above. */
ssize_t posix__read(int fd, void *buf, size_t n);
ssize_t posix__write(int fd, const void *buf, size_t n);

/* True for regular files, directories and block devices: poll(2) always reports them as
 * ready. */
bool posix__is_always_ready(int fd);

/*
 * Write to a character device, such as a terminal. A thread writes, and the task waits
 * for it. If no thread can be started, the call blocks.
 */
bool posix__is_device(int fd);
ssize_t posix__write_device(int fd, const struct iovec *parts, int count);

/* Return the number of bytes in a list of parts. */
size_t posix__total(const struct iovec *parts, size_t count);

/*
 * Store in `rest` the parts that follow the first `done` bytes, at most POSIX__PLACES of
 * them. Returns their number.
 */
#define POSIX__PLACES 16
size_t posix__rest(const struct iovec *parts, size_t count, size_t done,
                   struct iovec rest[POSIX__PLACES]);

#endif
