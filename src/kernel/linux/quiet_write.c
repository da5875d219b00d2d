/*
 * quiet_write.c - writes without causing SIGPIPE.
 *
 * Writes to sockets use MSG_NOSIGNAL, and writes to other files use RWF_NOSIGNAL (since
 * Linux 6.18). For pipes on older kernels, and for sendfile(2), SIGPIPE is blocked on the
 * writing thread instead, and a pending SIGPIPE is consumed before the signal is
 * unblocked. The signal may be pending even if the call has returned a count: if the peer
 * closes during a sendfile(2), the thread gets the signal, and the call returns the
 * number of bytes sent before that. If the program itself blocks SIGPIPE, neither is
 * necessary. The disposition is not changed, because it belongs to the whole process.
 */
#include "../quiet_write.h"

#include "../../base/fault.h"
#include "constants.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/sendfile.h>
#include <time.h>
#include <unistd.h>

struct quiet {
    sigset_t pipe_signal, before;
};

static void begin(struct quiet *quiet)
{
    sigemptyset(&quiet->pipe_signal);
    sigaddset(&quiet->pipe_signal, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &quiet->pipe_signal, &quiet->before);
}

/*
 * Consume a SIGPIPE after a write of `wanted` bytes. Returns `written` and preserves
 * errno.
 */
static ssize_t end(struct quiet *quiet, ssize_t written, size_t wanted)
{
    static const struct timespec at_once = {0, 0};
    int error = errno;

    if (sigismember(&quiet->before, SIGPIPE))
        return written;
    if (written < 0 ? error == EPIPE : (size_t)written < wanted)
        while (sigtimedwait(&quiet->pipe_signal, NULL, &at_once) < 0 && errno == EINTR)
            ;
    pthread_sigmask(SIG_SETMASK, &quiet->before, NULL);
    errno = error;
    return written;
}

/*
 * Write at the file's own position with RWF_NOSIGNAL. Fails if the kernel or the file
 * does not support this flag.
 */
static ssize_t write_without_signal(int fd, const struct iovec *parts, size_t count)
{
    static _Atomic bool refused;
    ssize_t written;

    if (atomic_load_explicit(&refused, memory_order_relaxed)) {
        errno = EOPNOTSUPP;
        return -1;
    }
    written = COIL__CALL(EOPNOTSUPP, pwritev2(fd, parts, (int)count, -1, RWF_NOSIGNAL));
    if (written < 0 && errno == EOPNOTSUPP)
        atomic_store_explicit(&refused, true, memory_order_relaxed);
    return written;
}

ssize_t coil__writev_quietly(int fd, const struct iovec *parts, size_t count)
{
    struct quiet quiet;
    ssize_t written = write_without_signal(fd, parts, count);
    size_t wanted = 0;

    if (written >= 0 || errno != EOPNOTSUPP)
        return written;
    begin(&quiet);
    for (size_t i = 0; i < count; i++)
        wanted += parts[i].iov_len;
    return end(&quiet, writev(fd, parts, (int)count), wanted);
}

ssize_t coil__write_quietly(int fd, const void *buf, size_t len)
{
    struct iovec part = {.iov_base = (void *)buf, .iov_len = len};

    return coil__writev_quietly(fd, &part, 1);
}

ssize_t coil__sendfile_quietly(int fd, int file, off_t offset, size_t len)
{
    struct quiet quiet;

    begin(&quiet);
    return end(&quiet, sendfile(fd, file, &offset, len), len);
}
