/*
 * gio.c - uses GIO's blocking calls: connections with GSocketClient, streams, and a
 * resolver that looks up names on GLib's own threads.
 */
#include "foreign.h"

#include <gio/gio.h>
#include <string.h>

static bool exchange(GSocketConnection *connection)
{
    static const char request[] = "GET / HTTP/1.0\r\n\r\n";
    GInputStream *in = g_io_stream_get_input_stream(G_IO_STREAM(connection));
    GOutputStream *out = g_io_stream_get_output_stream(G_IO_STREAM(connection));
    char reply[2000] = "";
    gsize n = 0;

    return g_output_stream_write_all(out, request, sizeof request - 1, NULL, NULL,
                                     NULL) &&
           g_input_stream_read_all(in, reply, sizeof reply - 1, &n, NULL, NULL) &&
           strstr(reply, "slow\n") != NULL;
}

static bool use(int number)
{
    GSocketClient *client = g_socket_client_new();
    GError *error = NULL;
    GSocketConnection *connection;
    bool right = false;

    (void)number;
    g_socket_client_set_timeout(client, 120);
    connection = g_socket_client_connect_to_host(client, "127.0.0.1",
                                                 (guint16)foreign_port, NULL, &error);
    if (connection != NULL) {
        right = exchange(connection);
        g_object_unref(connection);
    } else {
        foreign_failed("%s", error->message);
        g_error_free(error);
    }
    g_object_unref(client);
    return right;
}

const struct foreign foreign = {.name = "GIO",
                                .tested = "blocking connects and streams",
                                .thread_keys = true,
                                .server = true,
                                .use = use};
