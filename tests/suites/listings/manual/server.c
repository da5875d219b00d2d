/* needs: coil-testing */
/* server.c - the program around the listings of docs/manual/server.md. */
#include "listings.h"

#include "server.md/servers"
#define main listing_main
#include "server.md/sigterm"
#undef main

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

int main(void)
{
    static const int sigterm = SIGTERM;

    RUN_SIMULATED(talk, NULL);
    send_when_handled(&sigterm);
    return listing_main();
}
