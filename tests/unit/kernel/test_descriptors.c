/*
 * test_descriptors.c - wake-up descriptors, alarms, sets of descriptors, and reopening a
 * descriptor.
 */
#include "../../harness/harness.h"

#include "../../../src/kernel/descriptors.h"

#include <coil.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

/* Return true if the descriptor becomes readable before the time-out. */
static bool readable_within(int fd, int milliseconds)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};

    return poll(&p, 1, milliseconds) == 1 && (p.revents & POLLIN);
}

static bool readable(int fd)
{
    return readable_within(fd, 0);
}

/* ---- wake-ups ---------------------------------------------------------------------- */

TEST(wake_fd_is_readable_from_a_post_to_the_drain)
{
    int fd = coil__wake_fd_open();

    CHECK(fd >= 0 && !readable(fd));
    CHECK_INT(fcntl(fd, F_GETFD), FD_CLOEXEC);
    CHECK_INT(coil__wake_fd_post(fd), 0);
    CHECK_INT(coil__wake_fd_post(fd), 0);
    CHECK(readable(fd) && readable(fd));
    CHECK_INT(coil__wake_fd_drain(fd), 0);
    CHECK(!readable(fd));
    CHECK_INT(coil__wake_fd_drain(fd), 0);
    CHECK_INT(coil__wake_fd_post(fd), 0);
    CHECK(readable(fd));
    close(fd);
}

TEST(wake_fd_that_is_closed_is_an_error)
{
    int fd = coil__wake_fd_open();

    close(fd);
    CHECK_INT(coil__wake_fd_post(fd), -EBADF);
    CHECK_INT(coil__wake_fd_drain(fd), -EBADF);
}

TEST(wake_fd_is_open_until_its_number_is_another_files)
{
    int fd = coil__wake_fd_open(), other = open("/dev/full", O_RDWR);

    CHECK(coil__wake_fd_is_open(fd));
    close(fd);
    CHECK(!coil__wake_fd_is_open(fd));
    CHECK_INT(dup2(other, fd), fd);
    CHECK(!coil__wake_fd_is_open(fd));
    CHECK_INT(coil__wake_fd_post(fd), -ENOSPC);
    close(fd);
    close(other);
}

/* ---- alarms ------------------------------------------------------------------------ */

TEST(alarm_fd_expires_once)
{
    int fd = coil__alarm_fd_open();

    CHECK(fd >= 0 && !coil__alarm_fd_has_rung(fd));
    coil__alarm_fd_set(fd, COIL_SEC(3600));
    CHECK(!readable(fd));
    coil__alarm_fd_set(fd, 1);
    CHECK(readable_within(fd, 60000));
    CHECK(coil__alarm_fd_has_rung(fd));
    CHECK(!coil__alarm_fd_has_rung(fd) && !readable(fd));
    close(fd);
}

/* ---- sets -------------------------------------------------------------------------- */

static int open_set(int a, int b, short events_of_b)
{
    struct pollfd fds[] = {{.fd = -1, .events = POLLIN},
                           {.fd = a, .events = POLLIN},
                           {.fd = b, .events = events_of_b}};

    return coil__poll_set_open(fds, 3);
}

TEST(poll_set_is_readable_while_one_of_its_descriptors_is_ready)
{
    int a = coil__wake_fd_open(), b = coil__wake_fd_open();
    int set = open_set(a, b, POLLIN);

    CHECK(set >= 0 && !readable(set));
    coil__wake_fd_post(b);
    CHECK(readable(set) && readable(set));
    coil__wake_fd_drain(b);
    CHECK(!readable(set));
    coil__wake_fd_post(a);
    CHECK(readable(set));
    close(set);
    close(a);
    close(b);
}

TEST(poll_set_unites_the_events_of_a_descriptor_that_is_there_twice)
{
    int a = coil__wake_fd_open(), set = open_set(a, a, POLLOUT);

    CHECK(set >= 0 && readable(set));
    close(set);
    close(a);
}

TEST(poll_set_leaves_regular_files_out_and_refuses_what_is_closed)
{
    int wake = coil__wake_fd_open(), file = open("/tmp", O_TMPFILE | O_RDWR, 0600), set;

    if (file >= 0) {
        set = open_set(wake, file, POLLIN);
        CHECK(set >= 0 && !readable(set));
        close(set);
        close(file);
    }
    close(wake);
    CHECK_INT(open_set(1000, 1000, POLLIN), -EBADF);
}

TEST(poll_set_that_fails_half_way_leaves_nothing_open)
{
    int wake = coil__wake_fd_open(), set;

    for (uint64_t n = 1; n <= 2; n++) {
        coil_testing_fail_system_call(n, ENOMEM);
        CHECK_INT(open_set(wake, -1, 0), -ENOMEM);
    }
    coil_testing_fail_system_call(0, 0);
    set = open_set(wake, -1, 0);
    CHECK_INT(set, wake + 1);
    close(set);
    close(wake);
}

/* ---- reopening --------------------------------------------------------------------- */

TEST(pipe_that_is_opened_once_more_has_flags_of_its_own)
{
    char byte = 0;
    int fds[2], again;

    CHECK(pipe(fds) == 0);
    CHECK(coil__fd_may_reopen(fds[0]));
    again = coil__fd_reopen(fds[0], O_RDONLY);
    CHECK(again >= 0 && (fcntl(again, F_GETFL) & O_NONBLOCK));
    CHECK(!(fcntl(fds[0], F_GETFL) & O_NONBLOCK));
    CHECK(write(fds[1], "x", 1) == 1);
    CHECK(read(again, &byte, 1) == 1 && byte == 'x');
    close(again);
    close(fds[0]);
    close(fds[1]);
}

TEST(sockets_and_the_masters_of_terminals_are_not_opened_once_more)
{
    int fds[2], master = posix_openpt(O_RDWR | O_NOCTTY);

    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, fds) == 0);
    CHECK(!coil__fd_may_reopen(fds[0]));
    CHECK(!coil__fd_may_reopen(master));
    close(master);
    close(fds[0]);
    close(fds[1]);
    CHECK(!coil__fd_may_reopen(fds[0]));
}
