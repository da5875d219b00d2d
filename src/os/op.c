/*
 * op.c - an operation of the backend's, awaited by a task.
 *
 * The operation lies on the waiting task's stack, beside its wait. Whatever ends it, be
 * it the kernel, a cancellation or the descriptor's closing, goes through complete(), so
 * that after the park nobody knows it any more.
 */
#include "op.h"

#include "../loop/loop.h"
#include "../task/wait.h"

struct pending {
    struct coil__op op;
    struct coil__wait wait;
    struct coil__backend *backend;
};

static void complete(struct coil__op *op)
{
    struct pending *p = COIL__CONTAINER(op, struct pending, op);

    coil__wait_complete(&p->wait, op->result < 0 ? (int)op->result : 0);
}

static bool cancel(struct coil__wait *wait)
{
    struct pending *p = COIL__CONTAINER(wait, struct pending, wait);

    p->backend->class->cancel(p->backend, &p->op);
    return true;
}

ssize_t coil__op_await(const struct coil__op *request)
{
    struct pending p = {.op = *request};
    ssize_t result;

    p.backend = coil__loop_require("a call that does I/O")->backend;
    p.op.complete = complete;
    result = p.backend->class->submit(p.backend, &p.op);
    if (result != -EINPROGRESS)
        return result;
    coil__wait_init(&p.wait, cancel);
    p.wait.keeps_result = true;
    coil__wait_park(&p.wait);
    return p.op.result;
}
