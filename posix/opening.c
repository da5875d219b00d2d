/*
 * opening.c - open(2) and fopen(3) of a FIFO, which wait until the other end is opened.
 *
 * The kernel does not report that the other end was opened. The task therefore checks at
 * growing intervals, with calls that do not wait:
 *
 *     to write   open(2) with O_NONBLOCK fails with ENXIO while there is no reader.
 *     to read    open(2) with O_NONBLOCK succeeds at once. To a writer, the task then
 *                looks like a reader that is blocked in open(2). If poll(2) reports data
 *                or a hang-up, a writer has opened the FIFO. If a writer has it open but
 *                has written nothing, tee(2), which consumes nothing, fails with EAGAIN
 *                instead of returning 0 for end of file.
 *
 * O_NONBLOCK is removed before the descriptor is returned.
 */
#include "waiting.h"

#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>

/*
 * True if the path is that of a FIFO. If a FIFO replaces another file after this check,
 * opening it blocks the thread. Preserves errno.
 */
static bool is_fifo(int folder, const char *path)
{
    struct stat status;
    int saved = errno;
    bool is = fstatat(folder, path, &status, 0) == 0 && S_ISFIFO(status.st_mode);

    errno = saved;
    return is;
}

/* True if open(2) would wait for the other end of a FIFO. */
static bool may_wait_for_peer(int folder, const char *path, int flags)
{
    if (flags & (O_NONBLOCK | O_PATH | O_DIRECTORY) || (flags & O_ACCMODE) == O_RDWR ||
        (flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL))
        return false;
    return is_fifo(folder, path) && posix__may_wait();
}

static int close_and_fail(int fd)
{
    int saved = errno;

    NEXT(close)(fd);
    errno = saved;
    return -1;
}

static int make_blocking(int fd, int flags)
{
    return NEXT(fcntl)(fd, F_SETFL, flags & ~O_NONBLOCK) < 0 ? close_and_fail(fd) : fd;
}

static int open_to_write(int folder, const char *path, int flags, mode_t mode)
{
    int64_t nap = 0;
    int fd, saved = errno;

    while ((fd = NEXT(openat)(folder, path, flags | O_NONBLOCK, mode)) < 0 &&
           errno == ENXIO)
        if (posix__nap(&nap, COIL_NEVER) < 0)
            return -1;
    if (fd < 0)
        return -1;
    errno = saved;
    return make_blocking(fd, flags);
}

/*
 * Return 1 if there is or was a writer, 0 if there was none yet, or -1. `scratch` is a
 * pipe for tee(2).
 */
static int has_writer(int fd, const int scratch[2])
{
    struct pollfd fifo = {.fd = fd, .events = POLLIN};
    ssize_t n;

    if (NEXT(poll)(&fifo, 1, 0) > 0)
        return 1;
    n = NEXT(tee)(fd, scratch[1], 1, SPLICE_F_NONBLOCK);
    if (n < 0)
        return errno == EAGAIN ? 1 : -1;
    return n > 0;
}

static int wait_for_writer(int fd)
{
    int64_t nap = 0;
    int scratch[2], rc, saved;

    if (pipe2(scratch, O_CLOEXEC) < 0)
        return -1;
    while ((rc = has_writer(fd, scratch)) == 0)
        if ((rc = posix__nap(&nap, COIL_NEVER)) < 0)
            break;
    saved = errno;
    NEXT(close)(scratch[0]);
    NEXT(close)(scratch[1]);
    errno = saved;
    return rc < 0 ? -1 : 0;
}

static int open_to_read(int folder, const char *path, int flags, mode_t mode)
{
    int saved = errno, fd = NEXT(openat)(folder, path, flags | O_NONBLOCK, mode);

    if (fd < 0)
        return -1;
    if (wait_for_writer(fd) < 0)
        return close_and_fail(fd);
    errno = saved;
    return make_blocking(fd, flags);
}

static int open_fifo(int folder, const char *path, int flags, mode_t mode)
{
    return (flags & O_ACCMODE) == O_WRONLY ? open_to_write(folder, path, flags, mode)
                                           : open_to_read(folder, path, flags, mode);
}

/* ---- the interposed functions ------------------------------------------------------ */

/*
 * Return the argument after `last`, the mode. Callers pass a mode only with some flags,
 * but it can always be read and passed on unchanged.
 */
#define MODE_AFTER(last)                                                                 \
    __extension__({                                                                      \
        va_list args;                                                                    \
        mode_t given;                                                                    \
                                                                                         \
        va_start(args, last);                                                            \
        given = va_arg(args, mode_t);                                                    \
        va_end(args);                                                                    \
        given;                                                                           \
    })

INTERPOSE int open(const char *path, int flags, ...)
{
    mode_t mode = MODE_AFTER(flags);

    if (!IN_TASK() || !may_wait_for_peer(AT_FDCWD, path, flags))
        return NEXT(open)(path, flags, mode);
    return open_fifo(AT_FDCWD, path, flags, mode);
}

INTERPOSE int open64(const char *path, int flags, ...)
{
    mode_t mode = MODE_AFTER(flags);

    if (!IN_TASK() || !may_wait_for_peer(AT_FDCWD, path, flags))
        return NEXT(open64)(path, flags, mode);
    return open_fifo(AT_FDCWD, path, flags, mode);
}

INTERPOSE int openat(int folder, const char *path, int flags, ...)
{
    mode_t mode = MODE_AFTER(flags);

    if (!IN_TASK() || !may_wait_for_peer(folder, path, flags))
        return NEXT(openat)(folder, path, flags, mode);
    return open_fifo(folder, path, flags, mode);
}

INTERPOSE int openat64(int folder, const char *path, int flags, ...)
{
    mode_t mode = MODE_AFTER(flags);

    if (!IN_TASK() || !may_wait_for_peer(folder, path, flags))
        return NEXT(openat64)(folder, path, flags, mode);
    return open_fifo(folder, path, flags, mode);
}

INTERPOSE int __open_2(const char *path, int flags)
{
    if (!IN_TASK() || !may_wait_for_peer(AT_FDCWD, path, flags))
        return NEXT(__open_2)(path, flags);
    return open_fifo(AT_FDCWD, path, flags, 0);
}

INTERPOSE int __open64_2(const char *path, int flags)
{
    if (!IN_TASK() || !may_wait_for_peer(AT_FDCWD, path, flags))
        return NEXT(__open64_2)(path, flags);
    return open_fifo(AT_FDCWD, path, flags, 0);
}

INTERPOSE int __openat_2(int folder, const char *path, int flags)
{
    if (!IN_TASK() || !may_wait_for_peer(folder, path, flags))
        return NEXT(__openat_2)(folder, path, flags);
    return open_fifo(folder, path, flags, 0);
}

INTERPOSE int __openat64_2(int folder, const char *path, int flags)
{
    if (!IN_TASK() || !may_wait_for_peer(folder, path, flags))
        return NEXT(__openat64_2)(folder, path, flags);
    return open_fifo(folder, path, flags, 0);
}

INTERPOSE int creat(const char *path, mode_t mode)
{
    static const int flags = O_CREAT | O_WRONLY | O_TRUNC;

    if (!IN_TASK() || !may_wait_for_peer(AT_FDCWD, path, flags))
        return NEXT(creat)(path, mode);
    return open_fifo(AT_FDCWD, path, flags, mode);
}

INTERPOSE int creat64(const char *path, mode_t mode)
{
    static const int flags = O_CREAT | O_WRONLY | O_TRUNC;

    if (!IN_TASK() || !may_wait_for_peer(AT_FDCWD, path, flags))
        return NEXT(creat64)(path, mode);
    return open_fifo(AT_FDCWD, path, flags, mode);
}

/* ---- fopen() ----------------------------------------------------------------------- */

/*
 * Return the flags of open(2) for a mode of fopen(3), or -1 if the caller must use the C
 * library's fopen(): the mode is invalid, fopen() will not wait for a peer ("r+"), or
 * fdopen() cannot replace it because the FILE has wide characters (",ccs=").
 */
static int flags_of(const char *mode)
{
    static const int create = O_WRONLY | O_CREAT;
    int flags = *mode == 'r'   ? O_RDONLY
                : *mode == 'w' ? create | O_TRUNC
                : *mode == 'a' ? create | O_APPEND
                               : -1;

    if (flags < 0 || strpbrk(mode, "+,") != NULL)
        return -1;
    return flags | (strchr(mode, 'x') != NULL ? O_EXCL : 0) |
           (strchr(mode, 'e') != NULL ? O_CLOEXEC : 0);
}

static FILE *open_stream(const char *path, const char *mode)
{
    int fd = open_fifo(AT_FDCWD, path, flags_of(mode), 0666);
    FILE *file = fd >= 0 ? fdopen(fd, mode) : NULL;

    if (fd >= 0 && file == NULL)
        close_and_fail(fd);
    return file;
}

static bool waits_for_peer(const char *path, const char *mode)
{
    int flags = flags_of(mode);

    return flags >= 0 && may_wait_for_peer(AT_FDCWD, path, flags);
}

INTERPOSE FILE *fopen(const char *restrict path, const char *restrict mode)
{
    if (!IN_TASK() || !waits_for_peer(path, mode))
        return NEXT(fopen)(path, mode);
    return open_stream(path, mode);
}

INTERPOSE FILE *fopen64(const char *restrict path, const char *restrict mode)
{
    if (!IN_TASK() || !waits_for_peer(path, mode))
        return NEXT(fopen64)(path, mode);
    return open_stream(path, mode);
}
