/*
 * devices.c - write(2) to a terminal or another character device.
 *
 * Terminals do not know RWF_NOWAIT, and poll(2) says only that there is room for some
 * bytes: a write of more blocks until the reader has taken the rest, for ever if the
 * reader is a task of this thread. Other devices take what is written as one message. So
 * a thread of the waiting lane writes all of it, with one writev(2).
 *
 * A cancelled task leaves the write to its thread, and so the thread has a copy of what
 * is written.
 */
#include "receive.h"

#include <string.h>
#include <sys/stat.h>

struct device_write {
    int fd, count, error;
    ssize_t result;
    struct iovec parts[]; /* of the copy, which follows them */
};

bool posix__is_device(int fd)
{
    struct stat status;

    return fstat(fd, &status) == 0 && S_ISCHR(status.st_mode);
}

static struct device_write *copy_parts(int fd, const struct iovec *parts, int count)
{
    size_t n = (size_t)count, head = sizeof(struct device_write) + n * sizeof *parts;
    struct device_write *d = malloc(head + posix__total(parts, n));
    char *copy = (char *)d + head;

    if (d == NULL)
        return NULL;
    *d = (struct device_write){.fd = fd, .count = count};
    for (size_t i = 0; i < n; i++) {
        d->parts[i] = (struct iovec){.iov_base = copy, .iov_len = parts[i].iov_len};
        if (parts[i].iov_len > 0)
            memcpy(copy, parts[i].iov_base, parts[i].iov_len);
        copy += parts[i].iov_len;
    }
    return d;
}

static int write_blocking(void *arg)
{
    struct device_write *d = arg;

    d->result = NEXT(writev)(d->fd, d->parts, d->count);
    d->error = errno;
    return 0;
}

/* Owns `d`. -EAGAIN: there is no thread for it. */
static ssize_t write_on_lane(coil_lane lane, struct device_write *d)
{
    int rc = posix__blocking_abandonable(lane, write_blocking, d, free);
    ssize_t result;

    if (rc == -ECANCELED)
        return rc; /* `d` is the thread's */
    result = rc < 0 ? -EAGAIN : d->result < 0 ? -d->error : d->result;
    free(d);
    return result;
}

ssize_t posix__write_device(int fd, const struct iovec *parts, int count)
{
    struct device_write *d = NULL;
    ssize_t result = -EAGAIN;
    coil_lane lane;

    if (posix__may_wait() && posix__waiting_lane(&lane))
        d = copy_parts(fd, parts, count);
    if (d != NULL)
        result = write_on_lane(lane, d);
    if (result == -EAGAIN)
        return NEXT(writev)(fd, parts, count); /* block this thread */
    if (result >= 0)
        return result;
    errno = (int)-result;
    return -1;
}
