/* threads.c - compiles and runs the examples in docs/manual/threads.md. */
#include "listings.h"

static int talk(coil_stream *stream, void *arg)
{
    (void)arg;
    return (int)coil_write(stream, "hello", 5);
}

#define main listing_main
#include "threads.md/many-processors"
#undef main

#include "signals.h"

/* Choose a free port. */
static int choose_port(void *text)
{
    coil_listener *listener;

    CHECK(coil_listen(NULL, "0", 0, &listener) == 0);
    snprintf(text, 8, "%d", coil_listener_port(listener));
    coil_listener_destroy(listener);
    return 0;
}

int main(void)
{
    static const int sigint = SIGINT;
    char port[8], name[] = "threads", *argv[] = {name, port, NULL};

    RUN(choose_port, port);
    send_when_handled(&sigint);
    CHECK(listing_main(2, argv) == 1); // -EINTR
    return 0;
}
