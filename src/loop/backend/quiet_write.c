/*
 * quiet_write.c - write(2) that does not kill.
 *
 * Sockets have MSG_NOSIGNAL, pipes have nothing (RWF_NOSIGNAL came with Linux 6.18). The
 * SIGPIPE of a write is sent to the thread that writes, so it is enough to block it there
 * and to take it away before unblocking. A program that has it blocked itself is left
 * alone: it cannot be killed. Nor is the program's disposition touched, which belongs to
 * everybody in the process.
 */
#include "quiet_write.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

ssize_t coil__writev_quietly(int fd, const struct iovec *parts, size_t count)
{
    static const struct timespec at_once = {0, 0};
    sigset_t pipe_signal, before;
    ssize_t written;
    int error;

    sigemptyset(&pipe_signal);
    sigaddset(&pipe_signal, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe_signal, &before);
    written = writev(fd, parts, (int)count);
    if (sigismember(&before, SIGPIPE))
        return written;
    error = errno;
    if (written < 0 && error == EPIPE)
        while (sigtimedwait(&pipe_signal, NULL, &at_once) < 0 && errno == EINTR)
            ;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = error;
    return written;
}

ssize_t coil__write_quietly(int fd, const void *buf, size_t len)
{
    struct iovec part = {.iov_base = (void *)buf, .iov_len = len};

    return coil__writev_quietly(fd, &part, 1);
}
