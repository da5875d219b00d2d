/*
 * echo_fd.c - examples/echo.c without streams: plain sockets and coil_wait_fd().
 *
 * Each system call is tried first. If it would block, coil_wait_fd() waits for the
 * descriptor, and the call is tried again. The program runs both on coil and on
 * mini/coil.h, until Ctrl-C. Ctrl-C cancels the main task, which ends the wait in
 * listen_and_serve(). After that, the group ends the conversations, and each function
 * closes its descriptor.
 */
#include <coil.h>

#include <arpa/inet.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

/* After a failed call, wait if it should be retried. Returns 0 to retry, or the error. */
static int wait_or_fail(int fd, unsigned events)
{
    if (errno != EAGAIN)
        return -errno;
    int rc = coil_wait_fd(fd, events);
    return rc < 0 ? rc : 0;
}

static int send_all(int fd, const char *bytes, size_t n)
{
    while (n > 0) {
        ssize_t sent = send(fd, bytes, n, MSG_DONTWAIT | MSG_NOSIGNAL);
        int rc = sent < 0 ? wait_or_fail(fd, COIL_WRITABLE) : 0;
        if (rc < 0)
            return rc;
        bytes += sent > 0 ? sent : 0;
        n -= sent > 0 ? (size_t)sent : 0;
    }
    return 0;
}

static int echo(void *arg)
{
    const int fd = *(const int *)arg;
    char bytes[4096];
    int rc = 0;

    while (rc == 0) {
        ssize_t n = recv(fd, bytes, sizeof bytes, MSG_DONTWAIT);
        if (n == 0)
            break; // the client has sent everything
        rc = n < 0 ? wait_or_fail(fd, COIL_READABLE) : send_all(fd, bytes, (size_t)n);
    }
    close(fd);
    return rc == -ECANCELED ? rc : 0; // a client that disconnects is not an error
}

static int accept_all(int listener, coil_group *conversations)
{
    coil_spawn_opts opts = {.arg_bytes = sizeof(int)};
    int rc = 0;

    while (rc == 0) {
        int fd = accept(listener, NULL, NULL);
        if (fd < 0) {
            rc = wait_or_fail(listener, COIL_READABLE);
            continue;
        }
        rc = coil_group_spawn(conversations, echo, &fd, &opts, NULL);
        if (rc < 0)
            close(fd);
        else
            rc = coil_yield(); // lets echo() start and take over the descriptor
    }
    return rc;
}

static int listen_and_serve(void *arg)
{
    (void)arg;
    struct sockaddr_in at = {.sin_family = AF_INET};
    socklen_t size = sizeof at;
    coil_group conversations;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (fd < 0 || bind(fd, (struct sockaddr *)&at, size) < 0 || listen(fd, 100) < 0 ||
        getsockname(fd, (struct sockaddr *)&at, &size) < 0)
        return -errno;
    printf("listening on 127.0.0.1:%u\n", ntohs(at.sin_port));
    fflush(stdout);
    coil_group_enter(&conversations);
    int rc = coil_group_exit(&conversations, accept_all(fd, &conversations));
    close(fd);
    printf("all conversations have ended\n");
    return rc;
}

int main(void)
{
    int rc = coil_run(listen_and_serve, NULL, NULL);

    return rc < 0 && rc != -EINTR;
}
