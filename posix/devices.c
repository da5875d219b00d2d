/*
 * devices.c - write(2) to a terminal or another character device.
 *
 * Terminals do not support RWF_NOWAIT, and poll(2) reports only that there is space for
 * some bytes. A write of more bytes blocks until the reader has taken the rest, which is
 * a deadlock if the reader is a task of the same thread. Writing less is not an option
 * either, because other devices treat each write as one message. Therefore a thread of
 * the waiting lane (posix__waiting_lane()) writes all bytes with one writev(2).
 *
 * If the task is cancelled after the thread has begun, the thread finishes the write, for
 * which it has a copy of the bytes and a duplicate of the descriptor. The call returns
 * the full count, so that the caller does not write the bytes again.
 */
#include "receive.h"

#include <string.h>
#include <sys/stat.h>

struct device_write {
    int fd, count, error;
    bool owns_fd;   /* fd is a duplicate */
    pthread_t task; /* the thread of the task */
    sigset_t mask;  /* the task's mask; SIGTTOU stops the writer unless it is blocked */
    ssize_t result;
    bool begun; /* a thread has begun to write */
    /* points to a variable of the task; set if no thread will write */
    bool *withdrawn;
    struct iovec parts[]; /* point to the copied bytes, which follow this array */
};

bool posix__is_device(int fd)
{
    struct stat status;

    return fstat(fd, &status) == 0 && S_ISCHR(status.st_mode);
}

static void finish_write(struct device_write *d)
{
    if (d->owns_fd)
        NEXT(close)(d->fd);
    free(d);
}

/*
 * Abandon the write of a cancelled task. If no thread has begun to write and this is the
 * task's own thread, the task is still waiting in write_on_lane(). In that case, set
 * `withdrawn`, so that the task reports that nothing was written.
 */
static void abandon_write(void *arg)
{
    struct device_write *d = arg;

    if (!d->begun && pthread_equal(d->task, pthread_self()))
        *d->withdrawn = true;
    finish_write(d);
}

static struct device_write *copy_parts(int fd, const struct iovec *parts, int count)
{
    size_t n = (size_t)count, head = sizeof(struct device_write) + n * sizeof *parts;
    struct device_write *d = malloc(head + posix__total(parts, n));
    char *copy = (char *)d + head;

    if (d == NULL)
        return NULL;
    *d = (struct device_write){.fd = NEXT(fcntl)(fd, F_DUPFD_CLOEXEC, 0),
                               .count = count,
                               .task = pthread_self()};
    d->owns_fd = d->fd >= 0;
    if (!d->owns_fd)
        d->fd = fd;
    pthread_sigmask(SIG_SETMASK, NULL, &d->mask);
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
    sigset_t of_lane;

    d->begun = true;
    pthread_sigmask(SIG_SETMASK, &d->mask, &of_lane);
    d->result = NEXT(writev)(d->fd, d->parts, d->count);
    d->error = errno;
    pthread_sigmask(SIG_SETMASK, &of_lane, NULL);
    return 0;
}

/*
 * Write on a thread of the lane. Takes ownership of `d`, whose parts have `total` bytes.
 * Fails with -EAGAIN if no thread can be started.
 */
static ssize_t write_on_lane(coil_lane lane, struct device_write *d, size_t total)
{
    bool withdrawn = false;
    ssize_t result;
    int rc;

    d->withdrawn = &withdrawn;
    rc = posix__blocking_abandonable(lane, write_blocking, d, abandon_write);
    if (rc == -ECANCELED)
        return withdrawn ? rc : (ssize_t)total;
    result = rc < 0 ? -EAGAIN : d->result < 0 ? -d->error : d->result;
    finish_write(d);
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
        result = write_on_lane(lane, d, posix__total(parts, (size_t)count));
    if (result == -EAGAIN)
        return NEXT(writev)(fd, parts, count); /* block this thread */
    if (result >= 0)
        return result;
    errno = (int)-result;
    return -1;
}
