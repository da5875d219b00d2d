/*
 * test_backend.c - the functions that backend.h declares, called directly, without a task
 * that waits for the result.
 */
#include "../../harness/harness.h"

#include "../socket/sockets.h"
#include "../../../src/loop/loop.h"

#include <coil.h>

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static struct coil__backend *backend(void)
{
    return coil_loop_current()->backend;
}

static int completed;

static void complete(struct coil__op *op)
{
    (void)op;
    completed++;
}

static struct coil__op receive_op(int fd, void *buf, size_t n)
{
    completed = 0;
    return (struct coil__op){
        .kind = COIL__OP_RECV, .fd = fd, .buf = buf, .len = n, .complete = complete};
}

static int attached_pair(int fds[2])
{
    make_tcp_pair(fds);
    fcntl(fds[0], F_SETFL, O_NONBLOCK);
    return backend()->class->attach(backend(), fds[0]);
}

static void drop_pair(int fds[2])
{
    backend()->class->detach(backend(), fds[0]);
    close(fds[0]);
    close(fds[1]);
}

static void poll_until_complete(void)
{
    for (int i = 0; i < 100 && completed == 0; i++)
        CHECK_INT(backend()->class->poll(backend(), COIL_MSEC(100)), 0);
    CHECK_INT(completed, 1);
}

/*
 * Submit the operation and return its result. If the operation does not complete at once,
 * poll until it does.
 */
static ssize_t result_of(struct coil__op *op)
{
    ssize_t result;

    completed = 0;
    result = backend()->class->submit(backend(), op);
    if (result != -EINPROGRESS)
        return result;
    poll_until_complete();
    return op->result;
}

IO_TEST(backend_performs_an_operation_when_it_can)
{
    const struct coil__backend_class *class = backend()->class;
    size_t in_use = backend()->in_use;
    struct coil__op op;
    char buf[16];
    int fds[2];

    CHECK_INT(attached_pair(fds), 0);
    CHECK_INT(class->attach(backend(), fds[0]), -EBUSY);
    op = receive_op(fds[0], buf, sizeof buf);
    CHECK_INT(class->submit(backend(), &op), -EINPROGRESS);
    CHECK_INT(backend()->in_use, in_use + 1);
    CHECK_INT(class->poll(backend(), 0), 0);
    CHECK_INT(completed, 0);
    CHECK_INT(write(fds[1], "hello", 5), 5);
    poll_until_complete();
    CHECK_INT(op.result, 5);
    CHECK_INT(backend()->in_use, in_use);
    drop_pair(fds);
}

IO_TEST(backend_has_one_operation_per_direction)
{
    const struct coil__backend_class *class = backend()->class;
    struct coil__op op, second, unattached;
    char buf[16] = "x";
    int fds[2];

    CHECK_INT(attached_pair(fds), 0);
    second = unattached = op = receive_op(fds[0], buf, sizeof buf);
    unattached.fd = fds[1];
    CHECK_INT(class->submit(backend(), &unattached), -EBADF);
    CHECK_INT(class->submit(backend(), &op), -EINPROGRESS);
    CHECK_INT(class->submit(backend(), &second), -EBUSY);
    second.kind = COIL__OP_SEND;
    second.len = 1;
    CHECK_INT(result_of(&second), 1);
    drop_pair(fds);
}

IO_TEST(backend_cancel_and_detach_complete)
{
    const struct coil__backend_class *class = backend()->class;
    size_t in_use = backend()->in_use;
    struct coil__op op;
    char buf[16];
    int fds[2];

    CHECK_INT(attached_pair(fds), 0);
    op = receive_op(fds[0], buf, sizeof buf);
    CHECK_INT(class->submit(backend(), &op), -EINPROGRESS);
    class->cancel(backend(), &op);
    poll_until_complete();
    CHECK_INT(op.result, -ECANCELED);
    op = receive_op(fds[0], buf, sizeof buf);
    CHECK_INT(class->submit(backend(), &op), -EINPROGRESS);
    drop_pair(fds);
    CHECK_INT(completed, 1);
    CHECK_INT(op.result, -EBADF);
    CHECK_INT(backend()->in_use, in_use);
    CHECK_INT(class->submit(backend(), &op), -EBADF);
}

/*
 * After a short read, the socket counts as drained, so the next read waits without
 * calling recv(2) first. The next read must not miss bytes that arrive in between.
 */
IO_TEST(backend_misses_no_bytes_after_a_short_read)
{
    const struct coil__backend_class *class = backend()->class;
    struct coil__op op;
    char buf[16];
    int fds[2];

    CHECK_INT(attached_pair(fds), 0);
    for (int i = 0; i < 10; i++) {
        op = receive_op(fds[0], buf, sizeof buf);
        CHECK_INT(class->submit(backend(), &op), -EINPROGRESS);
        CHECK_INT(write(fds[1], "abc", 3), 3);
        poll_until_complete();
        CHECK_INT(op.result, 3);
    }
    CHECK_INT(write(fds[1], "abc", 3), 3); /* between two reads */
    op = receive_op(fds[0], buf, sizeof buf);
    CHECK_INT(class->submit(backend(), &op), -EINPROGRESS);
    poll_until_complete();
    CHECK_INT(op.result, 3);
    drop_pair(fds);
}

/*
 * Peeking leaves the bytes in the socket, so after a short peek the socket must not count
 * as drained.
 */
IO_TEST(backend_misses_no_bytes_after_a_short_peek)
{
    struct coil__op op;
    char buf[16];
    int fds[2];

    CHECK_INT(attached_pair(fds), 0);
    CHECK_INT(write(fds[1], "abc", 3), 3);
    coil_sleep(COIL_USEC(100));
    op = receive_op(fds[0], buf, sizeof buf);
    op.flags = MSG_PEEK;
    CHECK_INT(result_of(&op), 3);
    op.flags = 0;
    CHECK_INT(result_of(&op), 3);
    drop_pair(fds);
}

IO_TEST(backend_of_full_table_or_bad_descriptor)
{
    const struct coil__backend_class *class = backend()->class;

    CHECK_INT(class->attach(backend(), -1), -EBADF);
    class->detach(backend(), -1);
    class->detach(backend(), 1 << 20);
    CHECK_INT(coil_remove_reader(1 << 20), 0);
}

static bool out_of_memory;

static void *failing_realloc(void *context, void *block, size_t size)
{
    (void)context;
    if (size == 0) {
        free(block);
        return NULL;
    }
    return out_of_memory ? NULL : realloc(block, size);
}

static int attach_without_memory(void *arg)
{
    int high = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 900), rc;

    (void)arg;
    if (high < 0)
        test_skip("the limit of descriptors is too low");
    out_of_memory = true;
    rc = backend()->class->attach(backend(), high);
    out_of_memory = false;
    close(high);
    return rc;
}

/*
 * A local socket becomes writable whenever its peer reads. If no operation is waiting to
 * write, this event must not wake the loop.
 */
IO_TEST(backend_is_not_woken_by_a_peer_that_reads)
{
    struct coil__op op;
    struct pollfd woken = {.events = POLLIN};
    char byte;
    int fds[2];

    if (backend()->class->pollable == NULL)
        return;
    CHECK_INT(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds), 0);
    CHECK_INT(backend()->class->attach(backend(), fds[0]), 0);
    op = receive_op(fds[0], &byte, 1);
    CHECK_INT(backend()->class->submit(backend(), &op), -EINPROGRESS);
    CHECK_INT(backend()->class->poll(backend(), 0), 0);
    CHECK_INT(send(fds[0], "x", 1, 0), 1);
    CHECK_INT(recv(fds[1], &byte, 1, 0), 1);
    woken.fd = backend()->class->pollable(backend());
    CHECK_INT(poll(&woken, 1, 0), 0);
    CHECK_INT(send(fds[1], "y", 1, 0), 1);
    CHECK_INT(poll(&woken, 1, 1000), 1);
    poll_until_complete();
    CHECK_INT(op.result, 1);
    CHECK_INT(byte, 'y');
    drop_pair(fds);
}

TEST(backend_without_memory_is_an_error_return)
{
    static const coil_allocator allocator = {failing_realloc, NULL};
    coil_run_opts opts = {.no_signals = true};

    coil_set_allocator(&allocator);
    opts.loop.backend = "poll";
    CHECK_INT(coil_run(attach_without_memory, NULL, &opts), -ENOMEM);
    opts.loop.backend = "epoll";
    CHECK_INT(coil_run(attach_without_memory, NULL, &opts), -ENOMEM);
    coil_set_allocator(NULL);
}

IO_TEST(backend_waits_no_less_than_asked)
{
    const int64_t spans[] = {1, COIL_USEC(50), COIL_USEC(1300), COIL_MSEC(3) + 1};

    for (size_t i = 0; i < sizeof spans / sizeof spans[0]; i++) {
        int64_t before = coil__clock_monotonic();

        CHECK_INT(backend()->class->poll(backend(), spans[i]), 0);
        CHECK(coil__clock_monotonic() - before >= spans[i]);
    }
}
