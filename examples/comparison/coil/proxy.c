/* proxy.c - copy the bytes of each connection to a server and back, with half-closes. */
#include <coil.h>
#include <stdio.h>

static int copy(void *arg)
{
    coil_stream **ends = arg;
    int64_t n = coil_copy(ends[0], ends[1]);

    return n < 0 ? (int)n : coil_stream_shutdown_write(ends[1]);
}

static int serve(coil_stream *client, void *port)
{
    COIL_AUTO(coil_stream) server = NULL;
    coil_stream *to[2] = {client, NULL}, *from[2] = {NULL, client};
    int rc = coil_connect("127.0.0.1", port, &server);

    if (rc < 0)
        return rc;
    to[1] = from[0] = server;
    COIL_WITH_GROUP(group, rc)
    {
        rc = coil_group_spawn(&group, copy, from, NULL, NULL);
        if (rc == 0)
            rc = copy(to);
    }
    return rc;
}

static int app(void *arg)
{
    COIL_AUTO(coil_listener) listener = NULL;
    int rc = coil_listen("127.0.0.1", "0", 0, &listener);

    if (rc < 0)
        return rc;
    printf("%u\n", coil_listener_port(listener));
    fflush(stdout);
    return coil_serve(listener, serve, arg, NULL);
}

int main(int argc, char **argv)
{
    return argc != 2 || coil_run(app, argv[1], NULL) != -EINTR;
}
