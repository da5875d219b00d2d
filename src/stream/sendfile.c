/*
 * sendfile.c - sends a file, or a part of it, over a stream.
 *
 * sendfile(2) moves pages from the kernel's cache to a socket without copying them to the
 * program. If pages are not cached, sendfile(2) reads the disk, which would block the
 * loop. So each piece is probed first, by reading its first and its last byte without
 * waiting. A cached piece is sent with sendfile(2). A piece that is not cached is read by
 * the file lane or the backend, and then written, while the kernel reads ahead. With
 * pipes, with TLS, and if sendfile(2) refuses the file, the bytes are always read and
 * written.
 *
 * The file is read at explicit offsets. If the caller has not passed an offset, the call
 * sets the file's own position when it ends. So the position shows how much was sent,
 * even after a failure. (asyncio: loop.sendfile, sock_sendfile)
 */
#include "stream.h"

#include "../base/fault.h"
#include "../io/file_op.h"
#include "../kernel/files.h"
#include "../task/failure.h"

#include <sys/stat.h>
#include <unistd.h>

#define PIECE ((size_t)256 * 1024) /* bytes that are probed and sent at a time */
#define BUFFER_BYTES ((size_t)64 * 1024)

struct sending {
    coil_stream *stream;
    int fd;
    int64_t start, position;
    int64_t size; /* size of the file at the start; INT64_MAX for a device */
    size_t left;
    bool in_memory; /* the whole file is cached: no probe is needed */
    bool refused;   /* sendfile(2) has refused the file */
    char *buf;      /* buffer for reading and writing; NULL until needed */
};

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static void advance_position(struct sending *s, size_t n)
{
    s->position += (int64_t)n;
    s->left -= n;
    s->stream->transferred[COIL__OUT] += n;
}

/*
 * Like pread(2), but fails with -EAGAIN instead of waiting for a disk, or with
 * -EOPNOTSUPP if the file system cannot read without waiting.
 */
static ssize_t read_cached(int fd, void *buf, size_t n, int64_t position)
{
    ssize_t got = coil__files_read_cached(fd, buf, n, position);

    return got < 0 ? -errno : got;
}

/*
 * True if the first and the last of the next n bytes are cached. If the file ends
 * earlier, the file's last byte is probed, because a read past the end never waits.
 */
static bool is_cached(const struct sending *s, size_t n)
{
    int64_t rest = s->size - s->position;
    char byte;

    if (s->in_memory)
        return true;
    if (rest > 0)
        n = smaller(n, (size_t)rest);
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
        s->buf = coil__alloc(BUFFER_BYTES);
    if (s->buf == NULL)
        return coil__failed(-ENOMEM);
    n = read_piece(s, smaller(s->left, BUFFER_BYTES));
    if (n <= 0)
        return n;
    for (rest = (struct iovec){s->buf, (size_t)n}; rest.iov_len > 0;) {
        n = s->stream->transport->write(s->stream, &rest, 1);
        if (n < 0)
            return n;
        advance_position(s, (size_t)n);
        rest.iov_base = (char *)rest.iov_base + n;
        rest.iov_len -= (size_t)n;
    }
    return 1;
}

static bool is_refusal(ssize_t result)
{
    return result == -EOPNOTSUPP || result == -EINVAL || result == -ENOSYS;
}

/*
 * Send with sendfile(2). If the kernel refuses, the task's last error does not change,
 * because the caller then reads and writes instead.
 */
static ssize_t send_from_file(struct sending *s, size_t n)
{
    struct coil__failure_kept kept;
    ssize_t result;

    coil__failure_keep(&kept);
    result = s->stream->transport->sendfile(s->stream, s->fd, s->position, n);
    coil__failure_put_back(&kept);
    s->refused = is_refusal(result);
    return s->refused ? result : coil__result(result);
}

/*
 * Send some bytes. Returns a positive value if any bytes were sent, 0 at the end of the
 * file, or a negative errno.
 */
static ssize_t send_some(struct sending *s)
{
    size_t n = smaller(s->left, PIECE);
    ssize_t result;

    if (!s->refused && is_cached(s, n)) {
        result = send_from_file(s, n);
        if (result > 0)
            advance_position(s, (size_t)result);
        if (!s->refused)
            return result;
    }
    return read_and_write(s);
}

/* Determine where to begin, and how many bytes to send. */
static int begin_sending(struct sending *s, const int64_t *offset, size_t n)
{
    struct stat info;

    if (COIL__CALL(EBADF, fstat(s->fd, &info)) < 0)
        return coil__failed(-errno);
    if (!S_ISREG(info.st_mode) && !S_ISBLK(info.st_mode))
        return coil__failed(-EINVAL);
    s->position = offset != NULL ? *offset : lseek(s->fd, 0, SEEK_CUR);
    if (s->position < 0)
        return coil__failed(-EINVAL);
    s->start = s->position;
    s->size = S_ISREG(info.st_mode) ? info.st_size : INT64_MAX;
    s->left = smaller(n, (size_t)(INT64_MAX - s->position));
    s->in_memory = coil__files_in_memory(s->fd);
    s->refused = s->stream->transport->sendfile == NULL;
    return 0;
}

ssize_t coil_sendfile(coil_stream *stream, int fd, int64_t *offset, size_t n)
{
    COIL__REQUIRE(stream, "a stream");
    struct sending s = {.stream = stream, .fd = fd};
    ssize_t result = coil__stream_enter(stream, COIL__OUT, "coil_sendfile");

    if (result < 0)
        return result;
    result = begin_sending(&s, offset, n);
    if (result == 0) {
        for (result = 1; result > 0 && s.left > 0;)
            result = send_some(&s);
        /* The count includes bytes of a cancelled write that TLS will still send. */
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
