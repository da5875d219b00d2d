/*
 * quiet_write.h - write(2) that does not kill.
 */
#ifndef COIL_LOOP_BACKEND_QUIET_WRITE_H
#define COIL_LOOP_BACKEND_QUIET_WRITE_H

#include <sys/types.h>

/* write(2), but a pipe whose reader is gone is EPIPE alone, without SIGPIPE. */
ssize_t coil__write_quietly(int fd, const void *buf, size_t len);

#endif
