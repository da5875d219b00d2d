/*
 * test_server_tls.c - a server that speaks TLS.
 */
#include "certificates.h"

#include "../harness/harness.h"

#include <stdio.h>

static int echo(coil_stream *stream, void *arg)
{
    char bytes[256];
    ssize_t n;

    (void)arg;
    while ((n = coil_read(stream, bytes, sizeof bytes)) > 0)
        if ((n = coil_write(stream, bytes, (size_t)n)) < 0)
            break;
    return (int)n;
}

IO_TEST(server_speaks_tls)
{
    struct certificates files;
    coil_tls *ours, *theirs;
    coil_stream *client, *silent;
    coil_listener *listener;
    coil_server_opts opts = {.handshake_ns = COIL_MSEC(20)};
    coil_server *server;
    char byte = 'x', port[8];

    CHECK_INT(coil_listen("127.0.0.1", "0", 0, &listener), 0);
    snprintf(port, sizeof port, "%u", coil_listener_port(listener));
    certificates_make(&files);
    CHECK_INT(coil_tls_create(&(coil_tls_opts){.certificate_file = files.server}, &ours),
              0);
    CHECK_INT(coil_tls_create(&(coil_tls_opts){.ca_file = files.root}, &theirs), 0);
    opts.tls = ours;
    CHECK_INT(coil_server_create(listener, echo, NULL, &opts, &server), 0);
    coil_tls_release(ours);
    /* It says nothing, and is in nobody's way for long. */
    CHECK_INT(coil_connect("127.0.0.1", port, &silent), 0);
    CHECK_INT(coil_connect_tls("127.0.0.1", port, theirs, &client), 0);
    CHECK_INT(coil_write(client, &byte, 1), 1);
    CHECK_INT(coil_read(client, &byte, 1), 1);
    CHECK_INT(coil_stream_shutdown_write(client), 0);
    CHECK_INT(coil_read(client, &byte, 1), 0);
    coil_stream_destroy(client);
    CHECK_INT(coil_read(silent, &byte, 1), 0);
    coil_stream_destroy(silent);
    CHECK_INT(coil_server_stop(server), 0);
    coil_server_destroy(server);
    coil_tls_release(theirs);
    coil_listener_destroy(listener);
    certificates_remove(&files);
}
