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
 * Do an operation on files by the backend, or else on a thread, waiting if needed;
 * returns its result. After EINTR it is repeated. If the task is cancelled, an operation
 * that no thread has begun is withdrawn (-ECANCELED); others are waited for, as by
 * coil__op_await(). Fails with -EAGAIN if no thread can be started, or -ENOMEM.
 */
ssize_t coil__file_do(struct coil__op *op);

/* Stop the program, naming `caller`, if no task runs; in a batch none need run. */
void coil__file_require_task(const char *caller);

/* Make the operation's system call on this thread; it may block. */
ssize_t coil__file_call(struct coil__op *op);

/*
 * As coil__file_do(), but done in any case, even if the task is cancelled or no thread
 * can be started: for closing and tidying.
 */
ssize_t coil__file_finish(struct coil__op *op);

/*
 * Run fn(arg), which returns 0, on a thread of the file lane. There the functions above
 * make their system calls directly: many small calls for one job. Returns 0, or the errno
 * if fn was not run.
 */
int coil__file_batch(int (*fn)(void *arg), void *arg);

#endif
