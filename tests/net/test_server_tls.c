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

struct tls_server {
    struct certificates files;
    coil_listener *listener;
    coil_server *server;
    char port[8];
};

/* 0: the usual limit of the handshake. */
static void start(struct tls_server *s, int64_t handshake_ns)
{
    coil_server_opts opts = {.handshake_ns = handshake_ns};

    CHECK_INT(coil_listen("127.0.0.1", "0", 0, &s->listener), 0);
    snprintf(s->port, sizeof s->port, "%u", coil_listener_port(s->listener));
    certificates_make(&s->files);
    CHECK_INT(
        coil_tls_create(&(coil_tls_opts){.certificate_file = s->files.server}, &opts.tls),
        0);
    CHECK_INT(coil_server_create(s->listener, echo, NULL, &opts, &s->server), 0);
    coil_tls_release(opts.tls);
}

static void stop(struct tls_server *s)
{
    CHECK_INT(coil_server_stop(s->server), 0);
    coil_server_destroy(s->server);
    coil_listener_destroy(s->listener);
    certificates_remove(&s->files);
}

IO_TEST(server_speaks_tls)
{
    struct tls_server s;
    coil_stream *client;
    coil_tls *tls;
    char byte = 'x';

    start(&s, 0);
    CHECK_INT(coil_tls_create(&(coil_tls_opts){.ca_file = s.files.root}, &tls), 0);
    CHECK_INT(coil_connect_tls("127.0.0.1", s.port, tls, &client), 0);
    CHECK_INT(coil_write(client, &byte, 1), 1);
    CHECK_INT(coil_read(client, &byte, 1), 1);
    CHECK_INT(coil_stream_shutdown_write(client), 0);
    CHECK_INT(coil_read(client, &byte, 1), 0);
    coil_stream_destroy(client);
    coil_tls_release(tls);
    stop(&s);
}

IO_TEST(server_does_not_wait_long_for_a_silent_peer)
{
    struct tls_server s;
    coil_stream *silent;
    char byte;

    start(&s, COIL_MSEC(20));
    CHECK_INT(coil_connect("127.0.0.1", s.port, &silent), 0);
    CHECK_INT(coil_read(silent, &byte, 1), 0);
    coil_stream_destroy(silent);
    stop(&s);
}
