/*
 * io_uring_op.h (internal) - operations, from the queue to their results.
 */
#ifndef COIL_LOOP_BACKEND_IO_URING_OP_H
#define COIL_LOOP_BACKEND_IO_URING_OP_H

#include "io_uring_entry.h"

/* Submit COIL__OP_POLL, or an operation on a file. */
ssize_t coil__uring_submit_poll(struct coil__uring *u, struct coil__op *op);
ssize_t coil__uring_submit_file(struct coil__uring *u, struct coil__op *op);

void coil__uring_cancel(struct coil__backend *backend, struct coil__op *op);

/*
 * Learn from the result of a call. A read that took less than it asked for has mostly
 * taken all there is; the next read then polls before its call. After a message there may
 * always be another. Where poll(2) was the call, there is something. A call that failed
 * may fail again.
 */
static inline void coil__uring_learn(struct coil__descriptor *d,
                                     const struct coil__op *op, ssize_t result)
{
    if (coil__op_direction(op) != COIL__IN)
        return;
    if (result <= 0)
        d->more = result < 0 && result != -EINPROGRESS;
    else
        d->more = op->kind == COIL__OP_RECVMSG || op->kind == COIL__OP_READABLE ||
                  (size_t)result == op->len;
}

/* Make the operation's call; if it would block, submit a poll for it. */
ssize_t coil__uring_submit_call(struct coil__uring *u, struct coil__descriptor *d,
                                struct coil__op *op);

/* Submit an operation that is enlisted. Returns -EINPROGRESS. */
ssize_t coil__uring_start(struct coil__uring *u, struct coil__op *op);

/* The operation waits, in the kernel or not: enter it in its descriptor, and count it. */
void coil__uring_enlist(struct coil__uring *u, struct coil__descriptor *d,
                        struct coil__op *op, uintptr_t state);

/* End the operation: it leaves all lists, and complete() is called. */
void coil__uring_finish(struct coil__uring *u, struct coil__op *op, ssize_t result);

/* Handle a completion of an operation; flags: IORING_CQE_F_... */
void coil__uring_completed(struct coil__uring *u, struct coil__op *op, int result,
                           unsigned flags);

/* Handle the completion of a request to end an operation. */
void coil__uring_cancelled(struct coil__uring *u, int result);

/* Repeat the requests to end operations: the time-out for that has passed. */
void coil__uring_reminded(struct coil__uring *u);

/* Submit the operation again in the next round. */
void coil__uring_again(struct coil__uring *u, struct coil__op *op);

/* Queue the operations of u->todo. */
void coil__uring_do(struct coil__uring *u);

/* Ask the descriptor's operations to end. True while one of them has not ended. */
bool coil__uring_end_ops(struct coil__uring *u, int fd, struct coil__descriptor *d);

/* End the descriptor's operations without the kernel: the ring is dead. */
void coil__uring_finish_ops(struct coil__uring *u, struct coil__descriptor *d);

/* True if there are operations whose memory the kernel may use. */
bool coil__uring_uses_memory(const struct coil__uring *u);

/* Ask all operations to end, without complete(). True while one of them has not ended. */
bool coil__uring_abandon_ops(struct coil__uring *u);

#endif
