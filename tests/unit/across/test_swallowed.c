/*
 * test_swallowed.c - a call that succeeds does not change the task's last error, even if
 * a step inside the call failed. Examples of such failures are a file that does not exist
 * yet, a timeout that is the call's result, and a system call that coil replaces with
 * another one.
 */
#include "../../harness/harness.h"

#include "../os/places.h"

#include <coil.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

static char bytes[16];

static ssize_t replace_missing(void)
{
    unlink("new");
    return coil_write_file("new", bytes, 1, 0600, COIL_FILE_ATOMIC);
}

static ssize_t replace_missing_exclusively(void)
{
    unlink("new");
    return coil_write_file("new", bytes, 1, 0600, COIL_FILE_ATOMIC | COIL_FILE_EXCLUSIVE);
}

static ssize_t copy_to_missing(void)
{
    unlink("copy");
    return coil_copy_file("file", "copy", &(coil_copy_opts){.flags = COIL_FILE_ATOMIC});
}

static ssize_t copy_what_the_kernel_cannot(void)
{
    return coil_copy_file("file", "/dev/null", NULL);
}

static ssize_t poll_in_vain(void)
{
    struct pollfd in = {.events = POLLIN};
    int ends[2];
    ssize_t rc;

    CHECK_INT(pipe2(ends, O_CLOEXEC), 0);
    in.fd = ends[0];
    rc = coil_poll(&in, 1, COIL_MSEC(1));
    close(ends[0]);
    close(ends[1]);
    return rc;
}

static ssize_t wait_in_vain(void)
{
    coil_future *future;
    ssize_t rc = coil_future_create(&future);

    if (rc < 0)
        return rc;
    rc = coil_wait(&future, 1, COIL_WAIT_ALL, coil_in(COIL_MSEC(1)));
    coil_future_release(future);
    return rc;
}

static ssize_t send_file_into_a_pipe(void)
{
    int file = open("file", O_RDONLY | O_CLOEXEC);
    coil_stream *ends[2];
    ssize_t n = coil_pipe(ends);

    if (n == 0)
        n = coil_sendfile(ends[1], file, NULL, 1);
    coil_stream_destroy(ends[0]);
    coil_stream_destroy(ends[1]);
    close(file);
    return n;
}

static ssize_t listen_on_each_family(void)
{
    coil_listener *listeners[4];
    coil_listen_options opts = {.host = "localhost", .port = "0"};
    int n = coil_listen_all(&opts, listeners, 4);

    for (int i = 0; i < n; i++)
        coil_listener_destroy(listeners[i]);
    return n;
}

static ssize_t open_datagrams(void)
{
    coil_datagram *datagram;
    int rc = coil_datagram_open("localhost", "0", 0, &datagram);

    coil_datagram_destroy(datagram);
    return rc;
}

static ssize_t connect_datagrams(void)
{
    coil_datagram *datagram;
    int rc = coil_datagram_connect("localhost", "9", &datagram);

    coil_datagram_destroy(datagram);
    return rc;
}

/* clang-format off */
#define SUCCESS(function) {#function, function}
/* clang-format on */

static const struct {
    const char *name;
    ssize_t (*call)(void);
} successes[] = {
    SUCCESS(replace_missing),       SUCCESS(replace_missing_exclusively),
    SUCCESS(copy_to_missing),       SUCCESS(copy_what_the_kernel_cannot),
    SUCCESS(poll_in_vain),          SUCCESS(wait_in_vain),
    SUCCESS(send_file_into_a_pipe), SUCCESS(listen_on_each_family),
    SUCCESS(open_datagrams),        SUCCESS(connect_datagrams),
};

/* Errors that may occur inside these calls, and one (EDOM) that cannot. */
static const int failures[] = {-ENOENT,       -ETIMEDOUT,   -EOPNOTSUPP,
                               -EINVAL,       -EXDEV,       -EADDRNOTAVAIL,
                               -EAFNOSUPPORT, -EINPROGRESS, -EDOM};

static void check_each_leaves(int rc)
{
    for (size_t i = 0; i < sizeof successes / sizeof successes[0]; i++) {
        ssize_t result;
        coil_error *error;

        coil_fail(rc, "the reason");
        result = successes[i].call();
        error = coil_last_error();
        if (result < 0 || error == NULL)
            printf("%s: %zd\n", successes[i].name, result);
        CHECK(result >= 0);
        CHECK(error != NULL);
        if (error != NULL)
            CHECK_STR(coil_error_message(error), "the reason");
    }
}

static void check_successes(void)
{
    put_file("file", "hello\n");
    for (size_t i = 0; i < sizeof failures / sizeof failures[0]; i++)
        check_each_leaves(failures[i]);
    coil_clear_error();
    for (size_t i = 0; i < sizeof successes / sizeof successes[0]; i++) {
        CHECK(successes[i].call() >= 0);
        CHECK(coil_last_error() == NULL);
    }
}

IO_TEST(a_call_that_succeeds_leaves_the_last_error_as_it_was)
{
    in_a_place(check_successes);
}
