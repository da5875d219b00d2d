/*
 * test_tls.c - TLS streams with coil at both ends: negotiation, data transfer, ends of
 * streams, cancellation and failures.
 */
#include "certificates.h"
#include "../socket/sockets.h"
#include "../stream/flood.h"
#include "../stream/transfer.h"

#include "../../harness/harness.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

/* ---- two ends ---------------------------------------------------------------------- */

struct ends {
    struct certificates files;
    coil_tls *server_tls, *client_tls;
    coil_stream *server, *client;
    int server_rc, client_rc;
};

static coil_tls *create(const coil_tls_opts *opts)
{
    coil_tls *tls = NULL;

    CHECK_INT(coil_tls_create(opts, &tls), 0);
    return tls;
}

/* Return the default options of an end, which a test may change before connect_as(). */
static coil_tls_opts server_opts(const struct ends *e)
{
    return (coil_tls_opts){.certificate_file = e->files.server};
}

static coil_tls_opts client_opts(const struct ends *e)
{
    return (coil_tls_opts){.ca_file = e->files.root};
}

static int accept_it(void *arg)
{
    struct ends *e = arg;

    e->server_rc = coil_accept_tls(e->server, e->server_tls);
    return 0;
}

/*
 * Connect the two ends, and perform the handshake, in which the client expects this
 * server name.
 */
static void connect_as(struct ends *e, const char *name)
{
    coil_stream *streams[2];
    coil_task *task;

    connect_streams(streams);
    e->client = streams[0];
    e->server = streams[1];
    CHECK_INT(coil_spawn(accept_it, e, NULL, &task), 0);
    e->client_rc = coil_start_tls(e->client, e->client_tls, name);
    if (e->client_rc < 0)
        coil_stream_close(e->client);
    finish(task);
}

static void disconnect(struct ends *e)
{
    coil_stream_destroy(e->client);
    coil_stream_destroy(e->server);
    e->client = e->server = NULL;
}

static void forget_contexts(struct ends *e)
{
    coil_tls_release(e->server_tls);
    coil_tls_release(e->client_tls);
    e->server_tls = e->client_tls = NULL;
}

/* Replace the contexts with new ones, which have these options, and connect. */
static void set_up(struct ends *e, const coil_tls_opts *server,
                   const coil_tls_opts *client)
{
    disconnect(e);
    forget_contexts(e);
    e->server_tls = create(server);
    e->client_tls = create(client);
    connect_as(e, "localhost");
}

/* Check the results of the handshake. */
#define CHECK_ENDS(e, server, client)                                                    \
    do {                                                                                 \
        CHECK_INT((e)->server_rc, server);                                               \
        CHECK_INT((e)->client_rc, client);                                               \
    } while (0)

/* Connect with the default options. */
static struct ends *open_ends(void)
{
    struct ends *e = calloc(1, sizeof *e);
    coil_tls_opts server, client;

    certificates_make(&e->files);
    server = server_opts(e);
    client = client_opts(e);
    set_up(e, &server, &client);
    CHECK_ENDS(e, 0, 0);
    return e;
}

static struct ends *only_files(void)
{
    struct ends *e = calloc(1, sizeof *e);

    certificates_make(&e->files);
    return e;
}

static void close_ends(struct ends *e)
{
    disconnect(e);
    forget_contexts(e);
    certificates_remove(&e->files);
    free(e);
}

static const char *last_message(void)
{
    coil_error *error = coil_last_error();

    return error != NULL ? coil_error_message(error) : "";
}

static void check_says(const char *part)
{
    if (strstr(last_message(), part) == NULL)
        CHECK_STR(last_message(), part);
}

/* ---- calls in tasks of their own --------------------------------------------------- */

/* Call coil_writev(); transfer->buf is an array of transfer->n struct iovec. */
static int do_writev(void *arg)
{
    struct transfer *c = arg;

    c->result = coil_writev(c->stream, c->buf, (int)c->n);
    c->ended = true;
    return 0;
}

static int do_stop(void *arg)
{
    struct transfer *c = arg;

    c->result = coil_tls_stop(c->stream);
    c->ended = true;
    return 0;
}

/* ---- negotiation ------------------------------------------------------------------- */

NET_TEST(tls_talks_both_ways)
{
    struct ends *e = open_ends();

    check_talk(e->client, e->server, "question");
    check_talk(e->server, e->client, "answer");
    CHECK_STR(coil_tls_version(e->client), "TLSv1.3");
    CHECK_STR(coil_tls_version(e->server), "TLSv1.3");
    CHECK_STR(coil_tls_cipher(e->client), coil_tls_cipher(e->server));
    CHECK_STR(coil_tls_server_name(e->client), "localhost");
    CHECK_STR(coil_tls_server_name(e->server), "localhost");
    CHECK_STR(coil_tls_peer(e->client), "CN = server");
    CHECK_PTR(coil_tls_peer(e->server), NULL);
    CHECK_PTR(coil_tls_alpn(e->client), NULL);
    CHECK(!coil_tls_resumed(e->client));
    CHECK(coil_tls_peer_certificate(e->client, NULL, 0) > 100);
    CHECK_INT(coil_tls_peer_certificate(e->server, NULL, 0), -ENODATA);
    close_ends(e);
}

NET_TEST(tls_calls_on_a_plain_stream)
{
    coil_stream *ends[2];

    connect_streams(ends);
    CHECK_PTR(coil_tls_version(ends[0]), NULL);
    CHECK_PTR(coil_tls_cipher(ends[0]), NULL);
    CHECK_PTR(coil_tls_peer(ends[0]), NULL);
    CHECK(!coil_tls_resumed(ends[0]));
    CHECK_INT(coil_tls_stop(ends[0]), -EINVAL);
    destroy_streams(ends);
}

NET_TEST(tls_versions)
{
    struct ends *e = only_files();
    coil_tls_opts server = server_opts(e), client = client_opts(e);

    server.max_version = COIL_TLS_1_2;
    set_up(e, &server, &client);
    CHECK_STR(coil_tls_version(e->client), "TLSv1.2");
    check_talk(e->client, e->server, "question");
    check_talk(e->server, e->client, "answer");

    client.min_version = COIL_TLS_1_3;
    set_up(e, &server, &client);
    CHECK_ENDS(e, -EPROTO, -EPROTO);
    check_says("the peer sent the alert 'protocol version'");
    close_ends(e);
}

NET_TEST(tls_ciphers)
{
    struct ends *e = only_files();
    coil_tls_opts server = server_opts(e), client = client_opts(e);

    server.ciphersuites = "TLS_CHACHA20_POLY1305_SHA256";
    set_up(e, &server, &client);
    CHECK_STR(coil_tls_cipher(e->client), "TLS_CHACHA20_POLY1305_SHA256");

    client.max_version = COIL_TLS_1_2;
    client.ciphers = "ECDHE-ECDSA-AES128-GCM-SHA256";
    server.ciphers = "ECDHE-ECDSA-AES256-GCM-SHA384";
    set_up(e, &server, &client);
    CHECK_ENDS(e, -EPROTO, -EPROTO);
    check_says("handshake failure");
    close_ends(e);
}

/*
 * By default, coil does not offer the ciphers without forward secrecy that TLS 1.2 has
 * for RSA keys.
 */
NET_TEST(tls_ciphers_are_forward_secret_unless_others_are_asked_for)
{
    struct ends *e = only_files();
    coil_tls_opts server = server_opts(e), client = client_opts(e);
    char rsa[96];

    certificates_add_rsa(&e->files, rsa);
    server.certificate_file = client.ca_file = rsa;
    client.max_version = COIL_TLS_1_2;
    set_up(e, &server, &client);
    CHECK_ENDS(e, 0, 0);
    CHECK(strncmp(coil_tls_cipher(e->client), "ECDHE-RSA-", 10) == 0);

    client.ciphers = "AES128-GCM-SHA256";
    set_up(e, &server, &client);
    CHECK_ENDS(e, -EPROTO, -EPROTO);

    server.ciphers = "DEFAULT";
    set_up(e, &server, &client);
    CHECK_INT(e->server_rc, 0);
    CHECK_STR(coil_tls_cipher(e->client), "AES128-GCM-SHA256");
    close_ends(e);
}

NET_TEST(tls_alpn_is_the_servers_choice)
{
    struct ends *e = only_files();
    coil_tls_opts server = server_opts(e), client = client_opts(e);

    server.alpn = (const char *const[]){"h2", "http/1.1", NULL};
    client.alpn = (const char *const[]){"spdy", "http/1.1", "h2", NULL};
    set_up(e, &server, &client);
    CHECK_STR(coil_tls_alpn(e->client), "h2");
    CHECK_STR(coil_tls_alpn(e->server), "h2");

    /* no protocol is chosen if the server does not support the extension */
    server.alpn = NULL;
    set_up(e, &server, &client);
    CHECK_INT(e->client_rc, 0);
    CHECK_PTR(coil_tls_alpn(e->client), NULL);

    server.alpn = (const char *const[]){"imap", NULL};
    set_up(e, &server, &client);
    CHECK_ENDS(e, -EPROTO, -EPROTO);
    check_says("no application protocol");
    close_ends(e);
}

/* ---- names ------------------------------------------------------------------------- */

NET_TEST(tls_server_has_a_context_for_each_name)
{
    struct ends *e = open_ends();
    coil_tls *other = create(&(coil_tls_opts){.certificate_file = e->files.other_name,
                                              .alpn = (const char *const[]){"x", NULL}});
    coil_tls *tls = create(&(coil_tls_opts){.certificate_file = e->files.server});

    disconnect(e);
    coil_tls_release(e->server_tls);
    e->server_tls = tls;
    CHECK_INT(coil_tls_add_name(tls, "other.test", other), 0);
    CHECK_INT(coil_tls_add_name(tls, "OTHER.test.", other), -EEXIST);
    CHECK_INT(coil_tls_add_name(tls, "127.0.0.1", other), -EINVAL);
    CHECK_INT(coil_tls_add_name(tls, "a.*.test", other), -EINVAL);
    CHECK_INT(coil_tls_add_name(tls, "", other), -EINVAL);
    CHECK_INT(coil_tls_add_name(tls, "self", tls), -EINVAL);
    coil_tls_release(other);

    connect_as(e, "Other.Test");
    CHECK_INT(e->client_rc, 0);
    CHECK_STR(coil_tls_server_name(e->server), "Other.Test");
    CHECK_STR(coil_tls_peer(e->client), "CN = localhost");
    disconnect(e);
    connect_as(e, "www.example.org");
    CHECK_INT(e->client_rc, 0);
    CHECK_STR(coil_tls_peer(e->client), "CN = server");
    close_ends(e);
}

struct shop {
    coil_tls *for_name, *newest;
    int asked;
};

static coil_tls *choose_in(const char *name, void *arg)
{
    struct shop *shop = arg;

    shop->asked++;
    if (strcmp(name, "other.test") == 0)
        return coil_tls_retain(shop->for_name);
    return shop->newest != NULL ? coil_tls_retain(shop->newest) : NULL;
}

/*
 * A server chooses a context by the name that the client requests, and can replace a
 * certificate between two connections.
 */
NET_TEST(tls_server_chooses_a_context)
{
    struct ends *e = only_files();
    struct shop shop = {.newest = NULL};
    coil_tls_opts server = server_opts(e), client = client_opts(e);

    server.choose = choose_in;
    server.choose_arg = &shop;
    shop.for_name = create(&(coil_tls_opts){.certificate_file = e->files.other_name});
    set_up(e, &server, &client);
    CHECK_INT(e->client_rc, 0);
    CHECK_STR(coil_tls_peer(e->client), "CN = server");
    disconnect(e);
    connect_as(e, "other.test");
    CHECK_INT(e->client_rc, 0);
    CHECK_STR(coil_tls_peer(e->client), "CN = localhost");
    shop.newest = create(&(coil_tls_opts){.certificate_file = e->files.expired});
    check_talk(e->server, e->client, "the old connection goes on");
    disconnect(e);
    connect_as(e, "localhost");
    CHECK(e->client_rc < 0); /* the newest certificate has expired */
    disconnect(e);
    coil_tls_release(shop.newest);
    shop.newest = create(&(coil_tls_opts){.certificate_file = e->files.server});
    connect_as(e, "localhost");
    CHECK_INT(e->client_rc, 0);
    coil_tls_release(shop.newest); /* the connection has its own reference */
    coil_tls_release(shop.for_name);
    check_talk(e->server, e->client, "hello");
    CHECK(shop.asked >= 4);
    close_ends(e);
}

static void count_line(const char *line, void *arg)
{
    CHECK(strchr(line, ' ') != NULL && strchr(line, '\n') == NULL);
    ++*(int *)arg;
}

static int count_lines_of(const char *path)
{
    FILE *file = fopen(path, "r");
    int lines = 0;

    CHECK(file != NULL);
    for (int c; (c = fgetc(file)) != EOF;)
        lines += c == '\n';
    fclose(file);
    return lines;
}

NET_TEST(tls_key_log)
{
    struct ends *e = only_files();
    coil_tls_opts server = server_opts(e), client = client_opts(e);
    int of_server = 0, of_client = 0;
    char path[128];

    snprintf(path, sizeof path, "%s/keys", e->files.folder);
    setenv("SSLKEYLOGFILE", path, 1);
    server.key_log = client.key_log = count_line;
    server.key_log_arg = &of_server;
    client.key_log_arg = &of_client;
    set_up(e, &server, &client);
    unsetenv("SSLKEYLOGFILE");
    CHECK_INT(e->client_rc, 0);
    check_talk(e->server, e->client, "hello");
    CHECK(of_server > 0 && of_client > 0);
    CHECK_INT(count_lines_of(path), of_server + of_client);
    CHECK_INT(unlink(path), 0);
    close_ends(e);
}

NET_TEST(tls_wildcards_match_one_label)
{
    struct ends *e = open_ends();
    coil_tls *other = create(&(coil_tls_opts){.certificate_file = e->files.other_name});

    disconnect(e);
    CHECK_INT(coil_tls_add_name(e->server_tls, "*.test", other), 0);
    coil_tls_release(other);
    connect_as(e, "other.test");
    CHECK_INT(e->client_rc, 0);
    CHECK_STR(coil_tls_peer(e->client), "CN = localhost");
    disconnect(e);
    connect_as(e, "an.other.test"); /* neither certificate is for this name */
    CHECK_INT(e->client_rc, -EKEYREJECTED);
    check_says("CN = server");
    close_ends(e);
}

NET_TEST(tls_checks_addresses_as_addresses)
{
    static const char *const right[] = {"127.0.0.1", "::1",        "0:0::1",
                                        "::1%lo",    "localhost.", "WWW.example.ORG"};
    static const char *const wrong[] = {"127.0.0.2", "::2", "a.b.example.org",
                                        "example.org", "other.test"};
    struct ends *e = open_ends();

    for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
        disconnect(e);
        connect_as(e, right[i]);
        CHECK_INT(e->client_rc, 0);
    }
    disconnect(e);
    connect_as(e, "127.0.0.1");
    CHECK_PTR(coil_tls_server_name(e->server), NULL); /* addresses are not sent in SNI */
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        disconnect(e);
        connect_as(e, wrong[i]);
        CHECK_INT(e->client_rc, -EKEYREJECTED);
        check_says("it is for DNS:localhost, DNS:*.example.org, IP Address:127.0.0.1");
    }
    close_ends(e);
}

NET_TEST(tls_refuses_names_that_cannot_be_one)
{
    coil_stream *ends[2];
    char long_name[300];
    coil_tls *tls = create(NULL);

    connect_streams(ends);
    memset(long_name, 'a', sizeof long_name - 1);
    long_name[sizeof long_name - 1] = '\0';
    CHECK_INT(coil_start_tls(ends[0], tls, NULL), -EINVAL);
    CHECK_INT(coil_start_tls(ends[0], tls, ""), -EINVAL);
    CHECK_INT(coil_start_tls(ends[0], tls, ".test"), -EINVAL);
    CHECK_INT(coil_start_tls(ends[0], tls, long_name), -EINVAL);
    CHECK_INT(coil_accept_tls(ends[0], tls), -EINVAL);
    check_says("needs a certificate");
    /* the stream still works without TLS */
    CHECK_INT(coil_write(ends[0], "plain", 5), 5);
    destroy_streams(ends);
    coil_tls_release(tls);
}

/* ---- authentication ---------------------------------------------------------------- */

static void check_refused(const char *certificate, const char *ca_file, int rc,
                          const char *reason)
{
    struct ends *e = only_files();
    const char *base = (const char *)&e->files;
    coil_tls_opts server = {.certificate_file = base + (uintptr_t)certificate};
    coil_tls_opts client = {.ca_file = ca_file != NULL ? e->files.root : NULL};

    set_up(e, &server, &client);
    CHECK_INT(e->client_rc, rc);
    check_says("the certificate of 'localhost' is refused");
    check_says(reason);
    CHECK_INT(e->server_rc, -EPROTO);
    CHECK_INT(coil_read(e->server, (char[1]){0}, 1), -ENOTCONN);
    CHECK_INT(coil_write(e->server, "x", 1), -ENOTCONN);
    CHECK_INT(coil_stream_shutdown_write(e->server), -ENOTCONN);
    close_ends(e);
}

#define FILE_OF(member) ((const char *)offsetof(struct certificates, member))

NET_TEST(tls_refuses_expired)
{
    check_refused(FILE_OF(expired), "", -EKEYEXPIRED, "certificate has expired");
}

NET_TEST(tls_refuses_what_is_not_valid_yet)
{
    check_refused(FILE_OF(future), "", -EKEYEXPIRED, "it is valid from");
}

NET_TEST(tls_refuses_another_name)
{
    check_refused(FILE_OF(other_name), "", -EKEYREJECTED, "it is for DNS:other.test");
}

NET_TEST(tls_refuses_self_signed)
{
    check_refused(FILE_OF(self_signed), "", -ENOKEY, "self-signed certificate");
}

NET_TEST(tls_refuses_an_unknown_authority)
{
    check_refused(FILE_OF(server), NULL, -ENOKEY,
                  "depth 1, subject 'CN = intermediate', issuer 'CN = root'");
}

NET_TEST(tls_refuses_a_chain_with_a_gap)
{
    check_refused(FILE_OF(no_chain), "", -ENOKEY, "depth 0, subject 'CN = server'");
}

NET_TEST(tls_trusts_a_certificate_that_is_named_itself)
{
    struct ends *e = only_files();
    coil_tls_opts server = {.certificate_file = e->files.self_signed};
    coil_tls_opts client = {.ca_file = e->files.self_signed};

    set_up(e, &server, &client);
    CHECK_INT(e->client_rc, 0);
    close_ends(e);
}

NET_TEST(tls_no_verify_takes_anybody)
{
    struct ends *e = only_files();
    coil_tls_opts server = {.certificate_file = e->files.expired};
    coil_tls_opts client = {.no_verify = true};

    set_up(e, &server, &client);
    CHECK_INT(e->client_rc, 0);
    disconnect(e);
    connect_as(e, NULL);
    CHECK_INT(e->client_rc, 0);
    CHECK_PTR(coil_tls_server_name(e->client), NULL);
    check_talk(e->client, e->server, "hello");
    close_ends(e);
}

/* ---- clients' certificates --------------------------------------------------------- */

NET_TEST(tls_server_asks_who_the_client_is)
{
    struct ends *e = only_files();
    coil_tls_opts server = server_opts(e), client = client_opts(e);
    char byte;

    server.verify_client = true;
    server.ca_file = e->files.root;
    client.certificate_file = e->files.client;
    set_up(e, &server, &client);
    CHECK_INT(e->client_rc, 0);
    CHECK_INT(e->server_rc, 0);
    CHECK_STR(coil_tls_peer(e->server), "CN = client");
    check_talk(e->client, e->server, "hello");

    /*
     * With TLS 1.3, the client completes the handshake before the server checks its
     * certificate.
     */
    client.certificate_file = e->files.stranger;
    set_up(e, &server, &client);
    CHECK_ENDS(e, -ENOKEY, 0);
    CHECK_INT(coil_read(e->client, &byte, 1), -EPROTO);
    check_says("the peer sent the alert 'unknown CA'");
    CHECK_INT(coil_read(e->client, &byte, 1), -EPROTO);
    CHECK_INT(coil_write(e->client, &byte, 1), -EPROTO);

    client.certificate_file = NULL;
    set_up(e, &server, &client);
    CHECK_INT(e->server_rc, -EPROTO);
    CHECK_INT(coil_read(e->client, &byte, 1), -EPROTO);
    check_says("certificate required");
    close_ends(e);
}

/*
 * A session without a client certificate cannot be resumed under a server name that
 * requires one.
 */
NET_TEST(tls_sessions_do_not_cross_names)
{
    for (int version = COIL_TLS_1_2; version <= COIL_TLS_1_3; version++) {
        struct ends *e = only_files();
        coil_tls_opts server = server_opts(e), client = client_opts(e);
        coil_tls *strict;

        client.max_version = version;
        e->server_tls = create(&server);
        e->client_tls = create(&client);
        server.verify_client = true;
        server.ca_file = e->files.root;
        strict = create(&server);
        CHECK_INT(coil_tls_add_name(e->server_tls, "a.example.org", strict), 0);
        coil_tls_release(strict);
        connect_as(e, "b.example.org");
        check_talk(e->server, e->client, "ticket");
        disconnect(e);
        connect_as(e, "b.example.org");
        CHECK(coil_tls_resumed(e->server));
        disconnect(e);
        connect_as(e, "a.example.org");
        CHECK_INT(e->server_rc, -EPROTO);
        close_ends(e);
    }
}

/*
 * Connect with a revoked client certificate. Only one of the server's two contexts, the
 * base context and the one for a.example.org, has the revocation list.
 */
static void check_revoked_at(const char *name, bool base_knows)
{
    struct ends *e = only_files();
    coil_tls_opts server = server_opts(e), client = client_opts(e);
    bool knows = base_knows == (strcmp(name, "b.example.org") == 0);
    coil_tls *other;

    server.verify_client = true;
    server.ca_file = e->files.root;
    server.crl_file = base_knows ? e->files.crl : NULL;
    e->server_tls = create(&server);
    server.crl_file = base_knows ? NULL : e->files.crl;
    other = create(&server);
    CHECK_INT(coil_tls_add_name(e->server_tls, "a.example.org", other), 0);
    coil_tls_release(other);
    client.certificate_file = e->files.revoked;
    e->client_tls = create(&client);
    connect_as(e, name);
    CHECK_INT(e->server_rc, knows ? -EKEYREVOKED : 0);
    close_ends(e);
}

NET_TEST(tls_revocation_lists_are_those_of_the_name)
{
    check_revoked_at("a.example.org", false);
    check_revoked_at("b.example.org", false);
    check_revoked_at("a.example.org", true);
    check_revoked_at("b.example.org", true);
}

/* ---- resuming ---------------------------------------------------------------------- */

static void check_resumption(int version)
{
    struct ends *e = only_files();
    coil_tls_opts server = server_opts(e), client = client_opts(e);

    server.max_version = version;
    set_up(e, &server, &client);
    CHECK(!coil_tls_resumed(e->client));
    check_talk(e->server, e->client, "with the ticket before it");
    for (int i = 0; i < 5; i++) {
        disconnect(e);
        connect_as(e, "localhost");
        CHECK_INT(e->client_rc, 0);
        CHECK(coil_tls_resumed(e->client));
        CHECK(coil_tls_resumed(e->server));
        CHECK_STR(coil_tls_server_name(e->server), "localhost");
        check_talk(e->server, e->client, "and another");
    }
    disconnect(e);
    connect_as(e, "127.0.0.1");
    CHECK(!coil_tls_resumed(e->client)); /* the session was not verified for this name */
    disconnect(e);
    coil_tls_release(e->server_tls);
    e->server_tls = create(&server);
    connect_as(e, "localhost");
    CHECK_INT(e->client_rc, 0);
    CHECK(!coil_tls_resumed(e->client)); /* a new context has new ticket keys */
    close_ends(e);
}

NET_TEST(tls_resumes_1_2)
{
    check_resumption(COIL_TLS_1_2);
}

NET_TEST(tls_resumes_1_3)
{
    check_resumption(COIL_TLS_1_3);
}

/* The server sends two tickets, each of which the client must use once. */
NET_TEST(tls_tickets_of_1_3_are_used_once)
{
    struct ends *e = open_ends();
    int resumed = 0;

    check_talk(e->server, e->client, "tickets");
    for (int i = 0; i < 4; i++) {
        disconnect(e);
        connect_as(e, "localhost"); /* the client does not read, so it gets no tickets */
        resumed += coil_tls_resumed(e->client);
    }
    CHECK_INT(resumed, 2);
    close_ends(e);
}

/*
 * The cache stores a limited number of sessions: those of the most recently used servers.
 */
NET_TEST(tls_sessions_are_bounded)
{
    struct ends *e = open_ends();
    char name[64];

    for (int i = 0; i < 80; i++) {
        disconnect(e);
        snprintf(name, sizeof name, "n%d.example.org", i);
        connect_as(e, name);
        check_talk(e->server, e->client, "tickets");
    }
    disconnect(e);
    connect_as(e, "n79.example.org");
    CHECK(coil_tls_resumed(e->client));
    disconnect(e);
    connect_as(e, "n0.example.org");
    CHECK(!coil_tls_resumed(e->client));
    close_ends(e);
}

/* ---- moving bytes ------------------------------------------------------------------ */

static void check_floods(int version)
{
    struct ends *e = only_files();
    coil_tls_opts server = server_opts(e), client = client_opts(e);

    client.max_version = version;
    set_up(e, &server, &client);
    check_floods_both_ways((coil_stream *[]){e->server, e->client},
                           (size_t)3 * 1024 * 1024);
    close_ends(e);
}

NET_TEST(tls_large_transfers_both_ways_with_a_slow_reader)
{
    check_floods(COIL_TLS_1_3);
}

NET_TEST(tls_1_2_large_transfers_both_ways_with_a_slow_reader)
{
    check_floods(COIL_TLS_1_2);
}

NET_TEST(tls_reads_a_byte_at_a_time_and_lets_others_run)
{
    struct ends *e = open_ends();
    unsigned char sent[20000], byte;
    int wrong = 0;

    for (size_t i = 0; i < sizeof sent; i++)
        sent[i] = pattern_byte(i);
    CHECK_INT(coil_write(e->client, sent, sizeof sent), sizeof sent);
    CHECK_INT(coil_write(e->client, "", 0), 0);
    for (size_t i = 0; i < sizeof sent; i++) {
        CHECK_INT(coil_read(e->server, &byte, 1), 1);
        wrong += byte != sent[i];
    }
    CHECK_INT(wrong, 0);
    close_ends(e);
}

static int count_turns(void *arg)
{
    int *turns = arg;

    while (coil_yield() == 0)
        ++*turns;
    return 0;
}

/*
 * All bytes are in one record, which OpenSSL decrypts at the first read, so further reads
 * never wait.
 */
IO_TEST(tls_reads_of_one_record_let_others_run)
{
    static unsigned char sent[16000];
    struct ends *e = open_ends();
    coil_task *task;
    unsigned char byte;
    int turns = 0;

    CHECK_INT(coil_write(e->client, sent, sizeof sent), sizeof sent);
    CHECK_INT(coil_read(e->server, &byte, 1), 1);
    CHECK_INT(coil_spawn(count_turns, &turns, NULL, &task), 0);
    for (size_t i = 1; i < sizeof sent; i++)
        CHECK_INT(coil_read(e->server, &byte, 1), 1);
    /* a read lets other tasks run after about 64 reads */
    CHECK(turns > (int)sizeof sent / 200);
    coil_task_cancel(task, NULL);
    finish(task);
    close_ends(e);
}

NET_TEST(tls_second_reader_and_writer_are_refused)
{
    struct ends *e = open_ends();
    char buf[16];
    struct transfer read = {e->client, buf, sizeof buf, 0, false};
    coil_task *task = transfer_start(transfer_read, &read);

    CHECK_INT(coil_read(e->client, buf, 1), -EBUSY);
    CHECK_INT(coil_start_tls(e->client, e->client_tls, "localhost"), -EBUSY);
    CHECK_INT(coil_write(e->server, "x", 1), 1);
    finish(task);
    CHECK_INT(coil_start_tls(e->client, e->client_tls, "localhost"), -EALREADY);
    CHECK_INT(coil_accept_tls(e->client, e->server_tls), -EALREADY);
    close_ends(e);
}

/*
 * Small parts are combined in a record, and large parts are encrypted without being
 * copied first.
 */
NET_TEST(tls_writes_from_many_places)
{
    static const size_t sizes[] = {1, 0, 4095, 70000, 0, 3, 4096, 5, 200000, 2, 0};
    enum { COUNT = sizeof sizes / sizeof *sizes };
    struct ends *e = open_ends();
    struct iovec parts[COUNT];
    size_t total = 0, wrong = 0;
    unsigned char *bytes, *got;
    struct transfer write = {.stream = e->client};
    coil_task *task;

    for (size_t i = 0; i < COUNT; i++)
        total += sizes[i];
    bytes = malloc(total);
    got = malloc(total);
    for (size_t i = 0; i < total; i++)
        bytes[i] = pattern_byte(i);
    for (size_t i = 0, at = 0; i < COUNT; at += sizes[i++])
        parts[i] = (struct iovec){bytes + at, sizes[i]};
    write.buf = parts;
    write.n = COUNT;
    task = transfer_start(do_writev, &write);
    CHECK_INT(coil_read_exact(e->server, got, total), total);
    finish(task);
    CHECK_INT(write.result, total);
    CHECK_INT(coil_stream_write_transferred(e->client), total);
    for (size_t i = 0; i < total; i++)
        wrong += got[i] != bytes[i];
    CHECK_INT(wrong, 0);
    free(got);
    free(bytes);
    close_ends(e);
}

/* ---- files ------------------------------------------------------------------------- */

#define FILE_BYTES ((size_t)(test_simulated() ? 1 : 24) * 1024 * 1024)

static int make_file(void)
{
    unsigned char *bytes = malloc(FILE_BYTES);
    int fd = memfd_create("bytes", MFD_CLOEXEC);

    for (size_t i = 0; i < FILE_BYTES; i++)
        bytes[i] = pattern_byte(i);
    CHECK_INT(write(fd, bytes, FILE_BYTES), FILE_BYTES);
    free(bytes);
    return fd;
}

/*
 * Send a file with calls that are cancelled repeatedly. Each call must continue at the
 * offset, without losing or repeating bytes.
 */
NET_TEST(tls_sends_files)
{
    struct ends *e = open_ends();
    struct sending s = {.stream = e->client, .fd = make_file()};
    struct flood flood = {.stream = e->server};
    coil_task *sender, *reader;
    unsigned char byte;

    for (; flood.received < 3; flood.received++) {
        int64_t before = s.offset;

        CHECK_INT(coil_spawn(do_sendfile, &s, NULL, &sender), 0);
        settle();
        CHECK_INT(coil_read(e->server, &byte, 1), 1);
        flood.wrong += byte != pattern_byte(flood.received);
        coil_task_cancel(sender, NULL);
        finish(sender);
        CHECK_INT(s.result, -ECANCELED);
        CHECK_INT(s.offset - before, coil_stream_write_transferred(e->client));
    }
    CHECK(s.offset > 0);
    CHECK_INT(coil_spawn(flood_in, &flood, NULL, &reader), 0);
    do_sendfile(&s);
    CHECK_INT(s.offset, FILE_BYTES);
    CHECK_INT(coil_stream_shutdown_write(e->client), 0);
    finish(reader);
    CHECK_INT(flood.received, FILE_BYTES);
    CHECK_INT(flood.wrong, 0);
    close(s.fd);
    close_ends(e);
}

/* ---- ends -------------------------------------------------------------------------- */

NET_TEST(tls_half_close)
{
    struct ends *e = open_ends();
    char buf[16];

    CHECK_INT(coil_write(e->client, "question", 8), 8);
    CHECK_INT(coil_stream_shutdown_write(e->client), 0);
    CHECK_INT(coil_stream_shutdown_write(e->client), 0);
    CHECK_INT(coil_read_exact(e->server, buf, 8), 8);
    CHECK_INT(coil_read(e->server, buf, sizeof buf), 0);
    CHECK_INT(coil_read(e->server, buf, sizeof buf), 0);
    check_talk(e->server, e->client, "answer");
    CHECK_INT(coil_write(e->client, "more", 4), -EPIPE);
    CHECK_INT(coil_stream_shutdown_write(e->server), 0);
    CHECK_INT(coil_read(e->client, buf, sizeof buf), 0);
    close_ends(e);
}

/*
 * As without TLS, a stream can be closed directly after the last write, in which case
 * coil sends the close_notify. (This is not a NET_TEST, because the simulated network may
 * accept only a part of the close_notify.)
 */
IO_TEST(tls_close_sends_a_close_notify)
{
    struct ends *e = open_ends();
    char buf[16];

    check_talk(e->server, e->client, "with the tickets");
    CHECK_INT(coil_write(e->client, "last", 4), 4);
    coil_stream_destroy(e->client);
    e->client = NULL;
    CHECK_INT(coil_read_exact(e->server, buf, 4), 4);
    CHECK_INT(coil_read(e->server, buf, sizeof buf), 0);
    close_ends(e);
}

NET_TEST(tls_stop_is_orderly_in_either_order)
{
    for (int first = 0; first < 2; first++) {
        struct ends *e = open_ends();
        struct transfer stop[2] = {{.stream = first == 0 ? e->client : e->server},
                                   {.stream = first == 0 ? e->server : e->client}};
        coil_task *task = transfer_start(do_stop, &stop[0]);

        CHECK(!stop[0].ended);
        CHECK_INT(coil_write(stop[1].stream, "dropped", 7), 7);
        do_stop(&stop[1]);
        CHECK_INT(stop[1].result, 0);
        finish(task);
        CHECK_INT(stop[0].result, 0);
        close_ends(e);
    }
}

/* Check the result of a read after a connection has ended without a close_notify. */
static void check_truncation(bool allowed, ssize_t expected)
{
    struct ends *e = only_files();
    coil_tls_opts server = server_opts(e), client = client_opts(e);
    char buf[16];

    client.allow_truncation = allowed;
    set_up(e, &server, &client);
    CHECK_INT(coil_write(e->server, "begun", 5), 5);
    shutdown(coil_stream_fd(e->server), SHUT_WR);
    CHECK_INT(coil_read_exact(e->client, buf, 5), 5);
    CHECK_INT(coil_read(e->client, buf, sizeof buf), expected);
    if (!allowed)
        check_says("without close_notify");
    CHECK_INT(coil_read(e->client, buf, sizeof buf), expected);
    check_talk(e->client, e->server, "the other way");
    close_ends(e);
}

IO_TEST(tls_truncation_is_an_error)
{
    check_truncation(false, -ECONNABORTED);
}

IO_TEST(tls_truncation_may_be_allowed)
{
    check_truncation(true, 0);
}

NET_TEST(tls_close_wakes_reader_and_writer)
{
    struct ends *e = open_ends();
    size_t n = (size_t)16 * 1024 * 1024;
    char *bytes = calloc(1, n), buf[16];
    struct transfer read = {e->client, buf, sizeof buf, 0, false};
    struct transfer write = {e->client, bytes, n, 0, false};
    coil_task *reader = transfer_start(transfer_read, &read),
              *writer = transfer_start(transfer_write, &write);

    CHECK(!read.ended && !write.ended);
    coil_stream_close(e->client);
    finish(reader);
    finish(writer);
    CHECK_INT(read.result, -EBADF);
    CHECK_INT(write.result, -EBADF);
    CHECK_INT(coil_read(e->client, buf, 1), -EBADF);
    free(bytes);
    close_ends(e);
}

NET_TEST(tls_destroy_while_a_task_waits)
{
    struct ends *e = open_ends();
    char buf[16];
    struct transfer read = {e->client, buf, sizeof buf, 0, false};
    coil_task *reader = transfer_start(transfer_read, &read);

    coil_stream_destroy(e->client);
    e->client = NULL;
    finish(reader);
    CHECK_INT(read.result, -EBADF);
    close_ends(e);
}

/* more bytes than a connection's buffers can hold */
#define HUGE ((size_t)(test_simulated() ? 1 : 24) * 1024 * 1024)

/* ---- cancelling -------------------------------------------------------------------- */

NET_TEST(tls_cancelled_read_takes_nothing)
{
    struct ends *e = open_ends();
    char buf[16];

    for (int i = 0; i < 3; i++) {
        struct transfer read = {e->client, buf, sizeof buf, 0, false};
        coil_task *reader = transfer_start(transfer_read, &read);

        coil_task_cancel(reader, NULL);
        finish(reader);
        CHECK_INT(read.result, -ECANCELED);
    }
    check_talk(e->server, e->client, "whole");
    check_talk(e->client, e->server, "whole");
    close_ends(e);
}

/*
 * A cancelled write may leave a part of a record unsent, which coil sends before the next
 * record. So a caller that continues after the transferred bytes leaves no gap.
 */
NET_TEST(tls_cancelled_write_is_continued_where_it_was)
{
    struct ends *e = open_ends();
    unsigned char *bytes = malloc(HUGE);
    struct flood flood = {.stream = e->server, .slow = true};
    size_t done = 0;
    int cancelled = 0;
    coil_task *reader;

    for (size_t i = 0; i < HUGE; i++)
        bytes[i] = pattern_byte(i);
    for (int i = 0; i < 5 && done < HUGE; i++) {
        struct transfer write = {e->client, bytes + done, HUGE - done, 0, false};
        coil_task *writer = transfer_start(transfer_write, &write);

        coil_task_cancel(writer, NULL);
        finish(writer);
        cancelled += write.result == -ECANCELED;
        done += coil_stream_write_transferred(e->client);
    }
    CHECK(cancelled > 1); /* because the peer does not read yet */
    CHECK(done < HUGE);
    CHECK_INT(coil_spawn(flood_in, &flood, NULL, &reader), 0);
    CHECK_INT(coil_write(e->client, bytes + done, HUGE - done), HUGE - done);
    CHECK_INT(coil_stream_shutdown_write(e->client), 0);
    finish(reader);
    CHECK_INT(flood.received, HUGE);
    CHECK_INT(flood.wrong, 0);
    free(bytes);
    close_ends(e);
}

/*
 * If a stream is closed after only a part of a record was sent, the peer must see a
 * truncation, not a normal end.
 */
NET_TEST(tls_close_after_a_cut_record_is_truncation)
{
    struct ends *e = open_ends();
    char *bytes = calloc(1, HUGE);
    struct transfer write = {e->client, bytes, HUGE, 0, false};
    ssize_t n;
    coil_task *writer;

    check_talk(e->server, e->client, "with the tickets");
    writer = transfer_start(transfer_write, &write);
    coil_task_cancel(writer, NULL);
    finish(writer);
    CHECK_INT(write.result, -ECANCELED);
    coil_stream_destroy(e->client);
    e->client = NULL;
    do
        n = coil_read(e->server, bytes, HUGE);
    while (n > 0);
    CHECK_INT(n, -ECONNABORTED);
    free(bytes);
    close_ends(e);
}

IO_TEST(tls_handshake_that_times_out)
{
    struct ends *e = only_files();
    coil_tls_opts opts = client_opts(e);
    coil_tls *tls = create(&opts);
    coil_scope scope;
    char byte;
    int peer, rc;

    e->client = make_stream_and_peer(&peer); /* the peer never sends anything */
    coil_scope_enter(&scope, coil_in(COIL_MSEC(20)));
    rc = coil_start_tls(e->client, tls, "localhost");
    CHECK_INT(coil_scope_exit(&scope, rc), -ETIMEDOUT);
    CHECK_INT(coil_read(e->client, &byte, 1), -ENOTCONN);
    CHECK_INT(coil_write(e->client, &byte, 1), -ENOTCONN);
    CHECK_INT(coil_stream_shutdown_write(e->client), -ENOTCONN);
    CHECK_INT(coil_tls_stop(e->client), -ENOTCONN);
    CHECK_PTR(coil_tls_version(e->client), NULL);
    CHECK_INT(coil_start_tls(e->client, tls, "localhost"), -EALREADY);
    close(peer);
    coil_tls_release(tls);
    close_ends(e);
}

struct handshake {
    coil_stream *stream;
    coil_tls *tls;
    int rc;
};

static int do_handshake(void *arg)
{
    struct handshake *h = arg;

    h->rc = coil_start_tls(h->stream, h->tls, "localhost");
    return 0;
}

IO_TEST(tls_stream_is_closed_or_destroyed_in_the_handshake)
{
    for (int destroys = 0; destroys < 2; destroys++) {
        int peer;
        coil_stream *stream = make_stream_and_peer(&peer);
        struct handshake h = {stream, create(NULL), 0};
        coil_task *task;

        CHECK_INT(coil_spawn(do_handshake, &h, NULL, &task), 0);
        settle();
        CHECK_INT(coil_write(stream, "x", 1), -EBUSY);
        if (destroys)
            coil_stream_destroy(stream);
        else
            coil_stream_close(stream);
        finish(task);
        CHECK_INT(h.rc, -EBADF);
        if (!destroys)
            coil_stream_destroy(stream);
        close(peer);
        coil_tls_release(h.tls);
    }
}

/* ---- peers that misbehave ---------------------------------------------------------- */

IO_TEST(tls_peer_does_not_speak_tls)
{
    int peer;
    coil_stream *stream = make_stream_and_peer(&peer);
    coil_tls *tls = create(NULL);

    CHECK_INT(write(peer, "220 mail.example.org ESMTP\r\n", 28), 28);
    CHECK_INT(coil_start_tls(stream, tls, "localhost"), -EPROTO);
    check_says("wrong version number");
    coil_stream_destroy(stream);
    close(peer);
    coil_tls_release(tls);
}

IO_TEST(tls_peer_leaves_in_the_handshake)
{
    for (int resets = 0; resets < 2; resets++) {
        struct linger at_once = {.l_onoff = 1, .l_linger = 0};
        char buf[4096];
        int peer;
        coil_stream *stream = make_stream_and_peer(&peer);
        struct handshake h = {stream, create(NULL), 0};
        coil_task *task;

        CHECK_INT(coil_spawn(do_handshake, &h, NULL, &task), 0);
        settle();
        CHECK(read(peer, buf, sizeof buf) > 0);
        if (resets)
            setsockopt(peer, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
        close(peer);
        finish(task);
        CHECK_INT(h.rc, resets ? -ECONNRESET : -ECONNABORTED);
        coil_stream_destroy(stream);
        coil_tls_release(h.tls);
    }
}

/*
 * If a record is changed on its way, its bytes must not be returned, and both ends must
 * report an error.
 */
IO_TEST(tls_record_that_was_changed)
{
    static const unsigned char record[] = {23, 3, 3, 0, 20, 1, 2, 3, 4, 5, 6, 7, 8,
                                           9,  0, 1, 2, 3,  4, 5, 6, 7, 8, 9, 0};
    struct ends *e = open_ends();
    char buf[16];

    CHECK_INT(write(coil_stream_fd(e->server), record, sizeof record), sizeof record);
    CHECK_INT(coil_read(e->client, buf, sizeof buf), -EPROTO);
    check_says("bad record mac");
    CHECK_INT(coil_read(e->client, buf, sizeof buf), -EPROTO);
    CHECK_INT(coil_write(e->client, "x", 1), -EPROTO);
    CHECK_INT(coil_stream_shutdown_write(e->client), -EPROTO);
    CHECK_INT(coil_read(e->server, buf, sizeof buf), -EPROTO);
    check_says("the peer sent the alert 'bad record mac'");
    close_ends(e);
}

/* ---- failures of the machine ------------------------------------------------------- */

/* A connection from handshake to close, during which a failure is injected. */
struct day {
    struct ends *e;
    bool server_fails;
};

static int serve_a_day(void *arg)
{
    struct day *day = arg;
    struct ends *e = day->e;
    char buf[100];
    ssize_t n = coil_accept_tls(e->server, e->server_tls);

    while (n >= 0 && (n = coil_read(e->server, buf, sizeof buf)) > 0)
        n = coil_write(e->server, buf, (size_t)n);
    if (n == 0)
        n = coil_stream_shutdown_write(e->server);
    day->server_fails = n < 0;
    /* closed, so that the client does not wait for more bytes */
    coil_stream_close(e->server);
    return 0;
}

static ssize_t spend_a_day(struct ends *e)
{
    char buf[100] = "some words";
    ssize_t n = coil_start_tls(e->client, e->client_tls, "localhost");

    if (n == 0)
        n = coil_write(e->client, buf, sizeof buf);
    if (n >= 0)
        n = coil_read_exact(e->client, buf, sizeof buf);
    if (n >= 0)
        n = coil_tls_stop(e->client);
    coil_stream_close(e->client);
    return n;
}

/*
 * Run a connection while the nth system call or allocation fails, which order(nth)
 * requests. Both ends must end, and must succeed if there are fewer calls. Returns true
 * if a call has failed.
 */
static bool bad_day(struct ends *e, void (*order)(uint64_t), uint64_t nth)
{
    struct day day = {e, false};
    coil_stream *streams[2];
    coil_task *task;
    ssize_t rc;
    bool failed;

    connect_streams(streams);
    e->client = streams[0];
    e->server = streams[1];
    CHECK_INT(coil_spawn(serve_a_day, &day, NULL, &task), 0);
    order(nth);
    rc = spend_a_day(e);
    finish(task);
    failed = coil_testing_failed() != NULL;
    order(0);
    disconnect(e);
    if (!failed)
        CHECK(rc == 0 && !day.server_fails);
    return failed;
}

static void fail_call(uint64_t nth)
{
    coil_testing_fail_system_call(nth, 0);
}

static void check_bad_days(void (*order)(uint64_t))
{
    struct ends *e = open_ends();
    uint64_t nth = 1;

    disconnect(e);
    while (bad_day(e, order, nth))
        nth++;
    CHECK(nth > 8);
    close_ends(e);
}

IO_TEST(tls_nth_allocation_fails)
{
    check_bad_days(coil_testing_fail_allocation);
}

IO_TEST(tls_nth_system_call_fails)
{
    check_bad_days(fail_call);
}

/*
 * Answer a STARTTLS command, and start TLS. Plain bytes that were read ahead must not
 * count as TLS data.
 */
static int answer_starttls(void *arg)
{
    struct ends *e = arg;
    char line[32];

    CHECK_INT(coil_read_line(e->server, line, sizeof line), 8);
    CHECK_STR(line, "STARTTLS");
    CHECK_INT(coil_write(e->server, "220 go ahead\n", 13), 13);
    e->server_rc = coil_accept_tls(e->server, e->server_tls);
    return 0;
}

NET_TEST(tls_starts_on_a_stream_that_has_talked)
{
    struct ends *e = open_ends();
    coil_stream *streams[2];
    coil_task *task;
    char line[32];

    disconnect(e);
    connect_streams(streams);
    e->client = streams[0];
    e->server = streams[1];
    CHECK_INT(coil_spawn(answer_starttls, e, NULL, &task), 0);
    CHECK_INT(coil_write(e->client, "STARTTLS\n", 9), 9);
    CHECK_INT(coil_read_line(e->client, line, sizeof line), 12);
    CHECK_INT(coil_start_tls(e->client, e->client_tls, "localhost"), 0);
    finish(task);
    CHECK_INT(e->server_rc, 0);
    check_talk(e->client, e->server, "secret");
    CHECK_INT(coil_write(e->server, "a line\nand another\n", 19), 19);
    CHECK_INT(coil_read_line(e->client, line, sizeof line), 6);
    CHECK_INT(coil_read_line(e->client, line, sizeof line), 11);
    close_ends(e);
}

NET_TEST(tls_refuses_commands_smuggled_in_before_it)
{
    struct ends *e = open_ends();
    coil_stream *streams[2];
    coil_task *task;
    char buf[32];

    disconnect(e);
    connect_streams(streams);
    e->client = streams[0];
    e->server = streams[1];
    CHECK_INT(coil_spawn(answer_starttls, e, NULL, &task), 0);
    CHECK_INT(coil_write(e->client, "STARTTLS\nRCPT TO:<mallory>\n", 27), 27);
    CHECK_INT(coil_read_exact(e->client, buf, 13), 13);
    finish(task);
    CHECK_INT(e->server_rc, -EPROTO);
    CHECK_INT(coil_stream_read_transferred(e->server), 8 + 1);
    close_ends(e);
}

/* At both ends, the handshake must fit into the stack size that the header specifies. */
NET_TEST(tls_handshake_needs_little_stack)
{
    coil_spawn_opts opts = {.stack_bytes = 32 * 1024};
    struct ends *e = open_ends();
    struct handshake h = {.tls = e->client_tls};
    coil_stream *streams[2];
    coil_task *tasks[2];

    disconnect(e);
    connect_streams(streams);
    h.stream = e->client = streams[0];
    e->server = streams[1];
    CHECK_INT(coil_spawn(accept_it, e, &opts, &tasks[0]), 0);
    CHECK_INT(coil_spawn(do_handshake, &h, &opts, &tasks[1]), 0);
    finish(tasks[0]);
    finish(tasks[1]);
    CHECK_INT(e->server_rc, 0);
    CHECK_INT(h.rc, 0);
    close_ends(e);
}
