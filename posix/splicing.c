/*
 * splicing.c - splice(2), tee(2) and vmsplice(2).
 *
 * SPLICE_F_NONBLOCK applies only to pipes, not to a socket at the other end. Therefore
 * the task first polls both ends until they are ready. If the output is a socket, the
 * task moves no more bytes than are certain to fit. A short transfer is allowed, because
 * splice(2) may always move fewer bytes than requested.
 */
#include "waiting.h"

#include <limits.h>
#include <sys/stat.h>

/* The number of bytes that a socket or pipe accepts if poll(2) reports it as writable. */
#define SURE_TO_FIT ((size_t)PIPE_BUF)

static bool is_of_type(int fd, mode_t type)
{
    struct stat status;
    int saved = errno;
    bool result = fstat(fd, &status) == 0 && (status.st_mode & S_IFMT) == type;

    errno = saved;
    return result;
}

/* Wait until the descriptor is ready. If this fails, returns false and sets errno, which
 * is EAGAIN after the socket's time-out. */
static bool await_one(struct posix__waiting *w)
{
    int rc = posix__await(w);

    if (rc == 0)
        errno = EAGAIN;
    return rc > 0;
}

static bool await_both(struct posix__waiting *in, struct posix__waiting *out)
{
    return await_one(in) && await_one(out);
}

/*
 * If the call failed with EAGAIN although the descriptors were ready, nap, and return
 * true to try again. In that case another reader took the data, or the space was too
 * small. Without the nap, the task would spin.
 */
static bool nap_after_eagain(ssize_t n, int64_t *nap)
{
    return n < 0 && errno == EAGAIN && posix__nap(nap, COIL_NEVER) == 0;
}

static bool wants_to_wait(int in, int out, unsigned flags)
{
    return !(flags & SPLICE_F_NONBLOCK) && posix__blocks(in) && posix__blocks(out);
}

static ssize_t splice_in_task(int in, off64_t *in_at, int out, off64_t *out_at, size_t n,
                              unsigned flags)
{
    struct posix__waiting from = {.fd = in, .events = POLLIN};
    struct posix__waiting to = {.fd = out, .events = POLLOUT};
    int64_t nap = 0;
    ssize_t moved;

    if (n > SURE_TO_FIT && !is_of_type(out, S_IFIFO) && !is_of_type(out, S_IFREG))
        n = SURE_TO_FIT;
    do {
        if (!await_both(&from, &to))
            return -1;
        moved = NEXT(splice)(in, in_at, out, out_at, n, flags | SPLICE_F_NONBLOCK);
    } while (nap_after_eagain(moved, &nap));
    return moved;
}

INTERPOSE ssize_t splice(int in, off64_t *in_at, int out, off64_t *out_at, size_t n,
                         unsigned flags)
{
    if (!IN_TASK() || n == 0 || !wants_to_wait(in, out, flags) ||
        (!is_of_type(in, S_IFIFO) && !is_of_type(out, S_IFIFO)))
        return NEXT(splice)(in, in_at, out, out_at, n, flags);
    posix__fairly();
    return splice_in_task(in, in_at, out, out_at, n, flags);
}

INTERPOSE ssize_t tee(int in, int out, size_t n, unsigned flags)
{
    struct posix__waiting from = {.fd = in, .events = POLLIN};
    struct posix__waiting to = {.fd = out, .events = POLLOUT};
    int64_t nap = 0;
    ssize_t copied;

    if (!IN_TASK() || n == 0 || !wants_to_wait(in, out, flags) ||
        !is_of_type(in, S_IFIFO) || !is_of_type(out, S_IFIFO))
        return NEXT(tee)(in, out, n, flags);
    posix__fairly();
    do {
        if (!await_both(&from, &to))
            return -1;
        copied = NEXT(tee)(in, out, n, flags | SPLICE_F_NONBLOCK);
    } while (nap_after_eagain(copied, &nap));
    return copied;
}

INTERPOSE ssize_t vmsplice(int fd, const struct iovec *parts, size_t count,
                           unsigned flags)
{
    struct posix__waiting w = {.fd = fd};
    int64_t nap = 0;
    ssize_t n;
    int mode;

    if (!IN_TASK() || flags & SPLICE_F_NONBLOCK || !posix__blocks(fd) ||
        !is_of_type(fd, S_IFIFO))
        return NEXT(vmsplice)(fd, parts, count, flags);
    posix__fairly();
    mode = NEXT(fcntl)(fd, F_GETFL);
    w.events = (mode & O_ACCMODE) == O_RDONLY ? POLLIN : POLLOUT;
    do {
        if (!await_one(&w))
            return -1;
        n = NEXT(vmsplice)(fd, parts, count, flags | SPLICE_F_NONBLOCK);
    } while (nap_after_eagain(n, &nap));
    return n;
}
