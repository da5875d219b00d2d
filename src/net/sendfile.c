/*
 * sendfile.c - a file, or a part of it, into a stream.
 *
 * sendfile(2) moves pages from the kernel's cache to a socket without a copy through the
 * program; what is not in the cache it reads first, and the loop would stand still. So
 * each piece is looked at (RWF_NOWAIT: would reading its first and its last byte block?).
 * What is there is sent; what is not is read by the file lane, or by the backend, and
 * written, while the kernel reads ahead. That is also what happens to pipes, TLS, and
 * files that sendfile(2) does not take.
 *
 * The file is always read at a position of ours, and its own position, where that is
 * meant, set at the end: so it says how far we came, whatever happened.
 * (asyncio: loop.sendfile, sock_sendfile)
 */
#include "stream.h"

#include "../base/fault.h"
#include "../os/file_op.h"

#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#define PIECE ((size_t)256 * 1024) /* looked at, and sent, at a time */
#define BY_HAND ((size_t)64 * 1024)

struct sending {
    coil_stream *stream;
    int fd;
    int64_t start, position;
    size_t left;
    bool in_memory; /* the whole file is: no look is needed */
    bool refused;   /* by sendfile(2), or whoever stands for it */
    char *buf;      /* for reading and writing, once that is needed */
};

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static void advance(struct sending *s, size_t n)
{
    s->position += (int64_t)n;
    s->left -= n;
    s->stream->transferred[COIL__OUT] += n;
}

/* As pread(2), but -EAGAIN instead of waiting for a disk. Not every kind of file knows:
   -EOPNOTSUPP. */
static ssize_t read_cached(int fd, void *buf, size_t n, int64_t position)
{
    struct iovec part = {buf, n};
    ssize_t got = COIL__CALL(EAGAIN, preadv2(fd, &part, 1, position, RWF_NOWAIT));

    return got < 0 ? -errno : got;
}

static bool is_cached(const struct sending *s, size_t n)
{
    char byte;

    if (s->in_memory)
        return true;
    return read_cached(s->fd, &byte, 1, s->position) >= 0 &&
           read_cached(s->fd, &byte, 1, s->position + (int64_t)n - 1) >= 0;
}

static ssize_t read_piece(struct sending *s, size_t n)
{
    ssize_t got = read_cached(s->fd, s->buf, n, s->position);

    if (got != -EAGAIN && got != -EOPNOTSUPP)
        return got;
    return coil__file_do(&(struct coil__op){.kind = COIL__OP_PREAD,
                                            .fd = s->fd,
                                            .buf = s->buf,
                                            .len = n,
                                            .offset = s->position});
}

static ssize_t read_and_write(struct sending *s)
{
    struct iovec rest = {NULL, 0};
    ssize_t n;

    if (s->buf == NULL)
        s->buf = coil__alloc(BY_HAND);
    if (s->buf == NULL)
        return -ENOMEM;
    n = read_piece(s, smaller(s->left, BY_HAND));
    if (n <= 0)
        return n;
    for (rest = (struct iovec){s->buf, (size_t)n}; rest.iov_len > 0;) {
        n = s->stream->transport->write(s->stream, &rest, 1);
        if (n < 0)
            return n;
        advance(s, (size_t)n);
        rest.iov_base = (char *)rest.iov_base + n;
        rest.iov_len -= (size_t)n;
    }
    return 1;
}

static bool is_refusal(ssize_t result)
{
    return result == -EOPNOTSUPP || result == -EINVAL || result == -ENOSYS;
}

/* Some bytes: returns a positive number, 0 at the file's end, or what it failed with. */
static ssize_t send_some(struct sending *s)
{
    size_t n = smaller(s->left, PIECE);
    ssize_t result;

    if (!s->refused && is_cached(s, n)) {
        result = s->stream->transport->sendfile(s->stream, s->fd, s->position, n);
        if (result > 0)
            advance(s, (size_t)result);
        s->refused = is_refusal(result);
        if (!s->refused)
            return result;
    }
    return read_and_write(s);
}

/* memfd_create(2)'s files do not know RWF_NOWAIT, and need not. */
static bool is_in_memory(int fd)
{
    struct statfs info;

    return fstatfs(fd, &info) == 0 && info.f_type == TMPFS_MAGIC;
}

/* The file, from where, and how much. */
static int begin(struct sending *s, const int64_t *offset, size_t n)
{
    struct stat info;

    if (COIL__CALL(EBADF, fstat(s->fd, &info)) < 0)
        return -errno;
    if (!S_ISREG(info.st_mode) && !S_ISBLK(info.st_mode))
        return -EINVAL;
    s->position = offset != NULL ? *offset : lseek(s->fd, 0, SEEK_CUR);
    if (s->position < 0)
        return -EINVAL;
    s->start = s->position;
    s->left = smaller(n, (size_t)(INT64_MAX - s->position));
    s->in_memory = is_in_memory(s->fd);
    s->refused = s->stream->transport->sendfile == NULL;
    return 0;
}

ssize_t coil_sendfile(coil_stream *stream, int fd, int64_t *offset, size_t n)
{
    struct sending s = {.stream = stream, .fd = fd};
    ssize_t result = coil__endpoint_enter(&stream->endpoint, COIL__OUT, "coil_sendfile");

    if (result < 0)
        return result;
    stream->transferred[COIL__OUT] = 0;
    result = begin(&s, offset, n);
    if (result == 0) {
        for (result = 1; result > 0 && s.left > 0;)
            result = send_some(&s);
        /* A write that was cancelled may count bytes which go out all the same (TLS). */
        s.position = s.start + (int64_t)stream->transferred[COIL__OUT];
        if (offset != NULL)
            *offset = s.position;
        else
            lseek(fd, s.position, SEEK_SET);
    }
    coil__free(s.buf);
    if (result >= 0)
        result = (ssize_t)stream->transferred[COIL__OUT];
    coil__endpoint_leave(&stream->endpoint, COIL__OUT);
    return result;
}
