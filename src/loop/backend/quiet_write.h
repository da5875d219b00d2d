/*
 * quiet_write.h - write(2) that does not kill.
 */
#ifndef COIL_LOOP_BACKEND_QUIET_WRITE_H
#define COIL_LOOP_BACKEND_QUIET_WRITE_H

#include <sys/types.h>
#include <sys/uio.h>

/* write(2), writev(2), sendfile(2), but a reader that is gone is EPIPE alone, without
   SIGPIPE. The offset is not changed. */
ssize_t coil__write_quietly(int fd, const void *buf, size_t len);
ssize_t coil__writev_quietly(int fd, const struct iovec *parts, size_t count);
ssize_t coil__sendfile_quietly(int fd, int file, off_t offset, size_t len);

#endif
