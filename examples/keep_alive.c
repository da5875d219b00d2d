/*
 * keep_alive.c - a server whose clients stay connected between their requests. After
 * SIGTERM, idle connections end immediately, and busy connections end after the answer to
 * their request.
 *
 *     keep_alive [PORT]          a request is a line: the number of milliseconds to work
 */
#include <coil.h>

#include <stdio.h>
#include <stdlib.h>

static int answer(coil_stream *stream)
{
    char line[100];
    ssize_t n = coil_read_line(stream, line, sizeof line);

    if (n < 0)
        return (int)n; // -ENODATA: the client has closed the connection
    n = coil_sleep(COIL_MSEC(atoi(line)));
    if (n < 0)
        return (int)n;
    if (coil_server_is_stopping(coil_server_current()))
        n = coil_write(stream, "done, goodbye\n", 14);
    else
        n = coil_write(stream, "done\n", 5);
    return n < 0 ? (int)n : 0;
}

static int converse(coil_stream *stream, void *arg)
{
    int rc;

    (void)arg;
    // a limit for clients that send half a line, or do not read
    coil_stream_set_idle_timeout(stream, COIL_SEC(30));
    while ((rc = coil_server_wait_request(stream)) == 0) // -ESHUTDOWN: the server stops
        if ((rc = answer(stream)) < 0)
            break;
    return rc == -ESHUTDOWN || rc == -ENODATA || rc == -ETIMEDOUT ? 0 : rc;
}

static int app(void *arg)
{
    static const coil_server_opts opts = {.grace_ns = COIL_SEC(10)};
    COIL_AUTO(coil_listener) listener = NULL;
    int rc = coil_listen("localhost", arg, 0, &listener);

    if (rc < 0)
        return rc;
    printf("serving on port %u\n", coil_listener_port(listener));
    fflush(stdout);
    return coil_serve(listener, converse, NULL, &opts);
}

int main(int argc, char **argv)
{
    int rc =
        coil_run(app, argc > 1 ? argv[1] : "0", &(coil_run_opts){.take_sigterm = true});

    return rc < 0 && rc != -EINTR;
}
