/*
 * tls_none.c - replaces TLS in a build without OpenSSL.
 */
#include "../stream/stream.h"

#include <coil/error.h>
#include <coil/hooks.h>
#include <coil/tls.h>

static int fail_without_tls(void)
{
    return coil_fail(-ENOSYS, "TLS: coil was built without OpenSSL");
}

int coil_tls_create(const coil_tls_opts *opts, coil_tls **out)
{
    (void)opts;
    *out = NULL;
    return fail_without_tls();
}

coil_tls *coil_tls_retain(coil_tls *tls)
{
    return tls;
}

void coil_tls_release(coil_tls *tls)
{
    (void)tls;
}

int coil_tls_add_name(coil_tls *tls, const char *name, coil_tls *other)
{
    (void)tls;
    (void)name;
    (void)other;
    return fail_without_tls();
}

int coil_connect_tls(const char *host, const char *port, coil_tls *tls, coil_stream **out)
{
    (void)host;
    (void)port;
    (void)tls;
    *out = NULL;
    return fail_without_tls();
}

int coil_start_tls(coil_stream *stream, coil_tls *tls, const char *server_name)
{
    (void)stream;
    (void)tls;
    (void)server_name;
    return fail_without_tls();
}

int coil_accept_tls(coil_stream *stream, coil_tls *tls)
{
    (void)stream;
    (void)tls;
    return fail_without_tls();
}

/* No stream has TLS in this build. */
int coil_tls_stop(coil_stream *stream)
{
    (void)stream;
    return coil__failed(-EINVAL);
}

const char *coil_tls_version(const coil_stream *stream)
{
    (void)stream;
    return NULL;
}

const char *coil_tls_cipher(const coil_stream *stream)
{
    (void)stream;
    return NULL;
}

const char *coil_tls_alpn(const coil_stream *stream)
{
    (void)stream;
    return NULL;
}

const char *coil_tls_server_name(const coil_stream *stream)
{
    (void)stream;
    return NULL;
}

const char *coil_tls_peer(const coil_stream *stream)
{
    (void)stream;
    return NULL;
}

bool coil_tls_resumed(const coil_stream *stream)
{
    (void)stream;
    return false;
}

ssize_t coil_tls_peer_certificate(const coil_stream *stream, void *buf, size_t size)
{
    (void)stream;
    (void)buf;
    (void)size;
    return coil__failed(-ENODATA);
}

const coil_task_hooks *coil_hooks_openssl_errors(void)
{
    static const coil_task_hooks none;

    return &none;
}
