/*
 * syncing.c - fsync(2) and its relatives.
 *
 * These functions block until the disk has written the data, and cannot be made
 * non-blocking. Therefore the call is made on a thread of the file lane, and the task
 * waits for the thread.
 */
#include "waiting.h"

#include <sys/mman.h>

struct sync {
    int (*fn)(const struct sync *s);
    int (*by_fd)(int fd);
    int fd, flags, error;
    unsigned range_flags;
    void *begin;
    size_t bytes;
    off64_t offset, length;
};

static int sync_on_lane(void *arg)
{
    struct sync *s = arg;
    int rc = s->fn(s);

    s->error = errno;
    return rc;
}

/*
 * Call s->fn(s) on a thread of the file lane. If posix__blocking() fails and `error` is
 * still 0, `fn` was not called, because the task was cancelled or no thread could be
 * started.
 */
static int sync_in_task(struct sync *s)
{
    int saved = errno, rc;

    if (!posix__may_wait())
        return s->fn(s);
    s->error = 0;
    rc = posix__blocking(COIL_LANE_FILE, sync_on_lane, s);
    if (rc < 0 && s->error == 0)
        s->error = -rc;
    errno = rc < 0 ? s->error : saved;
    return rc < 0 ? -1 : rc;
}

static int call_by_fd(const struct sync *s)
{
    return s->by_fd(s->fd);
}

static int sync_fd_in_task(int (*fn)(int fd), int fd)
{
    return sync_in_task(&(struct sync){.fn = call_by_fd, .by_fd = fn, .fd = fd});
}

INTERPOSE int fsync(int fd)
{
    if (!IN_TASK())
        return NEXT(fsync)(fd);
    return sync_fd_in_task(NEXT(fsync), fd);
}

INTERPOSE int fdatasync(int fd)
{
    if (!IN_TASK())
        return NEXT(fdatasync)(fd);
    return sync_fd_in_task(NEXT(fdatasync), fd);
}

INTERPOSE int syncfs(int fd)
{
    if (!IN_TASK())
        return NEXT(syncfs)(fd);
    return sync_fd_in_task(NEXT(syncfs), fd);
}

static int call_sync(const struct sync *s)
{
    (void)s;
    NEXT(sync)();
    return 0;
}

INTERPOSE void sync(void)
{
    if (!IN_TASK())
        NEXT(sync)();
    else
        sync_in_task(&(struct sync){.fn = call_sync});
}

static int call_sync_file_range(const struct sync *s)
{
    return NEXT(sync_file_range)(s->fd, s->offset, s->length, s->range_flags);
}

INTERPOSE int sync_file_range(int fd, off64_t offset, off64_t length, unsigned flags)
{
    if (!IN_TASK())
        return NEXT(sync_file_range)(fd, offset, length, flags);
    return sync_in_task(&(struct sync){.fn = call_sync_file_range,
                                       .fd = fd,
                                       .offset = offset,
                                       .length = length,
                                       .range_flags = flags});
}

static int call_msync(const struct sync *s)
{
    return NEXT(msync)(s->begin, s->bytes, s->flags);
}

INTERPOSE int msync(void *begin, size_t bytes, int flags)
{
    if (!(flags & MS_SYNC) || !IN_TASK())
        return NEXT(msync)(begin, bytes, flags);
    return sync_in_task(
        &(struct sync){.fn = call_msync, .begin = begin, .bytes = bytes, .flags = flags});
}
