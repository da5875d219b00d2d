/*
 * plain.c - read(2), write(2) and what they are called on; closing.
 *
 *     a socket             as recv() and send()
 *     a regular file       the C library's: always ready (coil/file.h has files in tasks)
 *     a pipe, a terminal   preadv2(2) and pwritev2(2) with RWF_NOWAIT, which does not
 *                          wait for this one call
 *     anything else        poll first, then the call
 *
 * The last is for older kernels and other devices, and has one fault: where a second
 * process takes what was there between the two, the thread waits.
 */
#include "receive.h"

#include <coil/poll.h>

#include <limits.h>
#include <sys/stat.h>

/* To a pipe that is writable so much goes without waiting: pipe(7). */
#define SURE_TO_FIT ((size_t)PIPE_BUF)

static bool is_always_ready(int fd)
{
    struct stat status;

    return fstat(fd, &status) == 0 &&
           (S_ISREG(status.st_mode) || S_ISDIR(status.st_mode) ||
            S_ISBLK(status.st_mode));
}

static bool not_known(void)
{
    return errno == EOPNOTSUPP || errno == ENOSYS;
}

/* ---- reading --------------------------------------------------------------------------
 */

static ssize_t read_no_socket(int fd, const struct iovec *parts, int count)
{
    struct posix__waiting w = {.fd = fd, .events = POLLIN};
    ssize_t n;

    if (is_always_ready(fd))
        return NEXT(readv)(fd, parts, count);
    do
        n = preadv2(fd, parts, count, -1, RWF_NOWAIT);
    while (n < 0 && posix__again(&w));
    if (n >= 0 || !not_known())
        return n;
    if (posix__blocks(fd) && posix__await(&w) < 0)
        return -1;
    return NEXT(readv)(fd, parts, count);
}

static ssize_t read_in_task(int fd, void *buf, size_t n)
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
    return read_in_task(fd, buf, n);
}

INTERPOSE ssize_t __read_chk(int fd, void *buf, size_t n, size_t size)
{
    if (!IN_TASK() || n == 0 || n > size)
        return NEXT(__read_chk)(fd, buf, n, size);
    posix__fairly();
    return read_in_task(fd, buf, n);
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

/* ---- writing --------------------------------------------------------------------------
 */

/* To what cannot be asked not to wait: no more than surely fits, each time. */
static ssize_t write_bit_by_bit(struct posix__waiting *w, const struct iovec *parts,
                                size_t count, size_t total)
{
    size_t done = 0;

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

/* All of it goes, or what there was room for if then something fails. The first attempt
 * has all parts, since a pipe keeps together what is written to it at once. */
static ssize_t write_no_socket(int fd, const struct iovec *parts, int count)
{
    struct posix__waiting w = {.fd = fd, .events = POLLOUT};
    size_t total = posix__total(parts, (size_t)count), done = 0;
    ssize_t n;

    if (is_always_ready(fd))
        return NEXT(writev)(fd, parts, count);
    do {
        struct iovec rest[POSIX__PLACES];
        size_t places = posix__rest(parts, (size_t)count, done, rest);

        n = done == 0 ? pwritev2(fd, parts, count, -1, RWF_NOWAIT)
                      : pwritev2(fd, rest, (int)places, -1, RWF_NOWAIT);
        done += n > 0 ? (size_t)n : 0;
    } while (done < total && (n > 0 || (n < 0 && posix__again(&w))));
    if (done > 0 || n >= 0)
        return (ssize_t)done;
    if (!not_known())
        return -1;
    if (!posix__blocks(fd))
        return NEXT(writev)(fd, parts, count);
    return write_bit_by_bit(&w, parts, (size_t)count, total);
}

/* A socket takes all or some of it by posix__send(); -1 and ENOTSOCK: it is none. */
static ssize_t write_in_task(int fd, const void *buf, size_t n)
{
    struct iovec part = {.iov_base = (void *)buf, .iov_len = n};
    int saved = errno;
    ssize_t result = posix__send(fd, buf, n, 0);

    if (result >= 0 || errno != ENOTSOCK)
        return result;
    errno = saved;
    return write_no_socket(fd, &part, 1);
}

INTERPOSE ssize_t write(int fd, const void *buf, size_t n)
{
    if (!IN_TASK() || n == 0)
        return NEXT(write)(fd, buf, n);
    posix__fairly();
    return write_in_task(fd, buf, n);
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
    return write_no_socket(fd, parts, count);
}

/* ---- from a file to a socket
 * ------------------------------------------------------------ */

/* One piece; what was not written of it is not taken. */
static ssize_t send_piece(int out, int in, off_t *at, size_t n)
{
    char piece[8192];
    ssize_t got = pread(in, piece, n < sizeof piece ? n : sizeof piece, *at);
    ssize_t put;

    if (got <= 0)
        return got;
    put = write_in_task(out, piece, (size_t)got);
    *at += put > 0 ? put : 0;
    return put;
}

/* sendfile(2) cannot be asked not to wait: read and write instead. */
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

/* Only between what sendfile(2) itself would take, and where it would wait. */
static bool may_wait_between(int out, int in)
{
    int flags = NEXT(fcntl)(in, F_GETFL);
    struct stat from;

    return flags >= 0 && (flags & O_ACCMODE) != O_WRONLY && fstat(in, &from) == 0 &&
           S_ISREG(from.st_mode) && posix__blocks(out) && !is_always_ready(out);
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

/* ---- closing --------------------------------------------------------------------------
 */

/* Whoever waits for it, of this thread's tasks, is told: EBADF. */
INTERPOSE int close(int fd)
{
    coil_poll_end(fd);
    return NEXT(close)(fd);
}

INTERPOSE int dup2(int from, int to)
{
    if (from != to)
        coil_poll_end(to);
    return NEXT(dup2)(from, to);
}

INTERPOSE int dup3(int from, int to, int flags)
{
    if (from != to)
        coil_poll_end(to);
    return NEXT(dup3)(from, to, flags);
}
