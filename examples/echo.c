/*
 * echo.c - a TCP server that sends back what it gets.
 *
 *     echo [HOST PORT]
 */
#include <coil.h>

#include <stdio.h>
#include <string.h>

static int echo(coil_stream *stream, void *arg)
{
    char bytes[4096];
    ssize_t n;

    (void)arg;
    while ((n = coil_read(stream, bytes, sizeof bytes)) > 0)
        if (coil_write(stream, bytes, (size_t)n) < 0)
            break;
    return 0; // a client that is gone is no failure of ours
}

static int app(void *arg)
{
    char **address = arg;
    coil_listener *listener;
    int rc = coil_listen(address[0], address[1], 0, &listener);

    if (rc < 0)
        return rc;
    printf("listening on %s:%u\n", address[0], coil_listener_port(listener));
    fflush(stdout);
    rc = coil_serve(listener, echo, NULL, NULL); // until Ctrl-C
    coil_listener_destroy(listener);
    return rc;
}

int main(int argc, char *argv[])
{
    char *any[] = {"127.0.0.1", "0"};
    int rc = coil_run(app, argc == 3 ? argv + 1 : any, NULL);

    if (rc < 0 && rc != -EINTR)
        fprintf(stderr, "echo: %s\n", strerror(-rc));
    return rc < 0 && rc != -EINTR;
}
