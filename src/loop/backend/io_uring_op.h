/* io_uring_op.h (internal) - the life of operations, from the queue to their results. */
#ifndef COIL_LOOP_BACKEND_IO_URING_OP_H
#define COIL_LOOP_BACKEND_IO_URING_OP_H

#include "io_uring_entry.h"

/* Submit a COIL__OP_POLL, or an operation on a file. */
ssize_t coil__uring_submit_poll(struct coil__uring *u, struct coil__op *op);
ssize_t coil__uring_submit_file(struct coil__uring *u, struct coil__op *op);

void coil__uring_cancel(struct coil__backend *backend, struct coil__op *op);

/*
 * Decide from the result of a read whether the next read should poll before it makes its
 * call. A read that returned fewer bytes than requested has usually taken all available
 * bytes, so the next one polls first. In all other cases the next read makes its call
 * first. After a full read or a message there may be more to read, after poll(2) there is
 * something to read, and after a failure the call may fail again.
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

/*
 * Queue the first request for an operation that coil__uring_enlist() has stored. Returns
 * -EINPROGRESS.
 */
ssize_t coil__uring_start(struct coil__uring *u, struct coil__op *op);

/*
 * Store a waiting operation in its descriptor's entry or, for a file, in a list, and
 * count the operation. Does not submit it to the kernel.
 */
void coil__uring_enlist(struct coil__uring *u, struct coil__descriptor *d,
                        struct coil__op *op, uintptr_t state);

/*
 * End the operation: remove it from its list and from its descriptor's entry, and call
 * complete().
 */
void coil__uring_finish(struct coil__uring *u, struct coil__op *op, ssize_t result);

/* Handle a completion of an operation. `flags` has the bits IORING_CQE_F_... */
void coil__uring_completed(struct coil__uring *u, struct coil__op *op, int result,
                           unsigned flags);

/* Handle the completion of a request to end an operation. */
void coil__uring_cancelled(struct coil__uring *u, int result);

/*
 * Repeat the requests to end operations. Called when the time-out COIL__URING_REMIND
 * ends.
 */
void coil__uring_reminded(struct coil__uring *u);

/* Submit the operation again in the next round. */
void coil__uring_again(struct coil__uring *u, struct coil__op *op);

/* Submit each operation in u->todo, or request its end. */
void coil__uring_do(struct coil__uring *u);

/* Request that the descriptor's operations end. Returns true until all have ended. */
bool coil__uring_end_ops(struct coil__uring *u, int fd, struct coil__descriptor *d);

/*
 * End the descriptor's operations without the kernel. Called if the kernel refuses all
 * calls.
 */
void coil__uring_finish_ops(struct coil__uring *u, struct coil__descriptor *d);

/* True if the kernel may still use the memory of an operation. */
bool coil__uring_uses_memory(const struct coil__uring *u);

/*
 * Request that all operations end, and never call their complete(). Returns true until
 * all have ended.
 */
bool coil__uring_abandon_ops(struct coil__uring *u);

#endif
