/*
 * op.c - an operation of the backend's, awaited by a task.
 *
 * Both lie on the waiting task's stack. Whatever ends the operation, be it the kernel, a
 * cancellation or the descriptor's closing, goes through complete(), so that after the
 * park nobody knows it any more.
 */
#include "op.h"

#include "../loop/loop.h"
#include "../task/task.h"

struct pending {
    struct coil__wait wait;
    struct coil__op *op;
    struct coil__backend *backend;
};

static void complete(struct coil__op *op)
{
    struct pending *p = op->owner;

    coil__wait_complete(&p->wait, op->result < 0 ? (int)op->result : 0);
}

static bool cancel(struct coil__wait *wait)
{
    struct pending *p = COIL__CONTAINER(wait, struct pending, wait);

    p->backend->class->cancel(p->backend, p->op);
    return true;
}

ssize_t coil__op_await(struct coil__op *op)
{
    struct coil__backend *backend = coil__loop_require("a call that does I/O")->backend;
    struct pending p;
    ssize_t result;

    op->complete = complete;
    result = backend->class->submit(backend, op);
    if (result != -EINPROGRESS)
        return result;
    /* Nobody looks at the owner before the next poll. */
    coil__wait_init(&p.wait, cancel);
    p.wait.keeps_result = true;
    p.op = op;
    p.backend = backend;
    op->owner = &p;
    op->hint = &p.wait.task->step;
    coil__wait_park(&p.wait);
    return op->result;
}
