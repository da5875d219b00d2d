/*
 * quiet_write.h (internal) - writes without causing SIGPIPE.
 */
#ifndef COIL_KERNEL_QUIET_WRITE_H
#define COIL_KERNEL_QUIET_WRITE_H

#include <sys/types.h>
#include <sys/uio.h>

/*
 * Like write(2), writev(2) and sendfile(2), but without SIGPIPE: if the reader has closed
 * its end, the call only fails with EPIPE. coil__sendfile_quietly() does not change
 * `offset`.
 */
ssize_t coil__write_quietly(int fd, const void *buf, size_t len);
ssize_t coil__writev_quietly(int fd, const struct iovec *parts, size_t count);
ssize_t coil__sendfile_quietly(int fd, int file, off_t offset, size_t len);

#endif
