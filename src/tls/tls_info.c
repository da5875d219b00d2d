/*
 * tls_info.c - the properties of an established connection: version, cipher, peer, ...
 */
#include "tls.h"

#include <openssl/err.h>
#include <string.h>

static struct coil__tls_stream *established_tls(const coil_stream *stream)
{
    struct coil__tls_stream *t = stream->carrier;

    return stream->transport == &coil__tls_transport && t->established ? t : NULL;
}

static const char *or_null(const char *text)
{
    return text[0] != '\0' ? text : NULL;
}

const char *coil_tls_version(const coil_stream *stream)
{
    COIL__REQUIRE(stream, "a stream");
    coil__endpoint_check(&stream->endpoint, __func__);
    const struct coil__tls_stream *t = established_tls(stream);

    return t != NULL ? SSL_get_version(t->ssl) : NULL;
}

const char *coil_tls_cipher(const coil_stream *stream)
{
    COIL__REQUIRE(stream, "a stream");
    coil__endpoint_check(&stream->endpoint, __func__);
    const struct coil__tls_stream *t = established_tls(stream);

    return t != NULL ? SSL_get_cipher_name(t->ssl) : NULL;
}

const char *coil_tls_alpn(const coil_stream *stream)
{
    COIL__REQUIRE(stream, "a stream");
    coil__endpoint_check(&stream->endpoint, __func__);
    const struct coil__tls_stream *t = established_tls(stream);

    return t != NULL ? or_null(t->alpn) : NULL;
}

const char *coil_tls_server_name(const coil_stream *stream)
{
    COIL__REQUIRE(stream, "a stream");
    coil__endpoint_check(&stream->endpoint, __func__);
    const struct coil__tls_stream *t = established_tls(stream);

    return t != NULL ? or_null(t->name) : NULL;
}

bool coil_tls_resumed(const coil_stream *stream)
{
    COIL__REQUIRE(stream, "a stream");
    coil__endpoint_check(&stream->endpoint, __func__);
    const struct coil__tls_stream *t = established_tls(stream);

    return t != NULL && SSL_session_reused(t->ssl);
}

const char *coil_tls_peer(const coil_stream *stream)
{
    COIL__REQUIRE(stream, "a stream");
    coil__endpoint_check(&stream->endpoint, __func__);
    struct coil__tls_stream *t = established_tls(stream);
    const X509 *certificate = t != NULL ? SSL_get0_peer_certificate(t->ssl) : NULL;

    if (certificate == NULL)
        return NULL;
    if (t->peer == NULL)
        t->peer = coil__tls_name_text(X509_get_subject_name(certificate));
    ERR_clear_error();
    return t->peer;
}

ssize_t coil_tls_peer_certificate(const coil_stream *stream, void *buf, size_t size)
{
    COIL__REQUIRE(stream, "a stream");
    COIL__REQUIRE_IF(size > 0, buf, "a buffer");
    coil__endpoint_check(&stream->endpoint, __func__);
    const struct coil__tls_stream *t = established_tls(stream);
    const X509 *certificate = t != NULL ? SSL_get0_peer_certificate(t->ssl) : NULL;
    unsigned char *der = NULL;
    int n;

    if (certificate == NULL)
        return coil__failed(-ENODATA);
    n = i2d_X509(certificate, &der);
    ERR_clear_error();
    if (n < 0)
        return coil__failed(-ENOMEM);
    if (size > 0)
        memcpy(buf, der, (size_t)n < size ? (size_t)n : size);
    OPENSSL_free(der);
    return n;
}
