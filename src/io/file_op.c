/*
 * file_op.c - operations on files, performed by the backend or on a thread.
 *
 *   coil__file_do --> coil__op_await --> the backend
 *                          |
 *                          `- -EOPNOTSUPP --> file lane: coil__file_call
 *
 * Readiness is meaningless for files: a file is always ready, but its system calls may
 * still block. So if the backend does not support an operation, a thread of the file lane
 * makes the system call. The operation, its path and its buffer may be on the task's
 * stack, because coil__file_do() returns only when neither the kernel nor a thread uses
 * them any more.
 */
#include "file_op.h"

#include "executor.h"

#include "../base/fault.h"
#include "../task/budget.h"
#include "../task/task.h"

#include <coil/scope.h>

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

ssize_t coil__file_call(struct coil__op *op)
{
    ssize_t result = coil__op_call(op);

    /* if close(2) fails with EINTR, Linux has still closed the descriptor */
    return result != -EINTR ? result : 0;
}

/* ---- on a thread ------------------------------------------------------------------- */

static COIL__THREAD_LOCAL bool in_batch; /* true on a thread that runs a batch */

void coil__file_require_task(const char *caller)
{
    if (!in_batch)
        coil__task_require(caller);
}

static int do_on_thread(void *arg)
{
    struct coil__op *op = arg;

    op->result = coil__file_call(op);
    return 0;
}

/*
 * True if the operation must not use io_uring. If a write at the file's position is
 * partial (because of a limit or a full disk), io_uring does not advance the position
 * (Linux 6.18), so the next write would overwrite the bytes that were written.
 */
static bool is_for_threads(const struct coil__op *op)
{
    return op->kind == COIL__OP_PWRITE && op->offset == -1;
}

static ssize_t do_once(struct coil__op *op)
{
    static const struct coil__wait_class class = {
        COIL__JOB_CLASS, .what_at = COIL__WAIT_AT(struct coil__job_waiting, what),
        .fd = COIL__WAIT_AT(struct coil__job_waiting, fd)};
    ssize_t result = is_for_threads(op) ? -EOPNOTSUPP : coil__op_await(op);
    int rc;

    if (result != -EOPNOTSUPP)
        return result;
    rc = coil__blocking(COIL_LANE_FILE, do_on_thread, op, &class,
                        coil__op_rows[op->kind].what, op->path == NULL ? op->fd : -1);
    return rc < 0 ? rc : op->result;
}

ssize_t coil__file_do(struct coil__op *op)
{
    ssize_t result;

    if (in_batch)
        return coil__file_call(op);
    result = coil__task_spend(coil__op_rows[op->kind].user);
    if (result < 0)
        return result;
    do
        result = do_once(op);
    while (result == -EINTR && op->kind != COIL__OP_CLOSE);
    return result != -EINTR ? coil__result(result) : 0;
}

/*
 * True if the error usually means that the system call was not made. A system call that
 * was made and failed with this error can safely be repeated.
 */
static bool was_not_done(ssize_t result)
{
    return result == -EAGAIN || result == -ENOMEM || result == -ECANCELED;
}

ssize_t coil__file_finish(struct coil__op *op)
{
    coil_scope shield;
    ssize_t result;

    if (in_batch)
        return coil__file_call(op);
    coil__task_require(coil__op_rows[op->kind].user);
    result = coil_scope_enter_shielded(&shield, COIL_NEVER); /* never fails */
    result = coil__file_do(op);
    coil_scope_exit(&shield, 0);
    return was_not_done(result) ? coil__file_call(op) : result;
}

/* ---- batches ----------------------------------------------------------------------- */

struct file_batch {
    int (*fn)(void *arg);
    void *arg;
};

static int run_batch(void *arg)
{
    const struct file_batch *batch = arg;
    int rc;

    in_batch = true;
    rc = batch->fn(batch->arg);
    in_batch = false;
    return rc;
}

int coil__file_batch(int (*fn)(void *arg), void *arg)
{
    static const struct coil__wait_class class = {.what = "copy", COIL__JOB_CLASS};

    return coil__blocking(COIL_LANE_FILE, run_batch, &(struct file_batch){fn, arg},
                          &class, NULL, -1);
}
