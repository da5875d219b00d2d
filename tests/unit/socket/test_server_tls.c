/*
 * test_server_tls.c - a server with TLS.
 */
#include "sockets.h"
#include "../tls/certificates.h"

#include "../../harness/harness.h"

#include <stdio.h>

struct tls_server {
    struct certificates files;
    coil_listener *listener;
    coil_server *server;
    char port[8];
};

/* Start a server. If an argument is 0, its default applies. */
static void start_with(struct tls_server *s, int64_t handshake_ns, size_t max_handshakes)
{
    coil_server_opts opts = {.handshake_ns = handshake_ns,
                             .max_handshakes = max_handshakes};

    CHECK_INT(coil_listen("127.0.0.1", "0", 0, &s->listener), 0);
    snprintf(s->port, sizeof s->port, "%u", coil_listener_port(s->listener));
    certificates_make(&s->files);
    CHECK_INT(
        coil_tls_create(&(coil_tls_opts){.certificate_file = s->files.server}, &opts.tls),
        0);
    CHECK_INT(coil_server_create(s->listener, echo_all, NULL, &opts, &s->server), 0);
    coil_tls_release(opts.tls);
}

static void start(struct tls_server *s, int64_t handshake_ns)
{
    start_with(s, handshake_ns, 0);
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

/*
 * Check the default time limit of a handshake with a silent peer. With a virtual clock,
 * the test checks the exact time.
 */
NET_TEST(server_waits_ten_seconds_for_a_silent_peer)
{
    struct tls_server s;
    coil_stream *silent;
    int64_t begun;
    char byte;

    if (!test_simulated())
        test_skip("this takes ten seconds without a virtual clock");
    start(&s, 0);
    CHECK_INT(coil_connect("127.0.0.1", s.port, &silent), 0);
    begun = coil_now();
    CHECK_INT(coil_read(silent, &byte, 1), 0);
    CHECK_INT((coil_now() - begun) / COIL_SEC(1), 10);
    coil_stream_destroy(silent);
    stop(&s);
}

struct greeting {
    const struct tls_server *server;
    coil_tls *tls;
    bool served;
};

static int greet(void *arg)
{
    struct greeting *g = arg;
    coil_stream *client;
    char byte = 'x';
    int rc = coil_connect_tls("127.0.0.1", g->server->port, g->tls, &client);

    if (rc < 0)
        return rc;
    CHECK_INT(coil_write(client, &byte, 1), 1);
    CHECK_INT(coil_read(client, &byte, 1), 1);
    g->served = true;
    coil_stream_destroy(client);
    return 0;
}

/*
 * Silent peers use up the limit of concurrent handshakes. Another peer is served as soon
 * as the handshake of a silent peer has timed out.
 */
NET_TEST(server_with_max_handshakes_leaves_the_rest_waiting)
{
    struct tls_server s;
    struct greeting g = {.server = &s};
    coil_stream *silent[2];
    coil_task *task;

    start_with(&s, COIL_NEVER, 2);
    CHECK_INT(coil_tls_create(&(coil_tls_opts){.ca_file = s.files.root}, &g.tls), 0);
    for (int i = 0; i < 2; i++)
        CHECK_INT(coil_connect("127.0.0.1", s.port, &silent[i]), 0);
    while (coil_server_connections(s.server) < 2)
        coil_sleep(COIL_MSEC(1));
    CHECK_INT(coil_spawn(greet, &g, NULL, &task), 0);
    coil_sleep(COIL_MSEC(20));
    CHECK(!g.served);
    CHECK_INT(coil_server_connections(s.server), 2);
    coil_stream_destroy(silent[0]);
    CHECK_INT(coil_task_await(task), 0);
    CHECK(g.served);
    coil_task_release(task);
    coil_stream_destroy(silent[1]);
    coil_tls_release(g.tls);
    stop(&s);
}

/*
 * The limit applies only to handshakes in progress, not to connections that have
 * completed theirs.
 */
NET_TEST(server_with_max_handshakes_serves_any_number)
{
    struct tls_server s;
    coil_stream *clients[4];
    coil_tls *tls;
    char byte = 'x';

    start_with(&s, 0, 1);
    CHECK_INT(coil_tls_create(&(coil_tls_opts){.ca_file = s.files.root}, &tls), 0);
    for (int i = 0; i < 4; i++) {
        CHECK_INT(coil_connect_tls("127.0.0.1", s.port, tls, &clients[i]), 0);
        CHECK_INT(coil_write(clients[i], &byte, 1), 1);
        CHECK_INT(coil_read(clients[i], &byte, 1), 1);
    }
    CHECK_INT(coil_server_connections(s.server), 4);
    for (int i = 0; i < 4; i++)
        coil_stream_destroy(clients[i]);
    coil_tls_release(tls);
    stop(&s);
}
