/*
 * coil/tls.h - encrypted and authenticated streams: TLS 1.2 and 1.3.
 *
 *     coil_stream *s;
 *     rc = coil_connect_tls("example.org", "443", NULL, &s);
 *     if (rc < 0)
 *         return rc;
 *     rc = coil_write(s, request, strlen(request));
 *     while (rc >= 0 && (rc = coil_read(s, buf, sizeof buf)) > 0)
 *         fwrite(buf, 1, rc, stdout);
 *     coil_stream_destroy(s);
 *
 * A TLS stream is a coil_stream, with the same calls and the same rules. It needs OpenSSL
 * 3; if coil was built without it, functions that create or begin TLS return -ENOSYS.
 * (asyncio: ssl=, start_tls; Python: ssl.SSLContext)
 *
 * VERIFICATION. A client checks that the server's certificate comes from an authority
 * that the system trusts, or the given one, is valid now, and is for the very name or
 * address that was requested (RFC 6125: subject alternative names alone, no common name).
 * Each kind of refusal has an errno of its own, and a sentence with the certificate's
 * subject, issuer and depth (coil_last_error()):
 *
 *     -ENOKEY        no trusted authority has signed it; or it is self-signed
 *     -EKEYEXPIRED   it has expired, or is not valid yet
 *     -EKEYREVOKED   it is in a revocation list that was given (crl_file)
 *     -EKEYREJECTED  it is for another name or address, or for another purpose, or wrong
 *                    in some other way
 *
 * OTHER FAILURES. -EPROTO: the peer does not speak TLS, has no version, cipher or
 * protocol in common, sent an alert (which the sentence names), or received data was
 * altered; the session is over then. -ECONNABORTED: the connection ended without the
 * peer's close_notify, so an attacker may have cut the data short; see allow_truncation.
 * After a handshake that failed or was cancelled every call on the stream is -ENOTCONN.
 *
 * CLOSING. coil_stream_shutdown_write() sends close_notify, and nothing can be written
 * after that. Reading goes on until the peer's close_notify, which is the end of the
 * stream: coil_read() returns 0. coil_stream_close() and coil_stream_destroy() send it,
 * too, if that is possible without waiting and no write was cut off. They do not wait for
 * the peer: if received data is unread, even a session ticket, the kernel resets the
 * connection, and the peer may lose data that it has not read yet. To be sure that the
 * last write arrives, call coil_tls_stop() first.
 *
 * EARLY ENDS. A client of TLS 1.3 may send all of its data and leave before the server
 * has sent its session tickets. coil_accept_tls() succeeds then, and the data can be read.
 *
 * RENEGOTIATION of TLS 1.2 is refused at both ends, by the warning no_renegotiation
 * (RFC 5246, 7.2.2). TLS 1.3 has none. A peer that insists ends the connection: -EPROTO.
 *
 * CANCELLING. Data that coil_write() has sealed into records cannot be taken back:
 * coil_stream_write_transferred() counts it, and it is sent before the next write or
 * shutdown. So continue writing at that count. A handshake fits into a stack of 32 KiB.
 */
#ifndef COIL_TLS_H
#define COIL_TLS_H

#include <coil/stream.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- contexts ---------------------------------------------------------------------- */

/*
 * What connections have in common: certificates, who is trusted, the sessions that can be
 * resumed. One may serve both ends, any number of connections, and all loops of the
 * process: once the first connection uses it, nothing in it changes. New certificates are
 * a new context for the connections to come; the old ones keep theirs. (ssl.SSLContext)
 */
typedef struct coil_tls coil_tls;

enum coil_tls_version { COIL_TLS_1_2 = 0x0303, COIL_TLS_1_3 = 0x0304 };

/* Zeroes are the defaults, and good ones. All is copied. Files are in PEM. */
typedef struct coil_tls_opts {
    /* One's own certificate, followed by those up to its authority; a server needs one, a
       client has one where servers ask for it. */
    const char *certificate_file;
    const char *key_file;     /* NULL: it is in certificate_file, too */
    const char *key_password; /* of an encrypted key; nobody is ever asked for it */
    /* Who is trusted, in a file, and in a folder made by openssl-rehash(1); both NULL:
       whom the system trusts, or SSL_CERT_FILE and SSL_CERT_DIR in the environment say;
       with a certificate_file that is read when it first connects as a client, as servers
       do without it. A certificate in it that is no authority's vouches for itself. */
    const char *ca_file, *ca_path;
    /* The lists of certificates that were revoked: one of each authority in a chain, the
       root among them, or the chain is refused. Read once: a new list is a new context.
     */
    const char *crl_file;
    const char *const
        *alpn; /* protocols, best first, NULL at the end: "h2", "http/1.1" */
    /* Of TLS 1.2, as openssl-ciphers(1). NULL: those with forward secrecy, ECDHE;
       "DEFAULT" are OpenSSL's, for peers that have only RSA's key exchange. */
    const char *ciphers;
    const char *ciphersuites; /* of TLS 1.3; NULL: its default */
    int min_version;          /* 0: COIL_TLS_1_2, below which there is nothing */
    int max_version;          /* 0: the latest */
    bool no_verify;           /* as a client, take any certificate: for tests */
    bool verify_client; /* as a server, ask for one; needs ca_file or ca_path (mTLS) */
    /* Take the end of the connection for the end of what was sent, as many old servers
       do. Only for protocols that say themselves how long a message is. */
    bool allow_truncation;
} coil_tls_opts;

/*
 * Create a context; `opts` may be NULL. It reads files, so prefer to do it before there
 * are connections to serve, or on a thread (coil_blocking()); called in a task it leaves
 * a sentence for coil_last_error(). Any thread.
 *
 * Fails with -ENOENT, -EACCES and the like for a file; -EINVAL for what is in it, an
 * option, or a key that is not the certificate's; -ENOKEY for an encrypted key without a
 * password, -EKEYREJECTED for one with the wrong one; -ENOMEM, -ENOSYS.
 */
COIL_API int coil_tls_create(const coil_tls_opts *opts, coil_tls **out);

/* Any thread. Connections hold references of their own. NULL may be released. */
COIL_API coil_tls *coil_tls_retain(coil_tls *tls);
COIL_API void coil_tls_release(coil_tls *tls);

/*
 * As a server, use `other`'s certificate, protocols and demands on clients (verify_client,
 * whom it trusts, and whom its crl_file revokes) where the client asks for `name`: "www.example.org", or
 * "*.example.org" for each name that has one label more. Any other name is served by
 * `tls` itself. Versions and ciphers are always those of `tls`. `other` is retained.
 * (ssl: sni_callback)
 *
 * Before the first connection. Returns 0, -EEXIST, -EINVAL for what is no name or `tls`
 * itself, -ENOMEM.
 */
COIL_API int coil_tls_add_name(coil_tls *tls, const char *name, coil_tls *other);

/* ---- connections ------------------------------------------------------------------- */

/*
 * coil_connect() and coil_start_tls() in one. `tls` NULL is a context with the defaults
 * that the whole process shares. (asyncio: open_connection(ssl=True))
 */
COIL_SUSPENDS int coil_connect_tls(const char *host, const char *port, coil_tls *tls,
                                   coil_stream **out);

/*
 * From now on the stream speaks TLS, as the client or the server of it: handshake, and
 * return when that is done. The client checks that the server is `server_name`, a name or
 * an address, and asks for that name (SNI); NULL only with no_verify. Put a scope around
 * it: a peer may say nothing for ever. (asyncio: start_tls, ssl_handshake_timeout)
 * `tls` NULL is the context of coil_connect_tls(), which no server can use: -EINVAL.
 *
 * On a stream that has talked before (STARTTLS) what was read ahead must have been
 * consumed: bytes that came before the handshake and would be taken for the peer's
 * afterwards are how commands are smuggled in (CVE-2011-0411), so that is -EPROTO. -EBUSY
 * while another call is in the stream, -EALREADY if it speaks TLS already, -EINVAL for a
 * name that cannot be one, a server without certificate; -EBADF, -ECANCELED, -ENOMEM;
 * and see above. The stream remains the caller's to destroy.
 */
COIL_SUSPENDS int coil_start_tls(coil_stream *stream, coil_tls *tls,
                                 const char *server_name);
COIL_SUSPENDS int coil_accept_tls(coil_stream *stream, coil_tls *tls);

/*
 * The orderly end: say close_notify, and read, and drop, what comes until the peer's.
 * Then both know that all was received, and the stream can be destroyed. Put a scope
 * around it. 0, or fails as coil_stream_shutdown_write() and coil_read(); -EINVAL where
 * there is no TLS. (asyncio: transport.close, ssl_shutdown_timeout; ssl: unwrap)
 */
COIL_SUSPENDS int coil_tls_stop(coil_stream *stream);

/* ---- what was agreed on ------------------------------------------------------------ */

/*
 * After the handshake. Strings are the stream's; NULL: no TLS, or there is none. The
 * server name is what the client asked for. The peer is its certificate's subject, "CN =
 * client, O = Example"; of a server it says nothing more than that the name was right.
 */
COIL_API const char *coil_tls_version(const coil_stream *stream); /* "TLSv1.3" */
COIL_API const char *coil_tls_cipher(const coil_stream *stream);
COIL_API const char *coil_tls_alpn(const coil_stream *stream);
COIL_API const char *coil_tls_server_name(const coil_stream *stream);
COIL_API const char *coil_tls_peer(const coil_stream *stream);

/* The session was an earlier one's, so that the handshake was short. */
COIL_API bool coil_tls_resumed(const coil_stream *stream);

/*
 * The peer's certificate in DER. Returns its size, of which at most `size` bytes are
 * copied; -ENODATA if it has none. (ssl: getpeercert(True))
 */
COIL_API ssize_t coil_tls_peer_certificate(const coil_stream *stream, void *buf,
                                           size_t size);

#ifdef __cplusplus
}
#endif

#endif
