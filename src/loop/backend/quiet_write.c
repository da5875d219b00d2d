/*
 * quiet_write.c - write(2) that does not kill.
 *
 * Sockets have MSG_NOSIGNAL; pipes have nothing (RWF_NOSIGNAL came with Linux 6.18), nor
 * has sendfile(2). The SIGPIPE of a write is sent to the thread that writes, so it is
 * enough to block it there and to take it away before unblocking. A program that has it
 * blocked itself is left alone: it cannot be killed. Nor is the program's disposition
 * touched, which belongs to everybody in the process.
 */
#include "quiet_write.h"

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

/* Returns what was written, errno as it was. */
static ssize_t end(struct quiet *quiet, ssize_t written)
{
    static const struct timespec at_once = {0, 0};
    int error = errno;

    if (sigismember(&quiet->before, SIGPIPE))
        return written;
    if (written < 0 && error == EPIPE)
        while (sigtimedwait(&quiet->pipe_signal, NULL, &at_once) < 0 && errno == EINTR)
            ;
    pthread_sigmask(SIG_SETMASK, &quiet->before, NULL);
    errno = error;
    return written;
}

ssize_t coil__writev_quietly(int fd, const struct iovec *parts, size_t count)
{
    struct quiet quiet;

    begin(&quiet);
    return end(&quiet, writev(fd, parts, (int)count));
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
    return end(&quiet, sendfile(fd, file, &offset, len));
}
