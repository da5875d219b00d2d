/* echo.c - an echo server that ends a connection after 300 ms of silence. */
#include <coil.h>
#include <stdio.h>

static int echo(coil_stream *stream, void *arg)
{
    char bytes[4096];
    ssize_t n;

    (void)arg;
    do {
        COIL_WITH_DEADLINE(COIL_MSEC(300), n)
        n = coil_read(stream, bytes, sizeof bytes);
        if (n > 0)
            n = coil_write(stream, bytes, (size_t)n);
    } while (n > 0);
    return 0;
}

static int app(void *arg)
{
    COIL_AUTO(coil_listener) listener = NULL;
    int rc = coil_listen("127.0.0.1", "0", 0, &listener);

    (void)arg;
    if (rc < 0)
        return rc;
    printf("%u\n", coil_listener_port(listener));
    fflush(stdout);
    return coil_serve(listener, echo, NULL, NULL);
}

int main(void)
{
    return coil_run(app, NULL, NULL) != -EINTR;
}
