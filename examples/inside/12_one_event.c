/*
 * 12_one_event.c - one event, "this descriptor is ready", for any kind of I/O.
 *
 * A function pointer says how to try the I/O. Waiting is the same for a pipe and a
 * socket: if the I/O would block, the task parks until a callback unparks it.
 *
 * To try: in app(), call send_late() before the loop does. Neither wait then suspends.
 */
#include <coil.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

/* [event] */
struct when_ready {
    coil_awaitable awaitable; // must be the first member
    int fd;
    // tries the I/O: differs for each kind
    ssize_t (*try)(int fd, void *buffer, size_t n);
    int suspended; // number of suspensions
};

static ssize_t try_recv(int fd, void *buffer, size_t n)
{
    return recv(fd, buffer, n, MSG_DONTWAIT); // for a pipe, just read()
}

static void ready(void *task)
{
    coil_unpark(task, 0);
}

static int when_ready_await(void *self)
{
    struct when_ready *event = self;
    char buffer[64];
    ssize_t n;

    while ((n = event->try(event->fd, buffer, sizeof buffer)) < 0) {
        if (errno != EAGAIN)
            return -errno;
        int rc = coil_add_reader(event->fd, ready, coil_task_current());
        if (rc < 0 || (rc = coil_park()) < 0)
            return coil_remove_reader(event->fd), rc; // out of memory, or cancelled
        coil_remove_reader(event->fd);
        event->suspended++;
    }
    return (int)n;
}
/* [end] */

static void send_late(void *fd)
{
    send(*(int *)fd, "late", 4, MSG_NOSIGNAL);
}

static int app(void *arg)
{
    int *pipe = arg, *sockets = pipe + 2;
    int rc = coil_call_later(COIL_MSEC(10), send_late, &sockets[1], NULL);
    struct when_ready events[] = {{{when_ready_await}, pipe[0], read, 0},
                                  {{when_ready_await}, sockets[0], try_recv, 0}};

    for (int i = 0; i < 2 && rc >= 0; i++) {
        rc = coil_awaitable_await(&events[i].awaitable);
        printf("%d bytes, suspended %d times\n", rc, events[i].suspended);
    }
    return rc;
}

int main(void)
{
    int fds[4];
    return pipe2(fds, O_NONBLOCK) < 0 || write(fds[1], "in time", 7) < 0 ||
           socketpair(AF_UNIX, SOCK_STREAM, 0, fds + 2) < 0 ||
           coil_run(app, fds, NULL) < 0;
}
