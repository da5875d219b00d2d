/*
 * test_wait_fd.c - waiting for any descriptor.
 */
#include "../harness/harness.h"

#include "sockets.h"

#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct waiting {
    int fd;
    unsigned events;
    int rc;
    bool ended;
};

static int do_wait(void *arg)
{
    struct waiting *w = arg;

    w->rc = coil_wait_fd(w->fd, w->events);
    w->ended = true;
    return 0;
}

IO_TEST(wait_fd_until_readable)
{
    struct waiting w = {.events = COIL_READABLE};
    coil_task *task;
    int fds[2];

    CHECK_INT(pipe2(fds, O_CLOEXEC), 0);
    CHECK_INT(coil_wait_fd(fds[1], COIL_READABLE | COIL_WRITABLE), COIL_WRITABLE);
    w.fd = fds[0];
    CHECK_INT(coil_spawn(do_wait, &w, NULL, &task), 0);
    settle();
    CHECK(!w.ended);
    CHECK_INT(write(fds[1], "x", 1), 1);
    finish(task);
    CHECK_INT(w.rc, COIL_READABLE);
    CHECK_INT(coil_wait_fd(fds[0], COIL_READABLE), COIL_READABLE);
    close(fds[1]);
    close(fds[0]);
}

IO_TEST(wait_fd_in_both_directions_at_once)
{
    struct waiting in = {.events = COIL_READABLE}, out = {.events = COIL_WRITABLE};
    coil_task *reader, *writer;
    char buf[4096] = {0};
    int fds[2];

    CHECK_INT(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds), 0);
    while (write(fds[0], buf, sizeof buf) > 0)
        ;
    in.fd = out.fd = fds[0];
    CHECK_INT(coil_spawn(do_wait, &in, NULL, &reader), 0);
    CHECK_INT(coil_spawn(do_wait, &out, NULL, &writer), 0);
    settle();
    CHECK(!in.ended && !out.ended);
    CHECK_INT(coil_wait_fd(fds[0], COIL_READABLE), -EBUSY);
    CHECK_INT(write(fds[1], "x", 1), 1);
    finish(reader);
    CHECK_INT(in.rc, COIL_READABLE);
    CHECK(!out.ended);
    while (read(fds[1], buf, sizeof buf) > 0)
        ;
    finish(writer);
    CHECK_INT(out.rc, COIL_WRITABLE);
    close(fds[0]);
    close(fds[1]);
}

IO_TEST(wait_fd_counts_a_hang_up_as_readable)
{
    int fds[2];

    CHECK_INT(pipe2(fds, O_CLOEXEC), 0);
    close(fds[1]);
    CHECK_INT(coil_wait_fd(fds[0], COIL_READABLE), COIL_READABLE);
    close(fds[0]);
}

static void never(void *arg)
{
    (void)arg;
    CHECK(false);
}

IO_TEST(wait_fd_fails)
{
    coil_stream *stream;
    int fds[2], file;

    CHECK_INT(coil_wait_fd(0, 0), -EINVAL);
    CHECK_INT(coil_wait_fd(0, 8), -EINVAL);
    CHECK_INT(coil_wait_fd(-1, COIL_READABLE), -EBADF);
    CHECK_INT(pipe2(fds, O_CLOEXEC), 0);
    CHECK_INT(coil_add_reader(fds[0], never, NULL), 0);
    CHECK_INT(coil_wait_fd(fds[0], COIL_READABLE), -EBUSY);
    CHECK_INT(coil_remove_reader(fds[0]), 1);
    CHECK_INT(coil_stream_adopt(fds[0], &stream), 0);
    CHECK_INT(coil_wait_fd(fds[0], COIL_READABLE), -EBUSY);
    coil_stream_destroy(stream);
    CHECK_INT(coil_wait_fd(fds[0], COIL_READABLE), -EBADF);
    close(fds[1]);
    file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    CHECK_INT(coil_wait_fd(file, COIL_READABLE),
              strcmp(coil_backend_name(), "epoll") == 0 ? -EPERM : (int)COIL_READABLE);
    close(file);
}

IO_TEST(wait_fd_cancelled_leaves_the_descriptor_free)
{
    struct waiting w = {.events = COIL_READABLE};
    coil_stream *stream;
    coil_task *task;
    int fds[2];

    CHECK_INT(pipe2(fds, O_CLOEXEC), 0);
    w.fd = fds[0];
    CHECK_INT(coil_spawn(do_wait, &w, NULL, &task), 0);
    settle();
    coil_task_cancel(task, NULL);
    finish(task);
    CHECK_INT(w.rc, -ECANCELED);
    CHECK_INT(coil_stream_adopt(fds[0], &stream), 0);
    coil_stream_destroy(stream);
    close(fds[1]);
}
