/*
 * tls_handshake.c - starts TLS on a stream.
 *
 * A handshake occupies both directions, so no other task can read or write the stream in
 * the meantime. If a handshake fails or is cancelled, it is unknown which bytes the peer
 * expects next. So the stream's transport remains TLS, on which all calls fail, and the
 * stream can only be closed.
 */
#include "tls.h"

#include "../io/socket.h"
#include "../task/task.h"

#include <coil/error.h>

#include <netinet/tcp.h>
#include <openssl/err.h>
#include <string.h>

/* ---- the handshake ----------------------------------------------------------------- */

/*
 * Continue the handshake with the bytes that have been received. Returns 0 if the
 * handshake is complete, -EAGAIN if it needs more bytes, or another negative errno.
 */
static int take_step(struct coil__tls_stream *t)
{
    int done;

    ERR_clear_error();
    done = SSL_do_handshake(t->ssl);
    if (done == 1)
        return 0;
    if (SSL_get_error(t->ssl, done) == SSL_ERROR_WANT_READ)
        return -EAGAIN;
    return coil__tls_fail(t, "TLS handshake");
}

/*
 * True if the error of the last flush means only that the client has closed the
 * connection without waiting for the session tickets of the TLS 1.3 handshake. The server
 * can still read what the client has sent, so the handshake succeeds. SSL_accept() would
 * ignore such an error too, but does not see it, because coil's BIO only stores the
 * bytes.
 */
static bool lost_only_tickets(const struct coil__tls_stream *t, int rc)
{
    return (rc == -EPIPE || rc == -ECONNRESET) && SSL_is_server(t->ssl) &&
           SSL_version(t->ssl) == TLS1_3_VERSION;
}

/*
 * Make the kernel acknowledge the client's last message at once. Otherwise the kernel
 * could delay the acknowledgement by up to 40 ms, and until then Nagle's algorithm would
 * hold back the client's first data, which would be lost if the client closed the
 * connection meanwhile. The setting lasts until the server next sends.
 */
static void acknowledge_at_once(const struct coil__tls_stream *t)
{
#ifdef TCP_QUICKACK
    const struct coil__endpoint *endpoint = &t->stream->endpoint;
    int yes = 1;

    if (t->stream->is_socket)
        coil__socket_set_option(endpoint->loop, endpoint->fd, IPPROTO_TCP, TCP_QUICKACK,
                                &yes, sizeof yes);
#else
    (void)t;
#endif
}

static int shake_hands(struct coil__tls_stream *t)
{
    for (;;) {
        int step = take_step(t);
        ssize_t rc;

        if (step != 0 && step != -EAGAIN) {
            coil__tls_answer(t, COIL__TLS_LAST_WORDS_NS);
            return step;
        }
        rc = coil__tls_flush(t);
        if (step == 0)
            return lost_only_tickets(t, (int)rc) ? 0 : (int)rc;
        if (rc < 0)
            return (int)rc;
        if (SSL_is_server(t->ssl))
            acknowledge_at_once(t);
        rc = coil__tls_fill(t);
        if (rc == 0)
            return coil_fail(-ECONNABORTED,
                             "TLS handshake: the peer closed the connection");
        if (rc < 0)
            return (int)rc;
    }
}

static void note_protocol(struct coil__tls_stream *t)
{
    const unsigned char *name;
    unsigned n;

    SSL_get0_alpn_selected(t->ssl, &name, &n);
    if (n > 0)
        memcpy(t->alpn, name, n);
}

static int prepare_client(struct coil__tls_stream *t, const char *server_name)
{
    enum coil__tls_name_kind kind = COIL__TLS_NO_NAME;
    SSL_SESSION *session;
    int rc;

    if (server_name != NULL)
        kind = coil__tls_normalize(server_name, t->name);
    if (kind == COIL__TLS_NO_NAME && (server_name != NULL || !t->tls->no_verify))
        return coil_fail(-EINVAL, "'%.60s' is not a valid server name",
                         server_name != NULL ? server_name : "(null)");
    SSL_set_connect_state(t->ssl);
    rc = coil__tls_trust_system(t->tls);
    if (rc == 0)
        rc = coil__tls_expect_server(t, kind);
    if (rc < 0)
        return rc;
    session = coil__tls_sessions_take(&t->tls->sessions, t->name);
    if (session != NULL)
        SSL_set_session(t->ssl, session);
    SSL_SESSION_free(session);
    return 0;
}

static int refuse_without_certificate(void)
{
    return coil_fail(-EINVAL, "a TLS server needs a certificate");
}

static int prepare_server(struct coil__tls_stream *t)
{
    if (SSL_get_certificate(t->ssl) == NULL && t->tls->names == NULL)
        return refuse_without_certificate();
    SSL_set_accept_state(t->ssl);
    coil__tls_expect_client(t, t->tls);
    return 0;
}

static int begin_handshake(coil_stream *stream, struct coil__tls_stream *t)
{
    int rc;

    stream->carrier = t;
    stream->transport = &coil__tls_transport;
    rc = shake_hands(t);
    if (rc < 0) {
        t->failed = -ENOTCONN;
        return rc;
    }
    t->established = true;
    note_protocol(t);
    return 0;
}

/* Start TLS as the server, or as a client of `server_name`. */
static int start_tls(coil_stream *stream, coil_tls *tls, bool as_server,
                     const char *server_name)
{
    struct coil__tls_stream *t;
    int rc;

    if (stream->transport == &coil__tls_transport)
        return coil__failed(-EALREADY);
    if (coil__stream_buffered(stream) > 0)
        return coil_fail(-EPROTO, "the peer sent data before the TLS handshake");
    rc = coil__tls_create(stream, tls, &t);
    if (rc < 0)
        return rc;
    rc = as_server ? prepare_server(t) : prepare_client(t, server_name);
    if (rc < 0) {
        coil__tls_destroy(t);
        return rc;
    }
    return begin_handshake(stream, t);
}

/*
 * Call start_tls() while the stream is marked as being read and written, because the
 * handshake occupies both directions.
 */
static int enter_and_start(coil_stream *stream, coil_tls *tls, bool as_server,
                           const char *server_name, const char *caller)
{
    int rc;

    if (atomic_load(&tls->references) == 0)
        coil__misuse_gone(caller);
    rc = coil__endpoint_enter(&stream->endpoint, COIL__IN, caller);
    if (rc < 0)
        return rc;
    rc = coil__endpoint_enter(&stream->endpoint, COIL__OUT, caller);
    if (rc == 0) {
        rc = start_tls(stream, tls, as_server, server_name);
        coil__endpoint_leave(&stream->endpoint, COIL__OUT);
    }
    coil__endpoint_leave(&stream->endpoint, COIL__IN);
    return rc;
}

int coil_start_tls(coil_stream *stream, coil_tls *tls, const char *server_name)
{
    COIL__REQUIRE(stream, "a stream");
    int rc;

    coil__task_require("coil_start_tls");
    rc = tls == NULL ? coil__tls_default(&tls) : 0;
    if (rc < 0)
        return rc;
    return enter_and_start(stream, tls, false, server_name, "coil_start_tls");
}

int coil_accept_tls(coil_stream *stream, coil_tls *tls)
{
    COIL__REQUIRE(stream, "a stream");
    if (tls == NULL)
        return refuse_without_certificate();
    return enter_and_start(stream, tls, true, NULL, "coil_accept_tls");
}

int coil_tls_stop(coil_stream *stream)
{
    COIL__REQUIRE(stream, "a stream");
    coil__endpoint_check(&stream->endpoint, __func__);
    char dropped[4096];
    ssize_t n;

    if (stream->transport != &coil__tls_transport)
        return coil__failed(-EINVAL);
    n = coil_stream_shutdown_write(stream);
    if (n < 0)
        return (int)n;
    do
        n = coil_read(stream, dropped, sizeof dropped);
    while (n > 0);
    return (int)n;
}
