/*
 * op.c - a backend operation that a task awaits.
 *
 * The operation and its wait are stored on the waiting task's stack. The operation ends
 * when the kernel completes it, when the task is cancelled, or when the descriptor is
 * closed. In each case the wait is completed. After the wait, no pointers to the
 * operation or the wait remain, not even after coil__readable_await(), whose operation
 * and wait are stored elsewhere.
 *
 * A cancelled task never puts an operation in flight. Instead, attempt() makes the system
 * call without waiting, and fails if it would have to wait
 * (docs/decisions/0008-a-call-that-need-not-wait.md).
 */
#include "op.h"

#include "../loop/loop.h"
#include "../task/budget.h"
#include "../task/task.h"

struct pending {
    struct coil__wait wait;
    struct coil__op *op;
    const char *what; /* the operation's name in reports */
    struct coil__backend *backend;
};

static bool cancel_operation(struct coil__wait *wait)
{
    struct pending *p = COIL__CONTAINER(wait, struct pending, wait);

    p->backend->class->cancel(p->backend, p->op);
    return true;
}

/*
 * Perform an operation for a cancelled task if that is possible without waiting;
 * otherwise fail.
 */
static COIL__NOINLINE ssize_t attempt(struct coil__backend *backend, struct coil__op *op)
{
    ssize_t result = backend->class->attempt(backend, op);

    return result == -EINPROGRESS ? coil__task_refuse_wait() : result;
}

#define MANY_BYTES 4096

ssize_t coil__op_await(struct coil__op *op)
{
    static const struct coil__wait_class class = {
        .cancel = cancel_operation,
        .what_at = COIL__WAIT_AT(struct pending, what),
        .fd = COIL__WAIT_BEHIND(struct pending, op, struct coil__op, fd)};
    coil_loop *loop = coil__loop_require("a call that does I/O");
    struct coil__backend *backend = loop->backend;
    struct pending p;
    ssize_t result;

    op->complete = coil__wait_complete_by;
    loop->operations++;
    result = COIL__UNLIKELY(coil__task_is_cancelled(coil__scheduler.current))
                 ? attempt(backend, op)
                 : backend->class->submit(backend, op);
    if (result != -EINPROGRESS) {
        if (COIL__UNLIKELY(result >= MANY_BYTES) && coil__op_rows[op->kind].moves_bytes)
            coil__task_spend_bytes((size_t)result);
        return result != -EOPNOTSUPP ? coil__result(result) : result;
    }
    loop->operations_waited++;
    /*
     * Initialise the wait only now, when it is needed: the backend does not use `owner`
     * before the next poll.
     */
    coil__wait_init(&p.wait, &class);
    p.op = op;
    p.what = coil__op_rows[op->kind].what;
    p.backend = backend;
    op->owner = &p.wait;
    op->hints[0] = &p.wait.task->step;
    return coil__wait_park_for(&p.wait, op);
}

static bool cancel_readable(struct coil__wait *wait)
{
    struct coil__backend *backend = wait->task->future.loop->backend;

    backend->class->cancel(backend,
                           COIL__CONTAINER(wait, struct coil__op_waiter, wait)->op);
    return true;
}

int coil__readable_await(struct coil__short_op *memory, int fd, const void *hint)
{
    static const struct coil__wait_class class = {
        .what = "wait_readable",
        .cancel = cancel_readable,
        .fd = COIL__WAIT_BEHIND(struct coil__op_waiter, op, struct coil__op, fd)};
    coil_loop *loop = coil__loop_require("coil_stream_wait_readable");
    struct coil__op *op = coil__short_op(memory);
    struct coil__op_waiter *waiter;
    ssize_t result;

    *memory = (struct coil__short_op){0};
    op->kind = COIL__OP_READABLE;
    op->fd = fd;
    op->events = COIL_READABLE;
    op->complete = coil__wait_complete_by;
    loop->operations++;
    result = COIL__UNLIKELY(coil__task_is_cancelled(coil__scheduler.current))
                 ? attempt(loop->backend, op)
                 : loop->backend->class->submit(loop->backend, op);
    if (result == -EINPROGRESS) {
        loop->operations_waited++;
        waiter = &coil__wait_in_room(&class)->op_waiter;
        waiter->op = op;
        op->owner = &waiter->wait;
        op->hints[0] = &waiter->wait.task->step;
        op->hints[1] = hint;
        result = coil__wait_park_for(&waiter->wait, op);
    }
    return result < 0 ? (int)coil__result(result) : 0;
}
