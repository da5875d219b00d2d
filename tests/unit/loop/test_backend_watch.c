/*
 * test_backend_watch.c - the level-triggered callbacks of coil_add_reader() and
 * coil_add_writer().
 */
#include "../../harness/harness.h"

#include "../../../src/loop/loop.h"

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

/* Wait for `more` further calls of the callback. */
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
    coil_sleep(COIL_MSEC(1)); /* one more call may be pending */
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

static void fill_up(int fd)
{
    static const char bytes[65536];
    ssize_t n;

    for (size_t size = sizeof bytes; size > 0; size = size > 1 ? 1 : 0)
        do
            n = write(fd, bytes, size);
        while (n > 0);
}

static void empty(int fd)
{
    static char bytes[65536];

    while (read(fd, bytes, sizeof bytes) > 0)
        ;
}

/*
 * When the peer shuts down its sending side, io_uring's polls end, although that event
 * was not requested.
 */
IO_TEST(writer_without_room_is_not_called_when_the_peer_says_no_more)
{
    struct counter c = {0};
    int fds[2];

    open_pair(fds);
    fill_up(fds[0]);
    CHECK_INT(shutdown(fds[1], SHUT_WR), 0);
    CHECK_INT(coil_add_writer(fds[0], count, &c), 0);
    coil_sleep(COIL_MSEC(20));
    CHECK_INT(c.calls, 0);
    empty(fds[1]);
    wait_for_calls(&c, 3);
    CHECK(coil_remove_writer(fds[0]));
    fill_up(fds[0]);
    CHECK_INT(coil_add_writer(fds[0], count, &c), 0);
    coil_sleep(COIL_MSEC(3));
    /* the writer must still be registered */
    CHECK(coil_remove_writer(fds[0]));
    close_pair(fds);
}

/*
 * Adding a reader three times has the same effect as adding it once. After the reader was
 * removed and its descriptor closed, the reader of a new descriptor with the same number
 * gets no event of the old one.
 */
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
    const char *backend = coil_backend_name();
    int high;

    CHECK_INT(coil_add_reader(-1, count, &c), -EBADF);
    CHECK_INT(coil_add_reader(INT32_MAX, count, &c), -EBADF);
    CHECK_INT(coil_add_writer(INT32_MAX - 1, count, &c), -EBADF);
    high = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 1500);
    if (high >= 0 && strcmp(backend, "select") == 0)
        CHECK_INT(coil_add_reader(high, count, &c), -EINVAL);
    if (high >= 0)
        close(high);
}

IO_TEST(reader_and_writer_of_what_never_waits_are_called_in_every_turn)
{
    static const char *const paths[] = {"/proc/self/exe", "/dev/null", "/dev/urandom"};
    struct counter in = {0}, out = {0};

    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        int fd = open(paths[i], O_RDONLY | O_CLOEXEC);

        CHECK_INT(coil_add_reader(fd, count, &in), 0);
        wait_for_calls(&in, 3);
        CHECK_INT(coil_add_writer(fd, count, &out), 0);
        wait_for_calls(&out, 3);
        wait_for_calls(&in, 3);
        CHECK_INT(coil_remove_reader(fd), 1);
        wait_for_calls(&out, 3);
        CHECK_INT(coil_remove_writer(fd), 1);
        in.calls = out.calls = 0;
        coil_sleep(COIL_MSEC(1));
        CHECK_INT(in.calls + out.calls, 0);
        close(fd);
    }
    CHECK_INT(coil_loop_current()->backend->always_ready, 0);
}

/*
 * A descriptor is closed without removing its reader. If a new descriptor has the same
 * number, its reader must get the new descriptor's events.
 */
IO_TEST(reader_added_to_a_number_that_was_closed_and_reused_is_called)
{
    struct counter before = {0}, in = {0}, out = {0};
    int fds[2], others[2];

    for (int i = 0; i < 4; i++) {
        open_pair(fds);
        open_pair(others);
        CHECK_INT(coil_add_reader(fds[0], count, &before), 0);
        if (i & 1)
            CHECK_INT(coil_add_writer(fds[0], count, &before), 0);
        if (i & 2)
            coil_sleep(COIL_USEC(50));
        CHECK_INT(dup2(others[0], fds[0]), fds[0]);
        before.calls = in.calls = out.calls = 0;
        CHECK_INT(coil_add_reader(fds[0], count, &in), 0);
        CHECK_INT(coil_add_writer(fds[0], count, &out), 0);
        wait_for_calls(&out, 2);
        CHECK_INT(write(others[1], "x", 1), 1);
        wait_for_calls(&in, 2);
        CHECK_INT(before.calls, 0);
        CHECK_INT(coil_remove_reader(fds[0]), 1);
        CHECK_INT(coil_remove_writer(fds[0]), 1);
        close_pair(fds);
        close_pair(others);
    }
}

static void note_run(struct coil__runnable *runnable)
{
    (void)runnable;
    test_trace("ran ");
}

/*
 * Replace a watch while an event is pending, which must be delivered to the new watch,
 * and never to the old one.
 */
IO_TEST(watch_that_is_replaced_keeps_nothing_of_the_old)
{
    coil_loop *loop = coil_loop_current();
    struct coil__runnable old, new;
    int fds[2];

    open_pair(fds);
    coil__runnable_init(&old, note_run);
    coil__runnable_init(&new, note_run);
    CHECK_INT(coil__loop_watch(loop, fds[0], COIL__IN, &old), 0);
    coil_sleep(COIL_MSEC(1)); /* wait until the watch is armed */
    CHECK_INT(write(fds[1], "x", 1), 1);
    CHECK_INT(coil__loop_watch(loop, fds[0], COIL__IN, &new), 0);
    CHECK(coil__list_empty(&old.link));
    coil_sleep(COIL_MSEC(1));
    CHECK(coil__list_empty(&old.link));
    CHECK(strncmp(test_trace_text(), "ran ", 4) == 0);
    coil__loop_unwatch(loop, fds[0], COIL__IN, &new);
    coil__list_remove(&new.link);
    close_pair(fds);
}

/*
 * A descriptor with a reader is closed, and another part of coil watches a new descriptor
 * with the same number. Removing the old reader must not remove the new watch.
 */
IO_TEST(reader_of_a_closed_descriptor_whose_number_the_library_watches)
{
    coil_loop *loop = coil_loop_current();
    struct coil__runnable own;
    struct counter c = {0};
    int fds[2], others[2];

    open_pair(fds);
    open_pair(others);
    coil__runnable_init(&own, note_run);
    CHECK_INT(coil_add_reader(fds[0], count, &c), 0);
    CHECK_INT(dup2(others[0], fds[0]), fds[0]);
    CHECK_INT(coil__loop_watch(loop, fds[0], COIL__IN, &own), 0);
    CHECK_INT(coil_remove_reader(fds[0]), 0);
    CHECK_INT(write(others[1], "x", 1), 1);
    coil_sleep(COIL_MSEC(1));
    CHECK(strncmp(test_trace_text(), "ran ", 4) == 0);
    CHECK_INT(c.calls, 0);
    coil__loop_unwatch(loop, fds[0], COIL__IN, &own);
    close_pair(fds);
    close_pair(others);
}

/*
 * Close a descriptor with a reader. The callback must be called once, and later polls
 * must not fail.
 */
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
    wait_for_calls(&c, 20);
    CHECK_INT(coil_remove_reader(fds[0]), 1);
    close_pair(fds);
}
