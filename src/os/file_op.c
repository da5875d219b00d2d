/*
 * file_op.c - operations on files: by the backend, or on a thread.
 *
 *   coil__file_do --> coil__op_await --> the backend
 *                          |
 *                          `- -EOPNOTSUPP --> file lane: coil__file_call
 *
 * Readiness says nothing about files: a disk is always ready, and then makes one wait. So
 * what the backend cannot do itself is done by a system call in the file lane. Operation,
 * path and buffer lie on the task's stack all the while: neither the backend nor
 * coil_blocking() returns before nobody uses them any more.
 */
#include "file_op.h"

#include "executor.h"

#include "../base/fault.h"
#include "../task/budget.h"

#include <coil/scope.h>

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- system calls ------------------------------------------------------------------ */

static ssize_t move_between(const struct coil__op *op)
{
    int64_t from = op->offset, to = op->offset2;

    if (op->kind == COIL__OP_COPY)
        return COIL__CALL(EXDEV,
                          copy_file_range(op->fd, &from, op->fd2, &to, op->len, 0));
    return COIL__CALL(EIO, splice(op->fd, from != -1 ? &from : NULL, op->fd2,
                                  to != -1 ? &to : NULL, op->len, (unsigned)op->flags));
}

static ssize_t call_with_fd(const struct coil__op *op)
{
    switch (op->kind) {
    case COIL__OP_PREAD:
        if (op->offset == -1)
            return COIL__CALL(EIO, read(op->fd, op->buf, op->len));
        return COIL__CALL(EIO, pread(op->fd, op->buf, op->len, op->offset));
    case COIL__OP_PWRITE:
        if (op->offset == -1)
            return COIL__CALL(ENOSPC, write(op->fd, op->buf, op->len));
        return COIL__CALL(ENOSPC, pwrite(op->fd, op->buf, op->len, op->offset));
    case COIL__OP_FSYNC:
        if (op->flags == 1)
            return COIL__CALL(EIO, fdatasync(op->fd));
        return COIL__CALL(EIO, fsync(op->fd));
    case COIL__OP_SPLICE:
    case COIL__OP_COPY:
        return move_between(op);
    case COIL__OP_SEEK:
        return COIL__CALL(ESPIPE, lseek(op->fd, op->offset, op->flags));
    case COIL__OP_TRUNCATE:
        return COIL__CALL(EIO, ftruncate(op->fd, op->offset));
    case COIL__OP_ALLOCATE:
        return COIL__CALL(ENOSPC,
                          fallocate(op->fd, op->flags, op->offset, (off_t)op->len));
    case COIL__OP_CHMOD:
        return COIL__CALL(EPERM, fchmod(op->fd, op->mode));
    case COIL__OP_LIST:
        return COIL__CALL(EIO, syscall(SYS_getdents64, op->fd, op->buf, op->len));
    default: /* COIL__OP_CLOSE: not to be failed, since the descriptor is gone then */
        return close(op->fd);
    }
}

static ssize_t call_with_path(const struct coil__op *op)
{
    switch (op->kind) {
    case COIL__OP_OPEN:
        return COIL__CALL(EMFILE,
                          openat(op->fd, op->path, op->flags | O_CLOEXEC, op->mode));
    case COIL__OP_STATX:
        return COIL__CALL(EACCES, statx(op->fd, op->path, op->flags, op->mode, op->buf));
    case COIL__OP_RENAME:
        return COIL__CALL(
            EACCES, renameat2(op->fd, op->path, op->fd2, op->path2, (unsigned)op->flags));
    case COIL__OP_UNLINK:
        return COIL__CALL(EACCES, unlinkat(op->fd, op->path, op->flags));
    case COIL__OP_MKDIR:
        return COIL__CALL(ENOSPC, mkdirat(op->fd, op->path, op->mode));
    case COIL__OP_LINK:
        return COIL__CALL(EMLINK,
                          linkat(op->fd, op->path, op->fd2, op->path2, op->flags));
    case COIL__OP_SYMLINK:
        return COIL__CALL(ENOSPC, symlinkat(op->path, op->fd2, op->path2));
    default: /* COIL__OP_READLINK */
        return COIL__CALL(EACCES, readlinkat(op->fd, op->path, op->buf, op->len));
    }
}

ssize_t coil__file_call(struct coil__op *op)
{
    ssize_t result;

    do {
        result = op->path != NULL ? call_with_path(op) : call_with_fd(op);
        if (result < 0)
            result = -errno;
    } while (result == -EINTR && op->kind != COIL__OP_CLOSE);
    /* Interrupted, Linux has closed it all the same: close(2). */
    return result != -EINTR ? result : 0;
}

/* ---- on a thread ------------------------------------------------------------------- */

static COIL__THREAD_LOCAL bool in_batch; /* this thread is there to be held up */

static int do_on_thread(void *arg)
{
    struct coil__op *op = arg;

    op->result = coil__file_call(op);
    return 0;
}

static void describe(const struct coil__wait *wait, struct coil__waited *out)
{
    const struct coil__op *op = coil__blocking_arg(wait);

    if (op != NULL && op->path == NULL)
        out->fd = op->fd;
}

/* clang-format off */
#define CLASS(name) {.what = (name), .cancel = coil__blocking_cancel, \
                     .describe = describe}
/* clang-format on */

static const struct coil__wait_class classes[] = {
    [COIL__OP_PREAD] = CLASS("read"),        [COIL__OP_PWRITE] = CLASS("write"),
    [COIL__OP_FSYNC] = CLASS("fsync"),       [COIL__OP_OPEN] = CLASS("open"),
    [COIL__OP_CLOSE] = CLASS("close"),       [COIL__OP_STATX] = CLASS("stat"),
    [COIL__OP_RENAME] = CLASS("rename"),     [COIL__OP_UNLINK] = CLASS("unlink"),
    [COIL__OP_MKDIR] = CLASS("mkdir"),       [COIL__OP_SPLICE] = CLASS("splice"),
    [COIL__OP_COPY] = CLASS("copy"),         [COIL__OP_SEEK] = CLASS("seek"),
    [COIL__OP_TRUNCATE] = CLASS("truncate"), [COIL__OP_ALLOCATE] = CLASS("allocate"),
    [COIL__OP_CHMOD] = CLASS("chmod"),       [COIL__OP_LIST] = CLASS("list"),
    [COIL__OP_LINK] = CLASS("link"),         [COIL__OP_SYMLINK] = CLASS("symlink"),
    [COIL__OP_READLINK] = CLASS("readlink"),
};

/*
 * io_uring leaves the position where it was when a write comes to its end half-way, at a
 * limit or a full disk (Linux 6.18): what is written next would overwrite it.
 */
static bool is_for_threads(const struct coil__op *op)
{
    return op->kind == COIL__OP_PWRITE && op->offset == -1;
}

static ssize_t do_once(struct coil__op *op)
{
    ssize_t result = is_for_threads(op) ? -EOPNOTSUPP : coil__op_await(op);
    int rc;

    if (result != -EOPNOTSUPP)
        return result;
    rc = coil__blocking(COIL_LANE_FILE, do_on_thread, op, &classes[op->kind]);
    return rc < 0 ? rc : op->result;
}

ssize_t coil__file_do(struct coil__op *op)
{
    ssize_t result;

    if (in_batch)
        return coil__file_call(op);
    result = coil__task_spend();
    if (result < 0)
        return result;
    do
        result = do_once(op);
    while (result == -EINTR && op->kind != COIL__OP_CLOSE);
    return result != -EINTR ? result : 0;
}

/* These say that it was not done; but for a system call that failed with the same, where
   a second try does no harm. */
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
    coil_scope_enter_shielded(&shield, COIL_NEVER);
    result = coil__file_do(op);
    coil_scope_exit(&shield, 0);
    return was_not_done(result) ? coil__file_call(op) : result;
}

/* ---- batches ----------------------------------------------------------------------- */

struct batch {
    int (*fn)(void *arg);
    void *arg;
};

static int run_batch(void *arg)
{
    const struct batch *batch = arg;
    int rc;

    in_batch = true;
    rc = batch->fn(batch->arg);
    in_batch = false;
    return rc;
}

int coil__file_batch(int (*fn)(void *arg), void *arg)
{
    static const struct coil__wait_class class = {.what = "copy",
                                                  .cancel = coil__blocking_cancel};

    return coil__blocking(COIL_LANE_FILE, run_batch, &(struct batch){fn, arg}, &class);
}
