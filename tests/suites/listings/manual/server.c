/* needs: coil-testing */
/* server.c - compiles and runs the examples in docs/manual/server.md. */
#include "listings.h"

#include "server.md/servers"
#define main listing_main
#include "server.md/sigterm"
#undef main

static int answer(coil_stream *stream, bool is_last)
{
    char line[20];
    ssize_t n = coil_read_line(stream, line, sizeof line);

    if (n < 0)
        return (int)n;
    return (int)coil_write(stream, is_last ? "last\n" : "more\n", 5);
}

#include "server.md/graceful-shutdown"

#include "signals.h"
#include "simulated.h"

static int talk(void *arg)
{
    coil_stream *stream;
    coil_task *server;
    char line[20];

    CHECK(coil_spawn(app, arg, NULL, &server) == 0);
    CHECK(coil_yield() == 0);
    CHECK(coil_connect("localhost", "4000", &stream) == 0);
    CHECK(coil_write(stream, "Ada\n", 4) == 4);
    CHECK(coil_read_line(stream, line, sizeof line) == 10);
    CHECK(strcmp(line, "hello, Ada") == 0);
    coil_stream_destroy(stream);
    coil_task_cancel(server, NULL);
    CHECK(coil_task_await(server) == -ECANCELED);
    coil_task_release(server);
    return 0;
}

static int stop_gracefully(void *arg)
{
    coil_server_opts opts = {.grace_ns = COIL_SEC(60)};
    coil_listener *listener;
    coil_server *server;
    coil_stream *stream;
    char line[20];

    CHECK(coil_listen("localhost", "4001", 0, &listener) == 0);
    CHECK(coil_server_create(listener, answer_requests, arg, &opts, &server) == 0);
    CHECK(coil_connect("localhost", "4001", &stream) == 0);
    CHECK(coil_write(stream, "one\n", 4) == 4);
    CHECK(coil_read_line(stream, line, sizeof line) == 4);
    CHECK(strcmp(line, "more") == 0);
    CHECK(coil_server_stop(server) == 0);
    CHECK(coil_read_line(stream, line, sizeof line) == -ENODATA);
    coil_stream_destroy(stream);
    coil_server_destroy(server);
    coil_listener_destroy(listener);
    return 0;
}

int main(void)
{
    static const int sigterm = SIGTERM;

    RUN_SIMULATED(talk, NULL);
    RUN_SIMULATED(stop_gracefully, NULL);
    send_when_handled(&sigterm);
    return listing_main();
}
