/*
 * receive.h - receiving and sending, for those who have a socket by another name.
 */
#ifndef POSIX_RECEIVE_H
#define POSIX_RECEIVE_H

#include "waiting.h"

/* recv(2) in a task. */
ssize_t posix__recv(int fd, void *buf, size_t n, int flags);

/* recvmsg(2) and sendmsg(2) in a task. */
ssize_t posix__recvmsg(int fd, struct msghdr *message, int flags);
ssize_t posix__sendmsg(int fd, const struct msghdr *message, int flags);

/* send(2) in a task. */
ssize_t posix__send(int fd, const void *buf, size_t n, int flags);

/* What a list of parts holds altogether. */
size_t posix__total(const struct iovec *parts, size_t count);

/*
 * What is left of the parts after the first `done` bytes, or as much of it as there are
 * places; returns how many parts that is.
 */
#define POSIX__PLACES 16
size_t posix__rest(const struct iovec *parts, size_t count, size_t done,
                   struct iovec rest[POSIX__PLACES]);

#endif
