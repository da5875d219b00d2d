/*
 * file_copy.c - one file into another.
 *
 *   by the kernel (copy_file_range(2), which shares the data where the file system can)
 *        `-- not between these two: through a buffer
 *
 * A file with holes is copied from one piece of data to the next. Some files say that
 * they are empty and are not (/proc): copy_file_range(2) believes it, so they go through
 * the buffer.
 */
#include "file.h"

#include <coil/path.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define STEP_BYTES ((int64_t)16 * 1024 * 1024) /* between two looks at cancellation */
#define BUFFER_BYTES ((size_t)256 * 1024)

struct copy {
    const coil_copy_opts *opts;
    coil_file *from;
    struct coil__target to;
    struct statx source, target;
    int64_t done;
    char *buffer; /* NULL: by the kernel */
};

static void tell(const struct copy *c)
{
    if (c->opts != NULL && c->opts->progress != NULL)
        c->opts->progress(c->done, (int64_t)c->source.stx_size, c->opts->arg);
}

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

/* Up to `end`; 0 also if the file ends before. */
static int copy_until(struct copy *c, int64_t end)
{
    while (c->done < end) {
        int64_t left = end - c->done;
        ssize_t n = copy_some(c, left < STEP_BYTES ? left : STEP_BYTES);

        if (n <= 0)
            return (int)n;
        c->done += n;
        tell(c);
    }
    return 0;
}

/* ---- holes ------------------------------------------------------------------------- */

static bool has_holes(const struct copy *c)
{
    return S_ISREG(c->target.stx_mode) && c->source.stx_blocks * 512 < c->source.stx_size;
}

static int copy_pieces(struct copy *c)
{
    int64_t size = (int64_t)c->source.stx_size, piece;
    int rc = 0;

    while (rc == 0 && c->done < size) {
        piece = coil_file_seek(c->from, c->done, SEEK_DATA);
        if (piece == -ENXIO) /* nothing but a hole up to the end */
            break;
        if (piece < 0)
            return (int)piece;
        c->done = piece;
        piece = coil_file_seek(c->from, piece, SEEK_HOLE);
        if (piece < 0)
            return (int)piece;
        rc = copy_until(c, piece < size ? piece : size);
    }
    if (rc == 0 && c->done < size) {
        c->done = size;
        rc = coil_file_truncate(c->to.file, size);
    }
    return rc;
}

/* ---- files ------------------------------------------------------------------------- */

/* Not waiting for the other end of a FIFO. */
static int open_source(struct copy *c, const char *path)
{
    int rc = coil_file_open(path, O_RDONLY | O_NONBLOCK, 0, &c->from);

    if (rc < 0)
        return rc;
    rc = coil_file_stat(c->from, &c->source);
    if (rc == 0 && S_ISDIR(c->source.stx_mode))
        rc = -EISDIR;
    else if (rc == 0 && !S_ISREG(c->source.stx_mode))
        rc = -EINVAL;
    if (rc < 0)
        coil_file_destroy(c->from);
    return rc;
}

static bool is_same_file(const struct statx *a, const struct statx *b)
{
    return a->stx_ino == b->stx_ino && a->stx_dev_major == b->stx_dev_major &&
           a->stx_dev_minor == b->stx_dev_minor;
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

static int copy_data(struct copy *c)
{
    mode_t mode = c->source.stx_mode & 0777;
    int64_t size = (int64_t)c->source.stx_size;
    int rc = has_holes(c) ? copy_pieces(c) : 0;

    if (rc == 0)
        rc = copy_until(c, size > 0 ? size : INT64_MAX);
    if (rc == 0 && S_ISREG(c->target.stx_mode) && (c->target.stx_mode & 07777) != mode)
        rc = coil_file_chmod(c->to.file, mode);
    return rc;
}

static int copy_from(struct copy *c, const char *to)
{
    unsigned flags = c->opts != NULL ? c->opts->flags : 0;
    struct statx there;
    int rc;

    /* A name of the source's own would be replaced by a copy: harmless, but a mistake. */
    if (flags & COIL_FILE_ATOMIC && coil_stat(to, 0, &there) == 0 &&
        is_same_file(&c->source, &there))
        return -EINVAL;
    rc = coil__target_open(&c->to, to, c->source.stx_mode & 0777, flags, O_NONBLOCK);
    if (rc < 0)
        return rc;
    rc = prepare_target(c);
    if (rc == 0)
        rc = copy_data(c);
    rc = coil__target_close(&c->to, rc);
    if (rc == 0)
        tell(c);
    return rc;
}

int coil_copy_file(const char *from, const char *to, const coil_copy_opts *opts)
{
    const unsigned all = COIL_FILE_ATOMIC | COIL_FILE_EXCLUSIVE | COIL_FILE_SYNC;
    struct copy c = {.opts = opts};
    int rc;

    if (opts != NULL && opts->flags & ~all)
        return -EINVAL;
    rc = open_source(&c, from);
    if (rc < 0)
        return rc;
    rc = copy_from(&c, to);
    coil_file_destroy(c.from);
    coil__free(c.buffer);
    return rc;
}
