/*
 * plain.c - read(2), write(2) and their relatives, sendfile(2), close(2), dup2(2).
 *
 * How read() and write() work depends on the kind of descriptor:
 *
 *     socket             as recv() and send()
 *     regular file       the C library's call: it never waits for an event
 *                        (coil/file.h keeps disk reads off the loop's thread)
 *     pipe               preadv2(2), pwritev2(2) with RWF_NOWAIT: this call does not wait
 *     anything else      poll(2), then the C library's call. Writes to a terminal or
 *                        another character device run on a thread of the waiting lane
 *                        (devices.c)
 *
 * The last row is for files and kernels that do not support RWF_NOWAIT: terminals, other
 * devices, FIFOs, older kernels. This method has a race: if another process takes the
 * data between poll() and read(), the thread blocks.
 */
#include "receive.h"

#include <coil/poll.h>

#include <limits.h>
#include <sys/stat.h>

/*
 * The number of bytes that a pipe accepts without blocking if poll(2) reports it as
 * writable: pipe(7).
 */
#define SURE_TO_FIT ((size_t)PIPE_BUF)

bool posix__is_always_ready(int fd)
{
    struct stat status;

    return fstat(fd, &status) == 0 &&
           (S_ISREG(status.st_mode) || S_ISDIR(status.st_mode) ||
            S_ISBLK(status.st_mode));
}

/* True if RWF_NOWAIT failed because the descriptor or the kernel does not support it. */
static bool lacks_nowait(void)
{
    return errno == EOPNOTSUPP || errno == ENOSYS;
}

/* ---- reading ----------------------------------------------------------------------- */

static ssize_t read_no_socket(int fd, const struct iovec *parts, int count)
{
    struct posix__waiting w = {.fd = fd, .events = POLLIN};
    ssize_t n;

    if (posix__is_always_ready(fd))
        return NEXT(readv)(fd, parts, count);
    do
        n = NEXT(preadv2)(fd, parts, count, -1, RWF_NOWAIT);
    while (n < 0 && posix__again(&w));
    if (n >= 0 || !lacks_nowait())
        return n;
    if (posix__blocks(fd) && posix__await(&w) < 0)
        return -1;
    return NEXT(readv)(fd, parts, count);
}

ssize_t posix__read(int fd, void *buf, size_t n)
{
    struct iovec part = {.iov_base = buf, .iov_len = n};
    int saved = errno;
    ssize_t result = posix__recv(fd, buf, n, 0);

    if (result >= 0 || errno != ENOTSOCK)
        return result;
    errno = saved;
    return read_no_socket(fd, &part, 1);
}

INTERPOSE ssize_t read(int fd, void *buf, size_t n)
{
    if (!IN_TASK() || n == 0)
        return NEXT(read)(fd, buf, n);
    posix__fairly();
    return posix__read(fd, buf, n);
}

INTERPOSE ssize_t __read_chk(int fd, void *buf, size_t n, size_t size)
{
    if (!IN_TASK() || n == 0 || n > size)
        return NEXT(__read_chk)(fd, buf, n, size);
    posix__fairly();
    return posix__read(fd, buf, n);
}

/* The C library's eventfd_read() calls its own read(). */
INTERPOSE int eventfd_read(int fd, eventfd_t *value)
{
    if (!IN_TASK())
        return NEXT(eventfd_read)(fd, value);
    posix__fairly();
    return posix__read(fd, value, sizeof *value) == (ssize_t)sizeof *value ? 0 : -1;
}

INTERPOSE ssize_t readv(int fd, const struct iovec *parts, int count)
{
    struct msghdr message = {.msg_iov = (struct iovec *)parts,
                             .msg_iovlen = (size_t)count};
    int saved = errno;
    ssize_t result;

    if (!IN_TASK() || count <= 0 || count > IOV_MAX ||
        posix__total(parts, message.msg_iovlen) == 0)
        return NEXT(readv)(fd, parts, count);
    posix__fairly();
    result = posix__recvmsg(fd, &message, 0);
    if (result >= 0 || errno != ENOTSOCK)
        return result;
    errno = saved;
    return read_no_socket(fd, parts, count);
}

/*
 * True if readv() or writev() can replace the call: the offset is -1 ("the current
 * position"), because other offsets are for regular files, and only flags are set that do
 * not affect pipes and sockets. The C library's function handles all other flags.
 */
static bool may_wait_at(off64_t offset, int flags)
{
    return offset == -1 && !(flags & ~(RWF_HIPRI | RWF_DSYNC | RWF_SYNC | RWF_APPEND));
}

INTERPOSE ssize_t preadv2(int fd, const struct iovec *parts, int count, off_t offset,
                          int flags)
{
    if (!may_wait_at(offset, flags) || !IN_TASK() || posix__is_always_ready(fd))
        return NEXT(preadv2)(fd, parts, count, offset, flags);
    return readv(fd, parts, count);
}

INTERPOSE ssize_t preadv64v2(int fd, const struct iovec *parts, int count, off64_t offset,
                             int flags)
{
    if (!may_wait_at(offset, flags) || !IN_TASK() || posix__is_always_ready(fd))
        return NEXT(preadv64v2)(fd, parts, count, offset, flags);
    return readv(fd, parts, count);
}

/* ---- writing ----------------------------------------------------------------------- */

/*
 * Write without RWF_NOWAIT: poll(2) before each write, and write no more than is certain
 * to fit. If all bytes are certain to fit, write them in one piece, as a FIFO requires.
 */
static ssize_t write_piecewise(struct posix__waiting *w, const struct iovec *parts,
                               size_t count, size_t total)
{
    size_t done = 0;

    if (total <= SURE_TO_FIT)
        return posix__await(w) <= 0 ? -1 : NEXT(writev)(w->fd, parts, (int)count);
    while (done < total) {
        struct iovec rest[POSIX__PLACES];
        ssize_t n;

        if (posix__await(w) <= 0)
            break;
        posix__rest(parts, count, done, rest);
        if (rest[0].iov_len > SURE_TO_FIT)
            rest[0].iov_len = SURE_TO_FIT;
        n = NEXT(write)(w->fd, rest[0].iov_base, rest[0].iov_len);
        if (n < 0)
            break;
        done += (size_t)n;
    }
    return done > 0 ? (ssize_t)done : -1;
}

/* Write all bytes, or fewer if a later write fails. The first attempt passes all parts,
 * because up to PIPE_BUF bytes must be written to a pipe in one piece. */
static ssize_t write_to_non_socket(int fd, const struct iovec *parts, int count)
{
    struct posix__waiting w = {.fd = fd, .events = POLLOUT};
    size_t total = posix__total(parts, (size_t)count), done = 0;
    ssize_t n;

    if (posix__is_always_ready(fd))
        return NEXT(writev)(fd, parts, count);
    do {
        struct iovec rest[POSIX__PLACES];
        size_t places = posix__rest(parts, (size_t)count, done, rest);

        n = done == 0 ? NEXT(pwritev2)(fd, parts, count, -1, RWF_NOWAIT)
                      : NEXT(pwritev2)(fd, rest, (int)places, -1, RWF_NOWAIT);
        done += n > 0 ? (size_t)n : 0;
    } while (done < total && (n > 0 || (n < 0 && posix__again(&w))));
    if (done > 0 || n >= 0)
        return (ssize_t)done;
    if (!lacks_nowait())
        return -1;
    if (!posix__blocks(fd))
        return NEXT(writev)(fd, parts, count);
    if (posix__is_device(fd))
        return posix__await(&w) < 0 ? -1 : posix__write_device(fd, parts, count);
    return write_piecewise(&w, parts, (size_t)count, total);
}

/* posix__send() fails with ENOTSOCK and writes nothing if the descriptor is not a
 * socket. */
ssize_t posix__write(int fd, const void *buf, size_t n)
{
    struct iovec part = {.iov_base = (void *)buf, .iov_len = n};
    int saved = errno;
    ssize_t result = posix__send(fd, buf, n, 0);

    if (result >= 0 || errno != ENOTSOCK)
        return result;
    errno = saved;
    return write_to_non_socket(fd, &part, 1);
}

INTERPOSE ssize_t write(int fd, const void *buf, size_t n)
{
    if (!IN_TASK() || n == 0)
        return NEXT(write)(fd, buf, n);
    posix__fairly();
    return posix__write(fd, buf, n);
}

INTERPOSE int eventfd_write(int fd, eventfd_t value)
{
    if (!IN_TASK())
        return NEXT(eventfd_write)(fd, value);
    posix__fairly();
    return posix__write(fd, &value, sizeof value) == (ssize_t)sizeof value ? 0 : -1;
}

INTERPOSE ssize_t writev(int fd, const struct iovec *parts, int count)
{
    struct msghdr message = {.msg_iov = (struct iovec *)parts,
                             .msg_iovlen = (size_t)count};
    int saved = errno;
    ssize_t result;

    if (!IN_TASK() || count <= 0 || count > IOV_MAX ||
        posix__total(parts, message.msg_iovlen) == 0)
        return NEXT(writev)(fd, parts, count);
    posix__fairly();
    result = posix__sendmsg(fd, &message, 0);
    if (result >= 0 || errno != ENOTSOCK)
        return result;
    errno = saved;
    return write_to_non_socket(fd, parts, count);
}

INTERPOSE ssize_t pwritev2(int fd, const struct iovec *parts, int count, off_t offset,
                           int flags)
{
    if (!may_wait_at(offset, flags) || !IN_TASK() || posix__is_always_ready(fd))
        return NEXT(pwritev2)(fd, parts, count, offset, flags);
    return writev(fd, parts, count);
}

INTERPOSE ssize_t pwritev64v2(int fd, const struct iovec *parts, int count,
                              off64_t offset, int flags)
{
    if (!may_wait_at(offset, flags) || !IN_TASK() || posix__is_always_ready(fd))
        return NEXT(pwritev64v2)(fd, parts, count, offset, flags);
    return writev(fd, parts, count);
}

/* ---- sendfile() -------------------------------------------------------------------- */

/* Copy up to 8 KiB. `*at` advances by the bytes written, not by the bytes read. */
static ssize_t send_piece(int out, int in, off_t *at, size_t n)
{
    char piece[8192];
    ssize_t got = pread(in, piece, n < sizeof piece ? n : sizeof piece, *at);
    ssize_t put;

    if (got <= 0)
        return got;
    put = posix__write(out, piece, (size_t)got);
    *at += put > 0 ? put : 0;
    return put;
}

/*
 * sendfile(2) has no flag that makes a single call non-blocking, so the data is copied
 * with read and write.
 */
static ssize_t send_file(int out, int in, off_t *offset, size_t n)
{
    off_t at = offset != NULL ? *offset : lseek(in, 0, SEEK_CUR);
    size_t done = 0;
    ssize_t moved = 0;

    while (done < n && (moved = send_piece(out, in, &at, n - done)) > 0)
        done += (size_t)moved;
    if (offset != NULL)
        *offset = at;
    else
        lseek(in, at, SEEK_SET);
    return done > 0 || moved == 0 ? (ssize_t)done : -1;
}

/* True if `in` is a readable regular file, and sendfile(2) may have to wait for `out`. */
static bool may_wait_between(int out, int in)
{
    int flags = NEXT(fcntl)(in, F_GETFL);
    struct stat from;

    return flags >= 0 && (flags & O_ACCMODE) != O_WRONLY && fstat(in, &from) == 0 &&
           S_ISREG(from.st_mode) && posix__blocks(out) && !posix__is_always_ready(out);
}

INTERPOSE ssize_t sendfile(int out, int in, off_t *offset, size_t n)
{
    if (!IN_TASK() || !may_wait_between(out, in) || (offset != NULL && *offset < 0))
        return NEXT(sendfile)(out, in, offset, n);
    posix__fairly();
    return send_file(out, in, offset, n);
}

INTERPOSE ssize_t sendfile64(int out, int in, off64_t *offset, size_t n)
{
    if (!IN_TASK() || !may_wait_between(out, in) || (offset != NULL && *offset < 0))
        return NEXT(sendfile64)(out, in, offset, n);
    posix__fairly();
    return send_file(out, in, offset, n);
}

/* ---- closing ----------------------------------------------------------------------- */

/*
 * If tasks of this thread are waiting for the descriptor, their waits fail with EBADF.
 * coil_posix_reached() calls close(-1) as a probe.
 */
INTERPOSE int close(int fd)
{
    if (fd == -1)
        posix__asked = false;
    coil_poll_end(fd);
    return NEXT(close)(fd);
}

/*
 * End the waits for `to` before dup2(2) or dup3(2) closes it, because a backend must
 * forget a descriptor while it is still open. Does nothing if the call will fail and
 * therefore not close `to`.
 */
static void end_replaced(int from, int to, int flags)
{
    int saved = errno;

    if (from != to && !(flags & ~O_CLOEXEC) && NEXT(fcntl)(from, F_GETFD) >= 0)
        coil_poll_end(to);
    errno = saved;
}

INTERPOSE int dup2(int from, int to)
{
    end_replaced(from, to, 0);
    return NEXT(dup2)(from, to);
}

INTERPOSE int dup3(int from, int to, int flags)
{
    end_replaced(from, to, flags);
    return NEXT(dup3)(from, to, flags);
}
