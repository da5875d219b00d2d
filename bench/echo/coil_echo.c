/*
 * coil_echo.c - echo with coil: a task for each connection, which reads and writes.
 */
#include <coil.h>

#include <stdio.h>
#include <string.h>

enum { BACKLOG = 4096 };

static int serve(void *arg)
{
    coil_stream *stream = arg;
    char bytes[4096];
    ssize_t n;

    while ((n = coil_read(stream, bytes, sizeof bytes)) > 0)
        if (coil_write(stream, bytes, (size_t)n) < 0)
            break;
    coil_stream_destroy(stream);
    return 0; // a client that disconnects is not an error
}

static int app(void *arg)
{
    coil_listener *listener;
    coil_stream *stream;
    int rc = coil_listen("127.0.0.1", "0", BACKLOG, &listener);

    (void)arg;
    if (rc < 0)
        return rc;
    printf("%u\n", coil_listener_port(listener));
    fflush(stdout);
    while ((rc = coil_accept(listener, &stream)) == 0) {
        rc = coil_spawn(serve, stream, NULL, NULL);
        if (rc < 0)
            coil_stream_destroy(stream);
    }
    coil_listener_destroy(listener);
    return rc;
}

int main(void)
{
    int rc = coil_run(app, NULL, NULL);

    if (rc < 0 && rc != -EINTR)
        fprintf(stderr, "coil_echo: %s\n", strerror(-rc));
    return rc < 0;
}
