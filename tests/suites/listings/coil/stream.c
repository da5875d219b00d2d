/* needs: coil-testing */
/* stream.c - compiles and runs the examples in include/coil/stream.h. */
#include "simulated.h"

static ssize_t answer(coil_stream *stream)
{
    char bytes[100];
    ssize_t n = coil_read(stream, bytes, sizeof bytes);

    return n > 0 ? coil_write(stream, "an answer\n", 10) : n;
}

static int serve(coil_stream *stream, void *arg)
{
    ssize_t rc;

    (void)arg;
#include "stream.h/2"
    return (int)rc;
}

static int serve_once(coil_stream *stream, void *arg)
{
    (void)arg;
    return (int)answer(stream);
}

static int get(const char *request)
{
    char buf[100];
    ssize_t rc;

#include "stream.h/1"
    return (int)rc;
}

static int app(void *arg)
{
    struct host closing, waiting;
    coil_stream *stream;
    char line[10];

    (void)arg;
    open_host(&closing, "80", serve_once, NULL);
    CHECK(get("a question\n") == 0);
    close_host(&closing);

    open_host(&waiting, "81", serve, NULL);
    CHECK(coil_connect("localhost", "81", &stream) == 0);
    CHECK(coil_write(stream, "?", 1) == 1 && coil_read_exact(stream, line, 10) == 10);
    coil_stream_destroy(stream);
    close_host(&waiting);
    return 0;
}

int main(void)
{
    RUN_SIMULATED(app, NULL);
    return 0;
}
