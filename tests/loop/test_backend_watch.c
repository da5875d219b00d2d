/*
 * test_backend_watch.c - readers and writers: level-triggered callbacks.
 */
#include "../harness/harness.h"

#include <coil.h>

#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct counter {
    int calls, wanted;
    coil_task *waiting;
};

static void count(void *arg)
{
    struct counter *c = arg;

    if (++c->calls == c->wanted)
        coil_unpark(c->waiting, 0);
}

/* Until it was called so often more. */
static void wait_for_calls(struct counter *c, int more)
{
    c->wanted = c->calls + more;
    c->waiting = coil_task_current();
    CHECK_INT(coil_park(), 0);
}

static void open_pair(int fds[2])
{
    CHECK_INT(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds), 0);
}

static void close_pair(int fds[2])
{
    close(fds[0]);
    close(fds[1]);
}

IO_TEST(reader_is_called_as_long_as_there_is_something)
{
    struct counter c = {0};
    char buf[8];
    int fds[2];

    open_pair(fds);
    CHECK_INT(coil_add_reader(fds[0], count, &c), 0);
    coil_sleep(COIL_MSEC(1));
    CHECK_INT(c.calls, 0);
    CHECK_INT(write(fds[1], "x", 1), 1);
    wait_for_calls(&c, 3);
    CHECK_INT(read(fds[0], buf, sizeof buf), 1);
    coil_sleep(COIL_MSEC(1)); /* one that was ready already may come */
    c.calls = 0;
    coil_sleep(COIL_MSEC(1));
    CHECK_INT(c.calls, 0);
    CHECK_INT(coil_remove_reader(fds[0]), 1);
    CHECK_INT(coil_remove_reader(fds[0]), 0);
    close_pair(fds);
}

IO_TEST(reader_is_called_at_the_end_of_file)
{
    struct counter c = {0};
    int fds[2];

    open_pair(fds);
    CHECK_INT(coil_add_reader(fds[0], count, &c), 0);
    close(fds[1]);
    wait_for_calls(&c, 2);
    CHECK_INT(coil_remove_reader(fds[0]), 1);
    close(fds[0]);
}

IO_TEST(reader_and_writer_of_one_descriptor)
{
    struct counter in = {0}, out = {0};
    int fds[2];

    open_pair(fds);
    CHECK_INT(coil_add_reader(fds[0], count, &in), 0);
    CHECK_INT(coil_add_writer(fds[0], count, &out), 0);
    wait_for_calls(&out, 2);
    CHECK_INT(in.calls, 0);
    CHECK_INT(coil_remove_writer(fds[0]), 1);
    out.calls = 0;
    CHECK_INT(write(fds[1], "x", 1), 1);
    wait_for_calls(&in, 2);
    CHECK_INT(out.calls, 0);
    CHECK_INT(coil_remove_reader(fds[0]), 1);
    close_pair(fds);
}

IO_TEST(reader_replaces_the_one_before)
{
    struct counter before = {0}, after = {0};
    int fds[2];

    open_pair(fds);
    CHECK_INT(write(fds[1], "x", 1), 1);
    CHECK_INT(coil_add_reader(fds[0], count, &before), 0);
    wait_for_calls(&before, 1);
    CHECK_INT(coil_add_reader(fds[0], count, &after), 0);
    before.calls = 0;
    wait_for_calls(&after, 2);
    CHECK_INT(before.calls, 0);
    CHECK_INT(coil_remove_reader(fds[0]), 1);
    close_pair(fds);
}

/* Added thrice it is one; removed and closed, its number hears nothing of the old. */
IO_TEST(reader_removed_and_closed_at_once)
{
    struct counter before = {0}, after = {0};
    int fds[2], others[2];

    for (int i = 0; i < 6; i++) {
        open_pair(fds);
        open_pair(others);
        for (int k = 0; k < 3; k++)
            CHECK_INT(coil_add_reader(fds[0], count, &before), 0);
        CHECK_INT(coil_add_writer(fds[0], count, &before), 0);
        if (i % 2 == 0)
            coil_sleep(COIL_USEC(50));
        CHECK_INT(write(fds[1], "x", 1), 1);
        CHECK_INT(coil_remove_reader(fds[0]), 1);
        CHECK_INT(coil_remove_writer(fds[0]), 1);
        CHECK_INT(coil_remove_reader(fds[0]), 0);
        before.calls = after.calls = after.wanted = 0;
        CHECK_INT(dup2(others[0], fds[0]), fds[0]);
        CHECK_INT(coil_add_reader(fds[0], count, &after), 0);
        coil_sleep(COIL_USEC(200));
        CHECK_INT(before.calls + after.calls, 0);
        CHECK_INT(write(others[1], "x", 1), 1);
        wait_for_calls(&after, 1);
        CHECK_INT(coil_remove_reader(fds[0]), 1);
        close_pair(fds);
        close_pair(others);
    }
}

IO_TEST(reader_and_stream_exclude_each_other)
{
    struct counter c = {0};
    coil_stream *stream;
    int fds[2];

    open_pair(fds);
    CHECK_INT(coil_add_reader(fds[0], count, &c), 0);
    CHECK_INT(coil_stream_adopt(fds[0], &stream), -EBUSY);
    CHECK_INT(coil_remove_reader(fds[0]), 1);
    CHECK_INT(coil_stream_adopt(fds[0], &stream), 0);
    CHECK_INT(coil_add_reader(fds[0], count, &c), -EBUSY);
    CHECK_INT(coil_add_writer(fds[0], count, &c), -EBUSY);
    coil_stream_destroy(stream);
    close(fds[1]);
}

IO_TEST(reader_fails_as_the_kernel_says)
{
    struct counter c = {0};
    int high, file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    const char *backend = coil_backend_name();

    CHECK_INT(coil_add_reader(-1, count, &c), -EBADF);
    if (strcmp(backend, "epoll") == 0) {
        CHECK_INT(coil_add_reader(file, count, &c), -EPERM);
    } else {
        CHECK_INT(coil_add_reader(file, count, &c), 0);
        wait_for_calls(&c, 1);
        CHECK_INT(coil_remove_reader(file), 1);
    }
    close(file);
    high = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 1500);
    if (high >= 0 && strcmp(backend, "select") == 0)
        CHECK_INT(coil_add_reader(high, count, &c), -EINVAL);
    if (high >= 0)
        close(high);
}

/* A closed descriptor must not make every poll fail: its watcher is told once. */
IO_TEST(reader_of_a_descriptor_closed_behind_its_back)
{
    struct counter c = {0};
    int fds[2];

    open_pair(fds);
    CHECK_INT(coil_add_reader(fds[0], count, &c), 0);
    close(fds[0]);
    coil_sleep(COIL_MSEC(1));
    CHECK(c.calls <= 1);
    coil_sleep(COIL_MSEC(1));
    CHECK(c.calls <= 1);
    CHECK_INT(coil_remove_reader(fds[0]), 1);
    close(fds[1]);
}

static int sleep_a_little(void *arg)
{
    (void)arg;
    for (int i = 0; i < 20; i++)
        if (coil_sleep(COIL_USEC(100)) < 0)
            return -ECANCELED;
    return 0;
}

IO_TEST(reader_that_is_always_called_starves_no_sleeper)
{
    struct counter c = {0};
    int fds[2];

    open_pair(fds);
    CHECK_INT(write(fds[1], "x", 1), 1);
    CHECK_INT(coil_add_reader(fds[0], count, &c), 0);
    CHECK_INT(sleep_a_little(NULL), 0);
    CHECK(c.calls > 20);
    CHECK_INT(coil_remove_reader(fds[0]), 1);
    close_pair(fds);
}
