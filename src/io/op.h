/*
 * op.h - a backend operation that a task awaits.
 *
 *     n = coil__op_await(&(struct coil__op){
 *         .kind = COIL__OP_READ, .fd = fd, .buf = buf, .len = n});
 */
#ifndef COIL_IO_OP_H
#define COIL_IO_OP_H

#include "../loop/backend/backend.h"

/*
 * Submit an operation, wait for it if necessary, and return its result. If the task is
 * cancelled, this function still waits until neither the kernel nor the backend uses the
 * operation and its buffer any more. In that case it returns the operation's result if
 * the operation has taken effect; otherwise it returns -ECANCELED.
 */
ssize_t coil__op_await(struct coil__op *op);

/*
 * Wait until the attached descriptor is readable. The memory at `hint` is prefetched
 * before the task is resumed. The operation is stored in `memory`, and its wait in the
 * task's control block, so no pointer refers to the task's stack, which may be swapped
 * out. Returns 0 or a negative errno. After the call, `memory` can be reused.
 */
int coil__readable_await(struct coil__short_op *memory, int fd, const void *hint);

#endif
