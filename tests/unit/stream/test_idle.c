/*
 * test_idle.c - time limits for calls that wait on an idle stream.
 */
#include "../../harness/harness.h"

#include <coil.h>

static coil_stream *ends[2];

static void open_pair(int64_t timeout_ns)
{
    CHECK_INT(coil_stream_pair(ends), 0);
    coil_stream_set_idle_timeout(ends[0], timeout_ns);
}

static void close_pair(void)
{
    coil_stream_destroy(ends[0]);
    coil_stream_destroy(ends[1]);
}

IO_TEST(idle_stream_ends_a_read)
{
    char byte;

    open_pair(COIL_MSEC(20));
    CHECK_INT(coil_read(ends[0], &byte, 1), -ETIMEDOUT);
    CHECK_INT(coil_stream_wait_readable(ends[0]), -ETIMEDOUT);
    CHECK_INT(coil_write(ends[1], "x", 1), 1);
    CHECK_INT(coil_read(ends[0], &byte, 1), 1);
    CHECK_INT(coil_sleep(COIL_MSEC(1)), 0);
    close_pair();
}

IO_TEST(idle_stream_ends_a_write)
{
    char *bytes = test_memory(4 << 20);
    ssize_t n;

    open_pair(COIL_MSEC(20));
    n = coil_write(ends[0], bytes, 4 << 20);
    CHECK_INT(n, -ETIMEDOUT);
    CHECK(coil_stream_write_transferred(ends[0]) > 0);
    close_pair();
}

static int write_now_and_then(void *arg)
{
    (void)arg;
    for (int i = 0; i < 8; i++) {
        coil_sleep(COIL_MSEC(40));
        CHECK_INT(coil_write(ends[0], "y", 1), 1);
    }
    return (int)coil_write(ends[1], "x", 1);
}

/* A waiting read does not time out while the stream's other direction is in use. */
IO_TEST(idle_stream_is_used_in_the_other_direction)
{
    coil_task *task;
    char byte;

    open_pair(COIL_MSEC(200));
    task = test_spawn(write_now_and_then, NULL);
    CHECK_INT(coil_read(ends[0], &byte, 1), 1);
    CHECK_INT(test_join(task), 1);
    close_pair();
}

static int read_byte(void *arg)
{
    char byte;

    (void)arg;
    return (int)coil_read(ends[0], &byte, 1);
}

IO_TEST(idle_stream_cancelled_or_closed)
{
    coil_task *task;

    open_pair(COIL_SEC(60));
    task = test_spawn(read_byte, NULL);
    coil_sleep(COIL_MSEC(2));
    coil_task_cancel(task, NULL);
    CHECK_INT(test_join(task), -ECANCELED);
    task = test_spawn(read_byte, NULL);
    coil_sleep(COIL_MSEC(2));
    coil_stream_close(ends[0]);
    CHECK_INT(test_join(task), -EBADF);
    close_pair();
}

IO_TEST(idle_stream_without_a_limit)
{
    char byte;
    int rc;

    open_pair(COIL_MSEC(1));
    coil_stream_set_idle_timeout(ends[0], 0);
    COIL_WITH_DEADLINE(COIL_MSEC(30), rc)
    rc = (int)coil_read(ends[0], &byte, 1);
    CHECK_INT(rc, -ETIMEDOUT);
    close_pair();
}

IO_TEST(idle_stream_bears_failing_allocations)
{
    char byte;
    ssize_t n = -ENOMEM;

    open_pair(COIL_MSEC(20));
    for (int i = 1; n == -ENOMEM; i++) {
        test_fail_allocation(i);
        n = coil_read(ends[0], &byte, 1);
        test_fail_allocation(0);
    }
    CHECK_INT(n, -ETIMEDOUT);
    n = -ENOMEM;
    for (int i = 1; n == -ENOMEM; i++) {
        test_fail_allocation(i);
        n = coil_stream_wait_readable(ends[0]);
        test_fail_allocation(0);
    }
    CHECK_INT(n, -ETIMEDOUT);
    CHECK_INT(coil_write(ends[1], "x", 1), 1);
    CHECK_INT(coil_read(ends[0], &byte, 1), 1);
    close_pair();
}
