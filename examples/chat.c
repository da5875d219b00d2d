/*
 * chat.c - a chat room: `nc localhost PORT`. Each line is sent to all clients.
 *
 * A slow client misses lines, and is told how many. Other clients do not wait for it.
 */
#include <coil.h>

#include <stdio.h>
#include <string.h>

struct line {
    size_t length;
    char text[200];
};

struct guest {
    coil_stream *client;
    coil_receiver receiver;
};

static coil_broadcast room = COIL_BROADCAST_INIT(sizeof(struct line), 64);

static int send_lines(void *arg)
{
    struct guest *guest = arg;
    struct line line;
    char note[50];
    ssize_t n = 0;

    while (n >= 0 && (n = coil_broadcast_receive(&guest->receiver, &line)) >= 0) {
        if (n > 0) {
            snprintf(note, sizeof note, "(%d lines are missing)\n", (int)n);
            n = coil_write(guest->client, note, strlen(note));
        }
        if (n >= 0)
            n = coil_write(guest->client, line.text, line.length);
    }
    return (int)n;
}

static int converse(coil_stream *client, void *arg)
{
    struct guest guest = {.client = client};
    struct line line;
    ssize_t n = 0;
    int rc;

    (void)arg;
    coil_broadcast_subscribe(&room, &guest.receiver);
    COIL_WITH_GROUP(group, rc)
    {
        rc = coil_group_spawn(&group, send_lines, &guest, NULL, NULL);
        while (rc == 0 &&
               (n = coil_read_line(client, line.text, sizeof line.text - 1)) >= 0) {
            line.text[n] = '\n';
            line.length = (size_t)n + 1;
            rc = coil_broadcast_send(&room, &line);
        }
        coil_group_cancel(&group, "the client has left");
    }
    return n == -ENODATA ? 0 : rc;
}

static int app(void *arg)
{
    COIL_AUTO(coil_listener) listener = NULL;
    int rc = coil_listen("localhost", arg, 0, &listener);

    if (rc < 0)
        return rc;
    printf("serving on port %u\n", coil_listener_port(listener));
    fflush(stdout);
    return coil_serve(listener, converse, NULL, NULL);
}

int main(int argc, char **argv)
{
    return coil_run(app, argc > 1 ? argv[1] : "0", NULL) != -EINTR;
}
