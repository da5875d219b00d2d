/*
 * liburing.c - each task has a ring, and waits for bytes that the ring receives. liburing
 * would wait with an inline system call, so the task waits with poll() first.
 */
#include "foreign.h"

#include <liburing.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int ends[FOREIGN_USES][2];

static bool receive(struct io_uring *ring, int fd, int number)
{
    struct pollfd readable = {.fd = ring->ring_fd, .events = POLLIN};
    struct io_uring_cqe *done;
    int received = -1;
    bool right;

    io_uring_prep_recv(io_uring_get_sqe(ring), fd, &received, sizeof received, 0);
    if (io_uring_submit(ring) != 1 || poll(&readable, 1, -1) != 1 ||
        io_uring_wait_cqe(ring, &done) != 0)
        return foreign_failed("a receive failed");
    right = done->res == sizeof received && received == number;
    io_uring_cqe_seen(ring, done);
    return right;
}

static bool use(int number)
{
    struct io_uring ring;
    bool right;

    if (io_uring_queue_init(8, &ring, 0) < 0)
        return foreign_failed("no ring");
    right = receive(&ring, ends[number][0], number);
    io_uring_queue_exit(&ring);
    return right;
}

static bool start(void)
{
    for (int i = 0; i < FOREIGN_USES; i++)
        if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends[i]) < 0)
            return false;
    return true;
}

static bool send_numbers(void)
{
    while (foreign_begun < FOREIGN_USES)
        usleep(1000);
    usleep(5000);
    for (int i = 0; i < FOREIGN_USES; i++)
        if (write(ends[i][1], &i, sizeof i) != sizeof i)
            return false;
    return true;
}

static bool stop(void)
{
    for (int i = 0; i < FOREIGN_USES; i++)
        close(ends[i][0]), close(ends[i][1]);
    return true;
}

const struct foreign foreign = {.name = "liburing",
                                .tested = "one ring per task, receiving",
                                .option = "with `poll()` before each wait",
                                .start = start,
                                .use = use,
                                .other_side = send_numbers,
                                .stop = stop};
