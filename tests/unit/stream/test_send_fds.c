/* test_send_fds.c - sending descriptors over a local stream. */
#include "../../harness/harness.h"

#include <coil.h>

#include <fcntl.h>
#include <unistd.h>

static coil_stream *ends[2];

static void open_pair(void)
{
    CHECK_INT(coil_stream_pair(ends), 0);
}

static void close_pair(void)
{
    coil_stream_destroy(ends[0]);
    coil_stream_destroy(ends[1]);
}

static void make_pipe(int fds[2])
{
    CHECK_INT(pipe2(fds, O_CLOEXEC), 0);
}

static void close_fds(const int *fds, size_t count)
{
    for (size_t i = 0; i < count; i++)
        CHECK_INT(close(fds[i]), 0);
}

IO_TEST(send_fds_over_a_local_stream)
{
    int fds[2], got[4];
    size_t count = 4;
    char bytes[8];

    open_pair();
    make_pipe(fds);
    CHECK_INT(coil_send_fds(ends[0], "hello", 5, fds, 2), 5);
    CHECK_INT(coil_receive_fds(ends[1], bytes, sizeof bytes, got, &count), 5);
    CHECK_INT(count, 2);
    CHECK_INT(fcntl(got[0], F_GETFD), FD_CLOEXEC);
    CHECK_INT(write(fds[1], "x", 1), 1);
    CHECK_INT(read(got[0], bytes, 1), 1);
    close_fds(got, 2);
    close_fds(fds, 2);
    count = 4;
    CHECK_INT(coil_send_fds(ends[0], "no", 2, NULL, 0), 2);
    CHECK_INT(coil_receive_fds(ends[1], bytes, sizeof bytes, got, &count), 2);
    CHECK_INT(count, 0);
    close_pair();
}

static int receive(void *arg)
{
    size_t count = 1;
    char byte;
    int rc = (int)coil_receive_fds(ends[1], &byte, 1, arg, &count);

    return rc < 0 ? rc : (int)count;
}

IO_TEST(send_fds_to_a_task_that_waits)
{
    coil_task *task;
    int fds[2], got = -1;

    open_pair();
    make_pipe(fds);
    task = test_spawn(receive, &got);
    coil_sleep(COIL_MSEC(2));
    CHECK_INT(coil_send_fds(ends[0], "x", 1, fds, 1), 1);
    CHECK_INT(test_join(task), 1);
    close_fds(&got, 1);
    task = test_spawn(receive, &got);
    coil_sleep(COIL_MSEC(2));
    coil_task_cancel(task, NULL);
    CHECK_INT(test_join(task), -ECANCELED);
    close_fds(fds, 2);
    close_pair();
}

/* Descriptors that do not fit into the array must be closed, which the harness checks. */
IO_TEST(send_fds_more_than_fit)
{
    int fds[2], got[1];
    size_t count = 1;
    char byte;

    open_pair();
    make_pipe(fds);
    CHECK_INT(coil_send_fds(ends[0], "x", 1, fds, 2), 1);
    CHECK_INT(coil_receive_fds(ends[1], &byte, 1, got, &count), -EMSGSIZE);
    CHECK_INT(count, 0);
    CHECK_INT(coil_send_fds(ends[0], "x", 1, fds, 254), -EINVAL);
    CHECK_INT(coil_send_fds(ends[0], "x", 0, fds, 1), -EINVAL);
    close_fds(fds, 2);
    count = 1;
    coil_stream_close(ends[0]);
    CHECK_INT(coil_receive_fds(ends[1], &byte, 1, got, &count), 0);
    CHECK_INT(count, 0);
    close_pair();
}

IO_TEST(send_fds_of_two_sends_stay_apart)
{
    int fds[2], got[4];
    char bytes[8];

    open_pair();
    make_pipe(fds);
    CHECK_INT(coil_send_fds(ends[0], "ab", 2, fds, 1), 2);
    CHECK_INT(coil_send_fds(ends[0], "cd", 2, fds, 2), 2);
    for (size_t i = 1; i <= 2; i++) {
        size_t count = 4;

        CHECK_INT(coil_receive_fds(ends[1], bytes, sizeof bytes, got, &count), 2);
        CHECK_INT(count, i);
        close_fds(got, count);
    }
    close_fds(fds, 2);
    close_pair();
}

IO_TEST(send_fds_needs_a_local_socket)
{
    coil_stream *pipe_ends[2];
    int fd = 0;
    size_t count = 1;
    char byte;

    CHECK_INT(coil_pipe(pipe_ends), 0);
    CHECK_INT(coil_send_fds(pipe_ends[1], "x", 1, &fd, 1), -EOPNOTSUPP);
    CHECK_INT(coil_receive_fds(pipe_ends[0], &byte, 1, &fd, &count), -EOPNOTSUPP);
    coil_stream_destroy(pipe_ends[0]);
    coil_stream_destroy(pipe_ends[1]);
}

/* ---- waiting and failing ----------------------------------------------------------- */

static int send_until_cancelled(void *arg)
{
    static char bytes[65536];
    ssize_t n = 0;

    while (n >= 0)
        n = coil_send_fds(ends[0], bytes, sizeof bytes, arg, 1);
    return (int)n;
}

/*
 * When a socket is closed, the kernel closes the descriptors that are still in its queue.
 */
IO_TEST(send_fds_that_waits_is_cancelled)
{
    coil_task *task;
    int fds[2];

    open_pair();
    make_pipe(fds);
    task = test_spawn(send_until_cancelled, &fds[0]);
    coil_sleep(COIL_MSEC(10));
    coil_task_cancel(task, NULL);
    CHECK_INT(test_join(task), -ECANCELED);
    task = test_spawn(send_until_cancelled, &fds[0]);
    coil_sleep(COIL_MSEC(10));
    coil_stream_close(ends[0]);
    CHECK_INT(test_join(task), -EBADF);
    close_fds(fds, 2);
    close_pair();
}

static int pass_one(void)
{
    int fds[2], got[2];
    size_t count = 2;
    char byte;
    ssize_t n;

    make_pipe(fds);
    n = coil_send_fds(ends[0], "x", 1, fds, 2);
    if (n == 1)
        n = coil_receive_fds(ends[1], &byte, 1, got, &count);
    close_fds(got, n == 1 ? count : 0);
    close_fds(fds, 2);
    return (int)n;
}

IO_TEST(send_fds_bears_every_failing_call)
{
    int failures = 0, rc = 0;

    for (unsigned n = 1, done = 0; !done; n++) {
        open_pair();
        coil_testing_fail_system_call(n, 0);
        rc = pass_one();
        done = coil_testing_failed() == NULL;
        coil_testing_fail_system_call(0, 0);
        failures += rc < 0;
        close_pair();
    }
    CHECK_INT(rc, 1);
    CHECK(failures > 0);
}

IO_TEST(send_fds_bears_failing_allocations)
{
    int rc = -ENOMEM;

    open_pair();
    for (int n = 1; rc == -ENOMEM; n++) {
        test_fail_allocation(n);
        rc = pass_one();
        test_fail_allocation(0);
    }
    CHECK_INT(rc, 1);
    close_pair();
}
