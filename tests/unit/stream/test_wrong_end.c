/*
 * test_wrong_end.c - on every backend, calls that cannot succeed fail at once instead of
 * waiting for an event that never occurs.
 */
#include "../socket/sockets.h"

#include "../../harness/harness.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <unistd.h>

/* Check the result of a call, which must not wait until its deadline. */
#define AT_ONCE(call, expected)                                                          \
    do {                                                                                 \
        coil_scope at_once;                                                              \
                                                                                         \
        coil_scope_enter(&at_once, coil_in(COIL_SEC(2)));                                \
        CHECK_INT(coil_scope_exit_count(&at_once, (call)), (expected));                  \
    } while (0)

static coil_stream *adopt(int fd)
{
    coil_stream *stream = NULL;

    CHECK(fd >= 0);
    CHECK_INT(coil_stream_adopt(fd, &stream), 0);
    return stream;
}

/*
 * Check that reads and waits for readability fail with `error`. Each call is made twice,
 * because the second call must not wait, either, although the backend has recorded the
 * state of the descriptor.
 */
static void check_unreadable(coil_stream *stream, int error)
{
    coil_stream *ends[2];
    const void *bytes;
    char buf[16];

    CHECK_INT(coil_stream_pair(ends), 0);
    for (int i = 0; i < 2; i++) {
        AT_ONCE(coil_stream_wait_readable(stream), error);
        AT_ONCE(coil_read(stream, buf, sizeof buf), error);
        AT_ONCE(coil_read_exact(stream, buf, sizeof buf), error);
        AT_ONCE(coil_read_line(stream, buf, sizeof buf), error);
        AT_ONCE(coil_peek(stream, &bytes, 1), error);
        AT_ONCE(coil_copy(stream, ends[0]), error);
    }
    destroy_streams(ends);
    coil_stream_destroy(stream);
}

IO_TEST(wrong_end_of_a_pipe)
{
    coil_stream *ends[2];
    int fds[2];

    CHECK_INT(coil_pipe(ends), 0);
    AT_ONCE(coil_write(ends[0], "x", 1), -EBADF);
    AT_ONCE(coil_writev(ends[0], &(struct iovec){"x", 1}, 1), -EBADF);
    check_unreadable(ends[1], -EBADF);
    coil_stream_destroy(ends[0]);

    /* an adopted descriptor that was blocking */
    CHECK_INT(pipe2(fds, O_CLOEXEC), 0);
    check_unreadable(adopt(fds[1]), -EBADF);
    close(fds[0]);
}

static int listen_at(int family)
{
    struct sockaddr_in internet = {.sin_family = AF_INET};
    struct sockaddr_un local = {.sun_family = AF_UNIX}; /* the kernel chooses the name */
    int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (family == AF_INET)
        CHECK_INT(bind(fd, (struct sockaddr *)&internet, sizeof internet), 0);
    else
        CHECK_INT(bind(fd, (struct sockaddr *)&local, sizeof local.sun_family), 0);
    CHECK_INT(listen(fd, 1), 0);
    return fd;
}

IO_TEST(wrong_end_is_a_listening_socket)
{
    check_unreadable(adopt(listen_at(AF_INET)), -ENOTCONN);
    check_unreadable(adopt(listen_at(AF_UNIX)), -EINVAL);
}

IO_TEST(wrong_end_is_a_pidfd)
{
    int fd = (int)syscall(SYS_pidfd_open, getpid(), 0);

    if (fd < 0)
        test_skip("pidfd_open(2) is missing");
    check_unreadable(adopt(fd), -EINVAL);
}

IO_TEST(wrong_end_is_a_set_of_epoll)
{
    check_unreadable(adopt(epoll_create1(EPOLL_CLOEXEC)), -EINVAL);
}

IO_TEST(wrong_end_is_a_folder)
{
    coil_stream *stream = adopt(open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    char buf[16];

    /* counts as readable, because a read does not wait */
    AT_ONCE(coil_stream_wait_readable(stream), 0);
    AT_ONCE(coil_read(stream, buf, sizeof buf), -EISDIR);
    coil_stream_destroy(stream);
}

/* Calls on a descriptor that other code has closed fail at once, too. */
IO_TEST(wrong_end_is_closed)
{
    coil_stream *ends[2];
    char byte;

    CHECK_INT(coil_pipe(ends), 0);
    close(coil_stream_fd(ends[0]));
    AT_ONCE(coil_stream_wait_readable(ends[0]), -EBADF);
    AT_ONCE(coil_read(ends[0], &byte, 1), -EBADF);
    destroy_streams(ends);
}

static int read_eight(void *arg)
{
    uint64_t count;

    return (int)coil_read(arg, &count, sizeof count);
}

/*
 * Check a descriptor from which only whole records can be read. After a cancelled read
 * the backend has recorded that the descriptor is empty, but a short read must still
 * fail.
 */
static void check_short(int fd)
{
    coil_stream *stream = adopt(fd);
    char buf[4];

    AT_ONCE(coil_read(stream, buf, sizeof buf), -EINVAL);
    for (int i = 0; i < 3; i++) {
        coil_task *task;

        CHECK_INT(coil_spawn(read_eight, stream, NULL, &task), 0);
        settle();
        coil_task_cancel(task, NULL);
        finish_cancelled(task);
        AT_ONCE(coil_read(stream, buf, sizeof buf), -EINVAL);
    }
    coil_stream_destroy(stream);
}

IO_TEST(short_read_of_an_eventfd)
{
    coil_stream *stream;
    uint64_t count = 1;
    char buf[16];

    check_short(eventfd(0, EFD_CLOEXEC));
    stream = adopt(eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK));
    AT_ONCE(coil_stream_wait_readable(stream), 0);
    /* after this short read the descriptor is empty */
    AT_ONCE(coil_read(stream, buf, sizeof buf), 8);
    AT_ONCE(coil_read(stream, buf, 4), -EINVAL);
    AT_ONCE(coil_write(stream, &count, 4), -EINVAL);
    count = UINT64_MAX - 1;
    AT_ONCE(coil_write(stream, &count, 8), 8); /* the counter is full */
    AT_ONCE(coil_write(stream, &count, 4), -EINVAL);
    coil_stream_destroy(stream);
}

IO_TEST(short_read_of_a_timerfd)
{
    check_short(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC));
}

IO_TEST(short_read_of_a_signalfd)
{
    coil_stream *stream;
    char buf[16];
    sigset_t none;

    sigemptyset(&none);
    stream = adopt(signalfd(-1, &none, SFD_CLOEXEC));
    AT_ONCE(coil_read(stream, buf, sizeof buf), -EINVAL);
    coil_stream_destroy(stream);
}

/* A wait for readability lasts until there is data, and does not consume it. */
IO_TEST(wait_for_readability_of_an_eventfd_lasts_until_there_is_data)
{
    coil_stream *stream = adopt(eventfd(0, EFD_CLOEXEC));
    uint64_t one = 1;
    coil_scope scope;

    coil_scope_enter(&scope, coil_in(COIL_MSEC(5)));
    CHECK_INT(coil_scope_exit(&scope, coil_stream_wait_readable(stream)), -ETIMEDOUT);
    CHECK_INT(write(coil_stream_fd(stream), &one, sizeof one), sizeof one);
    AT_ONCE(coil_stream_wait_readable(stream), 0);
    AT_ONCE(read_eight(stream), 8);
    coil_stream_destroy(stream);
}
