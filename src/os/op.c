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

static void describe(const struct coil__wait *wait, struct coil__waited *out)
{
    out->fd = COIL__CONTAINER(wait, const struct pending, wait)->op->fd;
}

/* clang-format off */
#define CLASS(name) {.what = (name), .cancel = cancel, .describe = describe}
/* clang-format on */

static const struct coil__wait_class classes[] = {
    [COIL__OP_READ] = CLASS("read"),         [COIL__OP_WRITE] = CLASS("write"),
    [COIL__OP_WRITEV] = CLASS("write"),      [COIL__OP_RECV] = CLASS("read"),
    [COIL__OP_SEND] = CLASS("write"),        [COIL__OP_RECVMSG] = CLASS("receive"),
    [COIL__OP_SENDMSG] = CLASS("send"),      [COIL__OP_ACCEPT] = CLASS("accept"),
    [COIL__OP_CONNECT] = CLASS("connect"),   [COIL__OP_POLL] = CLASS("wait_fd"),
    [COIL__OP_SENDFILE] = CLASS("sendfile"), [COIL__OP_PREAD] = CLASS("read"),
    [COIL__OP_PWRITE] = CLASS("write"),      [COIL__OP_FSYNC] = CLASS("fsync"),
    [COIL__OP_OPEN] = CLASS("open"),         [COIL__OP_CLOSE] = CLASS("close"),
    [COIL__OP_STATX] = CLASS("stat"),        [COIL__OP_RENAME] = CLASS("rename"),
    [COIL__OP_UNLINK] = CLASS("unlink"),     [COIL__OP_MKDIR] = CLASS("mkdir"),
    [COIL__OP_SPLICE] = CLASS("splice"),     [COIL__OP_COPY] = CLASS("copy"),
    [COIL__OP_SEEK] = CLASS("seek"),         [COIL__OP_TRUNCATE] = CLASS("truncate"),
    [COIL__OP_ALLOCATE] = CLASS("allocate"), [COIL__OP_CHMOD] = CLASS("chmod"),
    [COIL__OP_LIST] = CLASS("list"),         [COIL__OP_LINK] = CLASS("link"),
    [COIL__OP_SYMLINK] = CLASS("symlink"),   [COIL__OP_READLINK] = CLASS("readlink"),
};

ssize_t coil__op_await(struct coil__op *op)
{
    coil_loop *loop = coil__loop_require("a call that does I/O");
    struct coil__backend *backend = loop->backend;
    struct pending p;
    ssize_t result;

    op->complete = complete;
    loop->operations++;
    result = backend->class->submit(backend, op);
    if (result != -EINPROGRESS)
        return result;
    loop->operations_waited++;
    /* Nobody looks at the owner before the next poll. */
    coil__wait_init(&p.wait, &classes[op->kind]);
    p.wait.keeps_result = true;
    p.op = op;
    p.backend = backend;
    op->owner = &p;
    op->hints[0] = &p.wait.task->step;
    coil__wait_park(&p.wait);
    return op->result;
}
