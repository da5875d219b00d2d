/*
 * try.h - an operation as the system calls that it stands for.
 *
 * The descriptor is non-blocking, so a call either ends now or has to wait for it to be
 * ready. Both return the result, or -EINPROGRESS if it must wait. Interrupted calls are
 * made again.
 */
#ifndef COIL_LOOP_BACKEND_TRY_H
#define COIL_LOOP_BACKEND_TRY_H

#include "../backend.h"

ssize_t coil__try_first(const struct coil__op *op);

/* After waiting: a connection is not begun a second time. */
ssize_t coil__try_again(const struct coil__op *op);

#endif
