/*
 * coil_idle_echo.c - echo with coil, for connections that are mostly idle. A handler has
 * no buffer while it waits for bytes.
 */
#include <coil.h>

#include <stdio.h>
#include <string.h>

enum { BACKLOG = 4096, LIGHT_BYTES = 4 << 20 };

static __attribute__((noinline)) ssize_t echo_once(coil_stream *stream)
{
    char bytes[4096];
    ssize_t n = coil_read(stream, bytes, sizeof bytes);

    return n > 0 ? coil_write(stream, bytes, (size_t)n) : n;
}

static int serve(coil_stream *stream, void *arg)
{
    (void)arg;
    while (coil_stream_wait_readable(stream) == 0)
        if (echo_once(stream) <= 0)
            break;
    return 0; // a client that disconnects is not an error
}

static int app(void *arg)
{
    coil_listener *listener;
    int rc = coil_listen("127.0.0.1", "0", BACKLOG, &listener);

    (void)arg;
    if (rc < 0)
        return rc;
    printf("%u\n", coil_listener_port(listener));
    fflush(stdout);
    rc = coil_serve(listener, serve, NULL, NULL);
    coil_listener_destroy(listener);
    return rc;
}

int main(int argc, char **argv)
{
    coil_run_opts opts = {.light = argc > 1 && strcmp(argv[1], "light") == 0,
                          .light_resident_bytes = LIGHT_BYTES};
    int rc = coil_run(app, NULL, &opts);

    if (rc < 0 && rc != -EINTR)
        fprintf(stderr, "coil_idle_echo: %s\n", strerror(-rc));
    return rc < 0;
}
