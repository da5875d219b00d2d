/* needs: coil-testing */
/* stream.c - compiles and runs the examples in docs/manual/stream.md. */
#include "simulated.h"

#include "stream.md/streams"
#include "stream.md/waiting-without-a-buffer"
#include "stream.md/from-one-stream-to-another"
#include "stream.md/deadlines"

static int handled;

static void handle(const char *line)
{
    CHECK(strcmp(line, "a line") == 0);
    handled++;
}

static ssize_t read_lines(coil_stream *s)
{
    char line[100];
    ssize_t n;

#include "stream.md/looking-ahead"
    return n;
}

static int finger(coil_stream *stream, void *arg)
{
    char line[10];

    (void)arg;
    CHECK(coil_read_line(stream, line, sizeof line) >= 0);
    return (int)coil_write(stream, "ada\n", 4);
}

static int say_nothing(coil_stream *stream, void *arg)
{
    char byte;

    (void)arg;
    return (int)coil_read(stream, &byte, 1);
}

static int greet(coil_stream *stream, void *arg)
{
    (void)arg;
    return (int)coil_write(stream, "head", 4);
}

/*
 * Run the listing three times: with a server that sends nothing (so reading times out),
 * without a server, and with a server that sends a header.
 */
static void read_headers(void)
{
    struct host greeting, silent;
    char header[4];

    open_host(&silent, "7000", say_nothing, NULL);
    CHECK(read_header("localhost", header, sizeof header) == -ETIMEDOUT);
    close_host(&silent);
    CHECK(read_header("localhost", header, sizeof header) == -ECONNREFUSED);
    open_host(&greeting, "7000", greet, NULL);
    CHECK(read_header("localhost", header, sizeof header) == 4);
    close_host(&greeting);
}

static int forward_lines(void)
{
    coil_stream *from[2], *to[2];
    coil_task *task;
    int rc;

    CHECK(coil_stream_pair(from) == 0 && coil_stream_pair(to) == 0);
    CHECK(coil_write(from[0], "a line\na line\n", 14) == 14);
    CHECK(coil_stream_shutdown_write(from[0]) == 0);
    rc = coil_spawn(forward, (coil_stream *[]){from[1], to[0]}, NULL, &task);
    CHECK(rc == 0 && coil_task_await(task) == 0);
    coil_task_release(task);
    CHECK(read_lines(to[1]) == 0 && handled == 2);
    for (int i = 0; i < 2; i++) {
        coil_stream_destroy(from[i]);
        coil_stream_destroy(to[i]);
    }
    return 0;
}

#include "stream.md/descriptors-over-a-local-socket"

#include <unistd.h>

static int pass_descriptor(void *arg)
{
    coil_stream *ends[2];
    int fd = dup(STDERR_FILENO), copy;

    (void)arg;
    CHECK(coil_stream_pair(ends) == 0);
    CHECK(hand_over(ends[0], fd) == 0);
    copy = take_over(ends[1]);
    CHECK(copy >= 0 && close(copy) == 0 && close(fd) == 0);
    coil_stream_destroy(ends[0]);
    coil_stream_destroy(ends[1]);
    return 0;
}

static int app(void *arg)
{
    struct host fingering, echoing;
    coil_stream *stream;
    char line[10];

    (void)arg;
    open_host(&fingering, "79", finger, NULL);
    CHECK(fetch("localhost", line, sizeof line) == 3);
    close_host(&fingering);

    open_host(&echoing, "7", serve, NULL);
    CHECK(coil_connect("localhost", "7", &stream) == 0);
    CHECK(coil_write(stream, "hello", 5) == 5 && coil_read_exact(stream, line, 5) == 5);
    coil_stream_destroy(stream);
    close_host(&echoing);

    read_headers();
    return forward_lines();
}

int main(void)
{
    RUN_SIMULATED(app, NULL);
    RUN(pass_descriptor, NULL);
    return 0;
}
