/* test_wait_fd.c - waiting until a descriptor of any kind is ready. */
#include "../../harness/harness.h"

#include "../socket/sockets.h"

#include <fcntl.h>
#include <poll.h>
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

#define ROUNDS_MOST 1000

/*
 * A task that waits repeatedly for a descriptor that is always ready, and counts its
 * waits after `cancelled` was set.
 */
struct reader {
    int fd, rounds_after;
    bool begun, cancelled;
};

static int wait_for_ever(void *arg)
{
    struct reader *r = arg;
    int rc = 0;

    while (r->rounds_after < ROUNDS_MOST &&
           (rc = coil_wait_fd(r->fd, COIL_READABLE)) > 0) {
        r->begun = true;
        r->rounds_after += r->cancelled;
    }
    return rc < 0 ? rc : 0;
}

IO_TEST(wait_fd_for_what_is_always_ready_can_be_cancelled)
{
    struct reader r = {.fd = open("/dev/zero", O_RDONLY | O_CLOEXEC)};
    coil_task *task;

    CHECK(r.fd >= 0);
    CHECK_INT(coil_spawn(wait_for_ever, &r, NULL, &task), 0);
    while (!r.begun)
        CHECK_INT(coil_yield(), 0);
    r.cancelled = true;
    coil_task_cancel(task, NULL);
    CHECK_INT(coil_task_await(task), -ECANCELED);
    CHECK(r.rounds_after <=
          /*
           * the wait that completed before the cancellation, and 64 more that complete at
           * once
           */
          65);
    coil_task_release(task);
    close(r.fd);
}

static void never(void *arg)
{
    (void)arg;
    CHECK(false);
}

/*
 * When the peer shuts down its sending side, io_uring's polls end, although that event
 * was not requested.
 */
IO_TEST(wait_fd_for_room_goes_on_when_the_peer_says_no_more)
{
    static char bytes[65536];
    coil_scope scope;
    int fds[2], rc;

    CHECK_INT(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds), 0);
    while (write(fds[0], bytes, sizeof bytes) > 0)
        ;
    CHECK_INT(shutdown(fds[1], SHUT_WR), 0);
    coil_scope_enter(&scope, coil_in(COIL_MSEC(20)));
    rc = coil_wait_fd(fds[0], COIL_WRITABLE);
    CHECK_INT(coil_scope_exit(&scope, rc), -ETIMEDOUT);
    while (read(fds[1], bytes, sizeof bytes) > 0)
        ;
    CHECK_INT(coil_wait_fd(fds[0], COIL_WRITABLE), COIL_WRITABLE);
    close(fds[0]);
    close(fds[1]);
}

IO_TEST(wait_fd_fails)
{
    coil_stream *stream;
    int fds[2];

    CHECK_INT(coil_wait_fd(0, 0), -EINVAL);
    CHECK_INT(coil_wait_fd(0, 8), -EINVAL);
    CHECK_INT(coil_wait_fd(-1, COIL_READABLE), -EBADF);
    CHECK_INT(coil_wait_fd(INT32_MAX, COIL_READABLE), -EBADF);
    CHECK_INT(pipe2(fds, O_CLOEXEC), 0);
    CHECK_INT(coil_add_reader(fds[0], never, NULL), 0);
    CHECK_INT(coil_wait_fd(fds[0], COIL_READABLE), -EBUSY);
    CHECK_INT(coil_remove_reader(fds[0]), 1);
    CHECK_INT(coil_stream_adopt(fds[0], &stream), 0);
    CHECK_INT(coil_wait_fd(fds[0], COIL_READABLE), -EBUSY);
    coil_stream_destroy(stream);
    CHECK_INT(coil_wait_fd(fds[0], COIL_READABLE), -EBADF);
    close(fds[1]);
}

IO_TEST(wait_fd_of_what_never_waits_is_ready_at_once)
{
    static const char *const paths[] = {"/proc/self/exe", "/dev/null", "/dev/urandom"};
    struct pollfd polled = {.events = POLLIN};

    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        int fd = open(paths[i], O_RDONLY | O_CLOEXEC);

        CHECK(fd >= 0);
        for (int k = 0; k < 2; k++) {
            CHECK_INT(coil_wait_fd(fd, COIL_READABLE), COIL_READABLE);
            CHECK_INT(coil_wait_fd(fd, COIL_WRITABLE), COIL_WRITABLE);
            polled.fd = fd;
            CHECK_INT(coil_poll(&polled, 1, COIL_NEVER), 1);
            CHECK_INT(polled.revents, POLLIN);
        }
        close(fd);
    }
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
