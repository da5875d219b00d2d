/*
 * test_tls_early_close.c - a server must read all data of a TLS 1.3 client that closes
 * the connection before the server writes its session tickets.
 *
 * The client uses OpenSSL with two memory BIOs, so that each step happens at a known
 * moment.
 */
#include "certificates.h"
#include "../socket/sockets.h"

#include "../../harness/harness.h"

#include <linux/sockios.h>
#include <openssl/ssl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

enum { DATA = 20000 };

struct way {
    /* use a socket pair, where the server's write fails with EPIPE at once */
    bool local;
    bool notify;       /* the client sends close_notify */
    bool reset;        /* the client resets the connection */
    bool certificate;  /* the client has a certificate */
    bool server_first; /* the server shuts down its writing side before it reads */
};

static const unsigned char data[DATA] = {1, 2, 3};

/* ---- the client -------------------------------------------------------------------- */

struct client {
    SSL *ssl;
    int fd;
};

static void start_client(struct client *c, const char *certificate)
{
    SSL_CTX *ctx = SSL_CTX_new(TLS_client_method());

    if (certificate != NULL) {
        SSL_CTX_use_certificate_chain_file(ctx, certificate);
        SSL_CTX_use_PrivateKey_file(ctx, certificate, SSL_FILETYPE_PEM);
    }
    c->ssl = SSL_new(ctx);
    SSL_CTX_free(ctx);
    SSL_set_bio(c->ssl, BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
    SSL_set_connect_state(c->ssl);
}

static void send_output(struct client *c)
{
    char bytes[4096];
    int n;

    while ((n = BIO_read(SSL_get_wbio(c->ssl), bytes, sizeof bytes)) > 0)
        CHECK_INT(write(c->fd, bytes, (size_t)n), n);
}

/*
 * Pass the server's part of the handshake, which the server has already sent, to OpenSSL.
 */
static void receive_input(struct client *c)
{
    char bytes[4096];
    ssize_t n;

    while ((n = recv(c->fd, bytes, sizeof bytes, MSG_DONTWAIT)) > 0)
        BIO_write(SSL_get_rbio(c->ssl), bytes, (int)n);
}

/* Wait until the kernel has sent all bytes, because a reset would discard unsent ones. */
static void wait_until_sent(int fd)
{
    int unsent = 1;

    while (unsent > 0) {
        CHECK_INT(ioctl(fd, SIOCOUTQNSD, &unsent), 0);
        usleep(500);
    }
}

static void finish_client(struct client *c, const struct way *way)
{
    struct linger at_once = {.l_onoff = 1, .l_linger = 0};

    receive_input(c);
    CHECK_INT(SSL_do_handshake(c->ssl), 1);
    CHECK_INT(SSL_write(c->ssl, data, DATA), DATA);
    if (way->notify)
        SSL_shutdown(c->ssl);
    send_output(c);
    if (way->reset && !way->local) {
        wait_until_sent(c->fd);
        setsockopt(c->fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    }
    close(c->fd);
    SSL_free(c->ssl);
}

/* ---- the server -------------------------------------------------------------------- */

struct accepting {
    coil_stream *stream;
    coil_tls *tls;
};

static int accept_it(void *arg)
{
    struct accepting *a = arg;

    return coil_accept_tls(a->stream, a->tls);
}

static void make_ends(const struct way *way, struct client *c, coil_stream **stream)
{
    int fds[2];

    if (way->local)
        CHECK_INT(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
    else
        make_tcp_pair(fds);
    c->fd = fds[1];
    CHECK_INT(coil_stream_adopt(fds[0], stream), 0);
}

static void check_data(coil_stream *stream, const struct way *way)
{
    char *bytes = calloc(1, DATA);
    char byte;

    if (way->server_first) {
        int rc = coil_stream_shutdown_write(stream);

        CHECK(rc == 0 || rc == -EPIPE || rc == -ECONNRESET);
    }
    CHECK_INT(coil_read_exact(stream, bytes, DATA), DATA);
    CHECK(memcmp(bytes, data, DATA) == 0);
    if (way->notify)
        CHECK_INT(coil_read(stream, &byte, 1), 0);
    else
        CHECK(coil_read(stream, &byte, 1) < 0);
    free(bytes);
}

static void accept_early_close(const struct certificates *files, const struct way *way)
{
    coil_tls_opts opts = {.certificate_file = files->server};
    struct accepting a;
    struct client c;
    coil_task *task;

    if (way->certificate) {
        opts.ca_file = files->root;
        opts.verify_client = true;
    }
    CHECK_INT(coil_tls_create(&opts, &a.tls), 0);
    make_ends(way, &c, &a.stream);
    start_client(&c, way->certificate ? files->client : NULL);
    CHECK(SSL_do_handshake(c.ssl) < 0);
    send_output(&c);
    CHECK_INT(coil_spawn(accept_it, &a, NULL, &task), 0);
    settle();
    finish_client(&c, way);
    CHECK_INT(coil_task_await(task), 0);
    coil_task_release(task);
    check_data(a.stream, way);
    coil_stream_destroy(a.stream);
    coil_tls_release(a.tls);
}

IO_TEST(tls_client_that_closes_before_its_tickets_is_read)
{
    struct certificates files;

    certificates_make(&files);
    for (unsigned i = 0; i < 32; i++) {
        struct way way = {(i & 1) != 0, (i & 2) != 0, (i & 4) != 0, (i & 8) != 0,
                          (i & 16) != 0};

        accept_early_close(&files, &way);
    }
    certificates_remove(&files);
}
