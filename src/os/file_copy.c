/*
 * file_copy.c - one file into another.
 *
 *   by the kernel (copy_file_range(2), which shares the data where the file system can)
 *        `-- not between these two: through a buffer
 *
 * A file with holes is copied from one piece of data to the next. Some files say that
 * they are empty and are not (/proc): copy_file_range(2) believes it, so they go through
 * the buffer.
 *
 * No backend knows how to copy, so it is done on a thread, and a whole step at once: a
 * small file is opened, copied and closed by one trip. Between two steps the task tells
 * how far it is, and may be cancelled.
 *
 * Start reading at coil_copy_file() and advance().
 */
#include "file.h"

#include <coil/path.h>
#include <coil/task.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define STEP_BYTES ((int64_t)16 * 1024 * 1024) /* between two looks at cancellation */
#define BUFFER_BYTES ((size_t)256 * 1024)

struct copy {
    const char *from_path, *to_path;
    unsigned flags;
    coil_file *from; /* NULL until they are opened */
    struct coil__target to;
    struct statx source, target;
    int64_t done;
    char *buffer; /* NULL: by the kernel */
    bool at_end;
    int rc; /* of the latest step */
};

/* ---- data -------------------------------------------------------------------------- */

/* copy_file_range(2) cannot do it, or not for these two; nothing is wrong with them. */
static bool needs_buffer(const struct copy *c, ssize_t result)
{
    switch (-result) {
    case 0: /* the end, or a file that only seems empty */
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

static ssize_t copy_by_kernel(struct copy *c, int64_t n)
{
    return coil__file_do(&(struct coil__op){.kind = COIL__OP_COPY,
                                            .fd = coil_file_fd(c->from),
                                            .offset = c->done,
                                            .fd2 = coil_file_fd(c->to.file),
                                            .offset2 = c->done,
                                            .len = (size_t)n});
}

static ssize_t copy_by_buffer(struct copy *c, int64_t n)
{
    size_t size = n < (int64_t)BUFFER_BYTES ? (size_t)n : BUFFER_BYTES;
    ssize_t got = coil_file_pread(c->from, c->buffer, size, c->done);

    if (got <= 0)
        return got;
    /* Not at an offset where there are none: a device, a FIFO. */
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
            return -ENOMEM;
    }
    return copy_by_buffer(c, n);
}

/* Some steps' worth of bytes, up to `end` at most. */
static int copy_until(struct copy *c, int64_t end)
{
    int64_t limit = end - c->done < STEP_BYTES ? end : c->done + STEP_BYTES;

    while (c->done < limit) {
        ssize_t n = copy_some(c, limit - c->done);

        if (n < 0)
            return (int)n;
        if (n == 0) { /* perhaps it has become shorter */
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

/* From `done` on, some of the next piece of data. */
static int copy_piece(struct copy *c)
{
    int64_t size = (int64_t)c->source.stx_size, end;
    int64_t data = coil_file_seek(c->from, c->done, SEEK_DATA);

    if (data == -ENXIO) { /* nothing but a hole up to the end */
        c->done = size;
        return coil_file_truncate(c->to.file, size);
    }
    if (data < 0)
        return (int)data;
    c->done = data;
    end = coil_file_seek(c->from, data, SEEK_HOLE);
    return end < 0 ? (int)end : copy_until(c, end < size ? end : size);
}

/* The size that it had is its end; but of those that say 0. */
static int copy_step(struct copy *c)
{
    int64_t size = (int64_t)c->source.stx_size;
    int rc = has_holes(c) ? copy_piece(c) : copy_until(c, size > 0 ? size : INT64_MAX);

    if (size > 0 && c->done >= size)
        c->at_end = true;
    return rc;
}

/* ---- files ------------------------------------------------------------------------- */

/* Not waiting for the other end of a FIFO. */
static int open_source(struct copy *c)
{
    int rc = coil_file_open(c->from_path, O_RDONLY | O_NONBLOCK, 0, &c->from);

    if (rc < 0)
        return rc;
    rc = coil_file_stat(c->from, &c->source);
    if (rc == 0 && S_ISDIR(c->source.stx_mode))
        return -EISDIR;
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

    /* A name of the source's own would be replaced by a copy: harmless, but a mistake. */
    if (c->flags & COIL_FILE_ATOMIC && coil_stat(c->to_path, 0, &there) == 0 &&
        is_same_file(&c->source, &there))
        return -EINVAL;
    return coil__target_open(&c->to, c->to_path, c->source.stx_mode & 0777, c->flags,
                             O_NONBLOCK);
}

/* It may be the source itself: truncated only when that is known not to be so. */
static int prepare_target(struct copy *c)
{
    int rc = coil_file_stat(c->to.file, &c->target);

    if (rc < 0)
        return rc;
    if (is_same_file(&c->source, &c->target))
        return -EINVAL;
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

static int finish(struct copy *c)
{
    mode_t mode = c->source.stx_mode & 0777;
    int rc = 0;

    if (S_ISREG(c->target.stx_mode) && (c->target.stx_mode & 07777) != mode)
        rc = coil_file_chmod(c->to.file, mode);
    return coil__target_close(&c->to, rc);
}

/* ---- steps ------------------------------------------------------------------------- */

/* On a thread. */
static int advance(void *arg)
{
    struct copy *c = arg;

    c->rc = c->from == NULL ? open_both(c) : 0;
    if (c->rc == 0)
        c->rc = copy_step(c);
    if (c->rc == 0 && c->at_end)
        c->rc = finish(c);
    return 0;
}

static int copy_all(struct copy *c, const coil_copy_opts *opts)
{
    int rc;

    do {
        rc = coil_yield(); /* a step that had begun has not told of a cancellation */
        if (rc == 0)
            rc = coil__file_batch(advance, c);
        if (rc == 0)
            rc = c->rc;
        if (rc == 0 && opts != NULL && opts->progress != NULL)
            opts->progress(c->done, (int64_t)c->source.stx_size, opts->arg);
    } while (rc == 0 && !c->at_end);
    return rc;
}

int coil_copy_file(const char *from, const char *to, const coil_copy_opts *opts)
{
    const unsigned all = COIL_FILE_ATOMIC | COIL_FILE_EXCLUSIVE | COIL_FILE_SYNC;
    struct copy c = {
        .from_path = from, .to_path = to, .flags = opts != NULL ? opts->flags : 0};
    int rc;

    if (c.flags & ~all)
        return -EINVAL;
    rc = copy_all(&c, opts);
    if (c.to.file != NULL)
        rc = coil__target_close(&c.to, rc);
    coil_file_destroy(c.from);
    coil__free(c.buffer);
    return rc;
}
