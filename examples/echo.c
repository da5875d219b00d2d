/*
 * echo.c - a TCP server that sends back what it gets.
 *
 *     echo [HOST PORT]
 */
#include <coil.h>

#include <stdio.h>
#include <string.h>

struct server {
    coil_listener *listener;
    coil_group group;
};

static void echo(coil_stream *stream)
{
    char bytes[4096];
    ssize_t n;

    while ((n = coil_read(stream, bytes, sizeof bytes)) > 0)
        if (coil_write(stream, bytes, (size_t)n) < 0)
            return;
}

/*
 * Accept one client, have another task accept the next, and serve. If there is no memory
 * for another, this one accepts again when it has served.
 */
static int serve(void *arg)
{
    struct server *server = arg;
    bool relieved = false;

    while (!relieved) {
        coil_stream *stream;
        int rc = coil_accept(server->listener, &stream);
        if (rc == -EMFILE || rc == -ENFILE)
            rc = coil_sleep(COIL_MSEC(100)); // until somebody has gone
        else if (rc == 0) {
            relieved = coil_group_spawn(&server->group, serve, server, NULL, NULL) == 0;
            echo(stream);
            coil_stream_destroy(stream);
        }
        if (rc < 0)
            return rc;
    }
    return 0;
}

static int app(void *arg)
{
    char **address = arg;
    struct server server;
    int rc = coil_listen(address[0], address[1], 0, &server.listener);

    if (rc < 0)
        return rc;
    printf("listening on %s:%u\n", address[0], coil_listener_port(server.listener));
    fflush(stdout);
    coil_group_enter(&server.group);
    rc = coil_group_spawn(&server.group, serve, &server, NULL, NULL);
    rc = coil_group_exit(&server.group, rc); // cancelled by Ctrl-C
    coil_listener_destroy(server.listener);
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
