/*
 * echo.c - a TCP server that sends back the bytes that it receives.
 *
 *     echo [HOST PORT]
 */
#include <coil.h>

#include <stdio.h>
#include <string.h>

/* This is a separate function so that a waiting connection has no buffer on its stack. */
static ssize_t echo_once(coil_stream *stream)
{
    char bytes[4096];
    ssize_t n = coil_read(stream, bytes, sizeof bytes);

    return n > 0 ? coil_write(stream, bytes, (size_t)n) : n;
}

static int echo(coil_stream *stream, void *arg)
{
    (void)arg;
    while (coil_stream_wait_readable(stream) == 0)
        if (echo_once(stream) <= 0)
            break;
    return 0; // a client that disconnects is not an error
}

static int app(void *arg)
{
    char **address = arg;
    COIL_AUTO(coil_listener) listener = NULL;
    int rc = coil_listen(address[0], address[1], 0, &listener);

    if (rc < 0)
        return rc;
    printf("listening on %s:%u\n", address[0], coil_listener_port(listener));
    fflush(stdout);
    return coil_serve(listener, echo, NULL, NULL); // until Ctrl-C
}

int main(int argc, char *argv[])
{
    char *any[] = {"127.0.0.1", "0"};
    int rc = coil_run(app, argc == 3 ? argv + 1 : any, NULL);

    return rc < 0 && rc != -EINTR;
}
