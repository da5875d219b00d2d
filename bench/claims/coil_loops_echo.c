/*
 * coil_loops_echo.c - like bench/echo/coil_echo.c, but with two loops, each on its own
 * thread. The first loop accepts connections, and moves every second connection to the
 * other loop.
 */
#include <coil.h>

#include <stdatomic.h>
#include <stdio.h>

static _Atomic(coil_loop *) second_loop;

static int serve(void *arg)
{
    coil_stream *stream = arg;
    char bytes[4096];
    ssize_t n;

    while ((n = coil_read(stream, bytes, sizeof bytes)) > 0)
        if (coil_write(stream, bytes, (size_t)n) < 0)
            break;
    coil_stream_destroy(stream);
    return 0; /* a client that disconnects is not an error */
}

static int attach_and_serve(void *arg)
{
    int rc = coil_stream_attach(arg);

    if (rc == 0)
        return serve(arg);
    coil_stream_destroy(arg);
    return rc;
}

static int accept_all(coil_listener *listener)
{
    coil_stream *stream;
    int rc;

    for (unsigned i = 0; (rc = coil_accept(listener, &stream)) == 0; i++) {
        if (i % 2 == 0)
            rc = coil_spawn(serve, stream, NULL, NULL);
        else if ((rc = coil_stream_detach(stream)) == 0)
            rc = coil_spawn_threadsafe(second_loop, attach_and_serve, stream, NULL, NULL);
        if (rc < 0)
            coil_stream_destroy(stream);
    }
    return rc;
}

static int app(void *arg)
{
    coil_listener *listener;
    int rc;

    (void)arg;
    if (coil_thread_index() == 1) {
        second_loop = coil_loop_current();
        return coil_sleep(COIL_NEVER);
    }
    while (second_loop == NULL)
        coil_sleep(COIL_MSEC(1));
    rc = coil_listen("127.0.0.1", "0", 0, &listener);
    if (rc < 0)
        return rc;
    printf("%u\n", coil_listener_port(listener));
    fflush(stdout);
    rc = accept_all(listener);
    coil_listener_destroy(listener);
    return rc;
}

int main(void)
{
    return coil_run_threads(2, app, NULL, NULL) < 0;
}
