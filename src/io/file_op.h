/*
 * file_op.h - operations on files.
 *
 *     fd = coil__file_do(&(struct coil__op){
 *         .kind = COIL__OP_OPEN, .fd = AT_FDCWD, .path = path, .flags = O_RDONLY});
 */
#ifndef COIL_IO_FILE_OP_H
#define COIL_IO_FILE_OP_H

#include "op.h"

/*
 * Perform an operation on a file, in the backend or on a thread, and wait for its result.
 * The operation is repeated if it fails with EINTR. If the task is cancelled before a
 * thread has begun the operation, it is withdrawn, and the call fails with -ECANCELED.
 * Otherwise the call waits until the operation has ended, like coil__op_await(). Fails
 * with -EAGAIN if no thread can be started, or with -ENOMEM.
 */
ssize_t coil__file_do(struct coil__op *op);

/* Abort unless called by a task or in a batch. The message names `caller`. */
void coil__file_require_task(const char *caller);

/* Make the operation's system call on this thread. The call may block. */
ssize_t coil__file_call(struct coil__op *op);

/*
 * Like coil__file_do(), but always perform the operation, even if the task is cancelled
 * or no thread can be started. Used for closing and cleanup.
 */
ssize_t coil__file_finish(struct coil__op *op);

/*
 * Run fn(arg), which must return 0, on a thread of the file lane. In such a batch the
 * functions above make their system calls directly, so that many small calls need only
 * one job. Returns 0, or a negative errno if fn was not run.
 */
int coil__file_batch(int (*fn)(void *arg), void *arg);

#endif
