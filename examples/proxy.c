/*
 * proxy.c - forwards every connection to another host and port: proxy PORT HOST PORT
 *
 * A connection has two directions, and a separate task copies the bytes of each. One
 * direction may end long before the other (half-close): its task passes on the end of the
 * stream by shutting down the sending side.
 */
#include <coil.h>

#include <stdio.h>

struct target {
    const char *host, *port;
};

struct direction {
    coil_stream *from, *to;
};

static int hand_on(void *arg)
{
    struct direction *d = arg;
    ssize_t n = coil_copy(d->from, d->to);

    return n < 0 ? (int)n : coil_stream_shutdown_write(d->to);
}

/* If one direction fails, its group cancels the other. */
static int hand_both_on(coil_stream *client, coil_stream *server)
{
    struct direction there = {client, server}, back = {server, client};
    int rc;

    COIL_WITH_GROUP(group, rc)
    {
        rc = coil_group_spawn(&group, hand_on, &there, NULL, NULL);
        if (rc == 0)
            rc = hand_on(&back);
    }
    return rc;
}

static int serve(coil_stream *client, void *arg)
{
    const struct target *target = arg;
    COIL_AUTO(coil_stream) server = NULL;
    int rc = coil_connect(target->host, target->port, &server);

    if (rc < 0)
        /* coil reports the failure and closes the client's connection */
        return rc;
    hand_both_on(client, server);
    return 0;
}

static int app(void *arg)
{
    char **argv = arg;
    struct target target = {argv[2], argv[3]};
    COIL_AUTO(coil_listener) listener = NULL;
    int rc = coil_listen("localhost", argv[1], 0, &listener);

    if (rc < 0)
        return rc;
    printf("proxy on port %u\n", coil_listener_port(listener));
    fflush(stdout);
    return coil_serve(listener, serve, &target, NULL);
}

int main(int argc, char **argv)
{
    if (argc == 4)
        return coil_run(app, argv, NULL) < 0;
    fprintf(stderr, "usage: %s PORT HOST PORT\n", argv[0]);
    return 2;
}
