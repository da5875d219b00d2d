/*
 * file_op.h - operations on files.
 *
 *     fd = coil__file_do(&(struct coil__op){
 *         .kind = COIL__OP_OPEN, .fd = AT_FDCWD, .path = path, .flags = O_RDONLY});
 */
#ifndef COIL_OS_FILE_OP_H
#define COIL_OS_FILE_OP_H

#include "op.h"

/*
 * Do one of the operations on files by the best way there is, waiting if need be; returns
 * its result. An interruption (EINTR) is none. A cancelled wait is finished, as
 * coil__op_await()'s is; what no thread has begun is withdrawn: -ECANCELED. Also fails
 * with -EAGAIN where a thread is needed and none can be started, and -ENOMEM.
 */
ssize_t coil__file_do(struct coil__op *op);

/* The operation's system call, here and now, as long as it takes. */
ssize_t coil__file_call(struct coil__op *op);

/* As coil__file_do() but to its end, whoever cancels, threads or not: to close, to tidy.
 */
ssize_t coil__file_finish(struct coil__op *op);

/*
 * Run fn(arg), which returns 0, on a thread of the file lane, where the above make their
 * system calls at once: many small calls by one trip. Returns 0, or why it was not run.
 */
int coil__file_batch(int (*fn)(void *arg), void *arg);

#endif
