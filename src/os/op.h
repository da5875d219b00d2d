/*
 * op.h - an operation of the backend's, awaited by a task.
 *
 *     n = coil__op_await(&(struct coil__op){
 *         .kind = COIL__OP_READ, .fd = fd, .buf = buf, .len = n});
 */
#ifndef COIL_OS_OP_H
#define COIL_OS_OP_H

#include "../loop/backend.h"

/*
 * Do it, waiting if need be; returns its result. A cancelled wait is finished: when this
 * returns, nobody uses the operation or its buffer any more. -ECANCELED then, or the
 * result, if the operation had taken effect.
 */
ssize_t coil__op_await(struct coil__op *op);

#endif
