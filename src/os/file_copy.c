/*
 * file_copy.c - copies one file to another.
 *
 * copy_file_range(2) copies in the kernel, and lets the two files share data if the file
 * system can. If the kernel does not support this call for the two files, the bytes are
 * copied through a buffer. A buffer is also used if the size is 0, because files of /proc
 * report size 0 but are not empty, and copy_file_range(2) would copy nothing.
 *
 * Holes in the source remain holes in the copy.
 *
 * The backends cannot copy files, so a thread copies a file, in steps. A small file is
 * opened, copied and closed in a single step. After each step the task calls `progress`,
 * and between two steps it can be cancelled.
 *
 * Start reading at coil_copy_file() and copy_in_task().
 */
#include "file.h"

#include "../task/failure.h"

#include <coil/path.h>
#include <coil/task.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* bytes per step */
#define STEP_BYTES ((int64_t)16 * 1024 * 1024)
#define BUFFER_BYTES ((size_t)256 * 1024)

struct copy {
    const char *from_path, *to_path;
    unsigned flags;
    coil_file *from; /* `from` and `to.file` are NULL until they are opened */
    struct coil__target to;
    struct statx source, target;
    int64_t done;
    char *buffer; /* NULL while the kernel copies */
    bool at_end;
    int rc; /* result of the latest step */
};

/* ---- data -------------------------------------------------------------------------- */

/*
 * True if the result of copy_file_range(2) means that the call does not support these two
 * files, rather than that reading or writing has failed.
 */
static bool needs_buffer(const struct copy *c, ssize_t result)
{
    switch (-result) {
    case 0: /* the end of the file, or a file whose size is reported as 0 */
        return c->source.stx_size == 0;
    case EXDEV:
    case EINVAL:
    case ENOSYS:
    case EOPNOTSUPP:
    case EPERM:
    case EBADF:
    case ETXTBSY:
        return true;
    default:
        return false;
    }
}

/*
 * Copy up to n bytes in the kernel. Preserves the task's last error: a kernel that cannot
 * copy is not a failure, because the caller then uses a buffer.
 */
static ssize_t copy_by_kernel(struct copy *c, int64_t n)
{
    struct coil__failure_kept kept;
    ssize_t result;

    coil__failure_keep(&kept);
    result = coil__file_do(&(struct coil__op){.kind = COIL__OP_COPY,
                                              .fd = coil_file_fd(c->from),
                                              .offset = c->done,
                                              .fd2 = coil_file_fd(c->to.file),
                                              .offset2 = c->done,
                                              .len = (size_t)n});
    coil__failure_put_back(&kept);
    return result;
}

static ssize_t copy_by_buffer(struct copy *c, int64_t n)
{
    size_t size = n < (int64_t)BUFFER_BYTES ? (size_t)n : BUFFER_BYTES;
    ssize_t got = coil_file_pread(c->from, c->buffer, size, c->done);

    if (got <= 0)
        return got;
    /* Devices and FIFOs do not have offsets. */
    if (!S_ISREG(c->target.stx_mode))
        return coil_file_write(c->to.file, c->buffer, (size_t)got);
    return coil_file_pwrite(c->to.file, c->buffer, (size_t)got, c->done);
}

static ssize_t copy_some(struct copy *c, int64_t n)
{
    ssize_t result = 0;

    if (c->buffer == NULL) {
        result = copy_by_kernel(c, n);
        if (result > 0 || !needs_buffer(c, result))
            return result;
        c->buffer = coil__alloc(BUFFER_BYTES);
        if (c->buffer == NULL)
            return coil__failed(-ENOMEM);
    }
    return copy_by_buffer(c, n);
}

/* Copy from `done` up to `end`, but at most STEP_BYTES. */
static int copy_until(struct copy *c, int64_t end)
{
    int64_t limit = end - c->done < STEP_BYTES ? end : c->done + STEP_BYTES;

    while (c->done < limit) {
        ssize_t n = copy_some(c, limit - c->done);

        if (n < 0)
            return (int)n;
        if (n == 0) { /* the source may have become shorter */
            c->at_end = true;
            return 0;
        }
        c->done += n;
    }
    return 0;
}

/* ---- holes ------------------------------------------------------------------------- */

static bool has_holes(const struct copy *c)
{
    return S_ISREG(c->target.stx_mode) && c->source.stx_blocks * 512 < c->source.stx_size;
}

/*
 * Call lseek(2) on the source. coil_file_seek() cannot be used on a thread, because it
 * may have to suspend until other calls at the file's position have ended.
 */
static int64_t seek_in_source(struct copy *c, int64_t offset, int whence)
{
    return coil__file_op(
        c->from,
        &(struct coil__op){.kind = COIL__OP_SEEK, .offset = offset, .flags = whence},
        "coil_copy_file");
}

/*
 * Skip a hole at `done`, if there is one, and copy up to STEP_BYTES of the data after it.
 * If only a hole is left, extend the target to the source's size.
 */
static int copy_piece(struct copy *c)
{
    int64_t size = (int64_t)c->source.stx_size, end;
    int64_t data = seek_in_source(c, c->done, SEEK_DATA);

    if (data == -ENXIO) { /* the rest of the file is a hole */
        c->done = size;
        return coil_file_truncate(c->to.file, size);
    }
    if (data < 0)
        return (int)data;
    c->done = data;
    end = seek_in_source(c, data, SEEK_HOLE);
    return end < 0 ? (int)end : copy_until(c, end < size ? end : size);
}

/*
 * Copy one step. The copy ends at the size that the source had when it was opened. If
 * that size is 0, the copy ends when a read returns 0.
 */
static int copy_step(struct copy *c)
{
    int64_t size = (int64_t)c->source.stx_size;
    int rc = has_holes(c) ? copy_piece(c) : copy_until(c, size > 0 ? size : INT64_MAX);

    if (size > 0 && c->done >= size)
        c->at_end = true;
    return rc;
}

/* ---- files ------------------------------------------------------------------------- */

/* Open the source with O_NONBLOCK, so that opening a FIFO does not wait for a writer. */
static int open_source(struct copy *c)
{
    int rc = coil_file_open(c->from_path, O_RDONLY | O_NONBLOCK, 0, &c->from);

    if (rc < 0)
        return rc;
    rc = coil_file_stat(c->from, &c->source);
    if (rc == 0 && S_ISDIR(c->source.stx_mode))
        return coil__failed(-EISDIR);
    return rc == 0 && !S_ISREG(c->source.stx_mode) ? -EINVAL : rc;
}

static bool is_same_file(const struct statx *a, const struct statx *b)
{
    return a->stx_ino == b->stx_ino && a->stx_dev_major == b->stx_dev_major &&
           a->stx_dev_minor == b->stx_dev_minor;
}

static int open_target(struct copy *c)
{
    struct statx there;

    /*
     * If `to` is another name of the source, an atomic copy would replace that name with
     * a copy. No data would be lost, but this is probably a mistake of the caller.
     */
    if (c->flags & COIL_FILE_ATOMIC && coil__target_look(c->to_path, &there) == 0 &&
        is_same_file(&c->source, &there))
        return coil__failed(-EINVAL);
    return coil__target_open(&c->to, c->to_path, c->source.stx_mode & 0777, c->flags,
                             O_NONBLOCK);
}

/* Check that the target is not the source, and truncate it. */
static int prepare_target(struct copy *c)
{
    int rc = coil_file_stat(c->to.file, &c->target);

    if (rc < 0)
        return rc;
    if (is_same_file(&c->source, &c->target))
        return coil__failed(-EINVAL);
    if (S_ISREG(c->target.stx_mode) && c->target.stx_size > 0)
        return coil_file_truncate(c->to.file, 0);
    return 0;
}

static int open_both(struct copy *c)
{
    int rc = open_source(c);

    if (rc == 0)
        rc = open_target(c);
    return rc == 0 ? prepare_target(c) : rc;
}

/* Set the target's mode, and close both files. */
static int finish_copy(struct copy *c)
{
    mode_t mode = c->source.stx_mode & 0777;
    int rc = 0;

    if (S_ISREG(c->target.stx_mode) && (c->target.stx_mode & 07777) != mode)
        rc = coil_file_chmod(c->to.file, mode);
    coil_file_destroy(c->from);
    c->from = NULL;
    return coil__target_close(&c->to, rc);
}

/* ---- steps ------------------------------------------------------------------------- */

/*
 * Perform one step, on a thread. The first step also opens the files, and the last step
 * sets the target's mode and closes the files.
 */
static int copy_in_task(void *arg)
{
    struct copy *c = arg;

    c->rc = c->from == NULL ? open_both(c) : 0;
    if (c->rc == 0)
        c->rc = copy_step(c);
    if (c->rc == 0 && c->at_end)
        c->rc = finish_copy(c);
    return 0;
}

static int copy_all(struct copy *c, const coil_copy_opts *opts)
{
    int rc;

    for (;;) {
        rc = coil__file_batch(copy_in_task, c);
        if (rc == 0)
            rc = c->rc;
        if (rc == 0 && opts != NULL && opts->progress != NULL)
            opts->progress(c->done, (int64_t)c->source.stx_size, opts->arg);
        if (rc < 0 || c->at_end)
            return rc;
        rc = coil_yield(); /* a cancellation during the step is delivered here */
        if (rc < 0)
            return rc;
    }
}

int coil_copy_file(const char *from, const char *to, const coil_copy_opts *opts)
{
    COIL__REQUIRE(from, "a path");
    COIL__REQUIRE(to, "a path");
    const unsigned all = COIL_FILE_ATOMIC | COIL_FILE_EXCLUSIVE | COIL_FILE_SYNC;
    struct copy c = {
        .from_path = from, .to_path = to, .flags = opts != NULL ? opts->flags : 0};
    int rc;

    coil__task_require("coil_copy_file");
    if (c.flags & ~all)
        return coil__failed(-EINVAL);
    rc = copy_all(&c, opts);
    if (c.to.file != NULL)
        rc = coil__target_close(&c.to, rc);
    coil_file_destroy(c.from);
    coil__free(c.buffer);
    return coil__explain(rc, "cannot copy '%s' to '%s'", from, to);
}
