/*
 * 10_seven_steps.c - one recv(), traced from the poll to the line that called it.
 *
 * The second answer to "How does asyncio actually work?" lists seven steps. The program
 * builds a recv() from a reader and a future, which are public parts of coil, and prints:
 * (1) the loop polls, (2) the descriptor is ready, (3) its bytes are copied, (4) the
 * future is set, (5) the task is woken, (6) its innermost function continues, (7) the
 * caller has the bytes. coil_read() takes a shorter path, without a future.
 *
 * To try: call send_hello() directly in app(). Then only step 7 remains.
 */
#include <coil.h>

#include <stdio.h>
#include <sys/socket.h>

struct receive {
    coil_future *done;
    int fds[2];
    char buffer[64];
    ssize_t n;
};

/* [recv] */
static void readable(void *arg)
{
    struct receive *receive = arg;

    printf("2. the socket is ready\n");
    receive->n = recv(receive->fds[0], receive->buffer, sizeof receive->buffer, 0);
    printf("3. %zd bytes are in the buffer\n", receive->n);
    coil_remove_reader(receive->fds[0]);
    coil_future_set(receive->done, 0, NULL, NULL);
    printf("4. the future is set; the task has not run\n");
}

static void woken(coil_future *future, void *arg)
{
    (void)future, (void)arg;
    printf("5. a turn later its callbacks run: the task is woken\n");
}

static int traced_recv(struct receive *self)
{
    self->n = recv(self->fds[0], self->buffer, sizeof self->buffer, MSG_DONTWAIT);
    if (self->n >= 0)
        return 0;
    int rc = coil_future_create(&self->done);
    if (rc < 0 || (rc = coil_future_add_callback(self->done, woken, NULL)) < 0 ||
        (rc = coil_add_reader(self->fds[0], readable, self)) < 0)
        return rc;
    printf("1. no bytes yet: the task waits, the loop polls\n");
    rc = coil_await(self->done);
    return printf("6. the innermost function continues\n"), rc;
}
/* [end] */

static void send_hello(void *fd)
{
    send(*(int *)fd, "hello", 5, MSG_NOSIGNAL);
}

static int app(void *arg)
{
    struct receive *receive = arg;
    int rc = coil_call_later(COIL_MSEC(10), send_hello, &receive->fds[1], NULL);

    if (rc == 0)
        rc = traced_recv(receive);
    printf("7. the caller has '%.*s'\n", (int)receive->n, receive->buffer);
    coil_future_release(receive->done);
    return rc;
}

int main(void)
{
    struct receive receive = {.n = 0};
    return socketpair(AF_UNIX, SOCK_STREAM, 0, receive.fds) < 0 ||
           coil_run(app, &receive, NULL) < 0;
}
