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
 * A TLS stream is a coil_stream, with the same calls and the same rules. TLS needs
 * OpenSSL 3; if coil was built without OpenSSL, functions that create a context or start
 * TLS return -ENOSYS. (asyncio: ssl=, start_tls; Python: ssl.SSLContext)
 *
 * VERIFICATION. A client checks the server's certificate. The certificate must be signed
 * by an authority that the system or the context trusts, must be valid now, and must be
 * issued for the requested name or address (RFC 6125: only subject alternative names, not
 * the common name). Each kind of failure has its own errno, and a message with the
 * certificate's subject, issuer and depth (coil_last_error()):
 *
 *     -ENOKEY        no trusted authority has signed it; or it is self-signed
 *     -EKEYEXPIRED   it has expired, or is not valid yet
 *     -EKEYREVOKED   it is in a revocation list that was given (crl_file)
 *     -EKEYREJECTED  it is for another name or address, or for another purpose, or wrong
 *                    in some other way
 *
 * OTHER FAILURES. -EPROTO means that the session failed: for example, the peer does not
 * use TLS, the two sides have no version, cipher or protocol in common, the peer sent an
 * alert (which the message names), or data was altered in transit. -ECONNABORTED means
 * that the connection ended without the peer's close_notify. In that case an attacker may
 * have truncated the data; see allow_truncation. After a handshake that failed or was
 * cancelled, every call on the stream returns -ENOTCONN.
 *
 * CLOSING. coil_stream_shutdown_write() sends close_notify; nothing can be written after
 * that. Reading continues until the peer's close_notify, which is the end of the stream:
 * coil_read() returns 0. coil_stream_close() and coil_stream_destroy() also send
 * close_notify if that is possible without waiting and no write was interrupted, but they
 * do not wait for the peer. If received data is still unread, even if it is only a
 * session ticket, the kernel resets the connection, and the peer may lose data that it
 * has not read yet. To be sure that the last write arrives, call coil_tls_stop() first.
 *
 * EARLY ENDS. A client of TLS 1.3 may send all of its data and disconnect before the
 * server has sent its session tickets. In that case coil_accept_tls() succeeds, and the
 * data can be read.
 *
 * RENEGOTIATION of TLS 1.2 is refused by clients and servers, with the warning
 * no_renegotiation (RFC 5246, 7.2.2). TLS 1.3 has no renegotiation. If the peer insists,
 * the connection ends with -EPROTO.
 *
 * CANCELLING. Data that coil_write() has encrypted into records cannot be withdrawn. Such
 * data is included in coil_stream_write_transferred(), and is sent before the next write
 * or shutdown. So after a cancelled write, continue after that number of bytes. A
 * handshake fits into a stack of 32 KiB.
 */
#ifndef COIL_TLS_H
#define COIL_TLS_H

#include <coil/stream.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- contexts ---------------------------------------------------------------------- */

/*
 * A context: certificates, trusted authorities, resumable sessions and other data that
 * connections share. (ssl.SSLContext)
 *
 * One context may serve clients and servers, any number of connections, and all loops of
 * the process. A context cannot be changed after its first connection. To replace
 * certificates, create a new context for new connections; existing connections keep the
 * old one. A server passes the new context to new connections with coil_tls_opts.choose.
 */
typedef struct coil_tls coil_tls;

enum coil_tls_version { COIL_TLS_1_2 = 0x0303, COIL_TLS_1_3 = 0x0304 };

/* Zeroes select secure defaults. Everything is copied. Files are in PEM format. */
typedef struct coil_tls_opts {
    /*
     * The context's own certificate, followed by the intermediate certificates up to the
     * authority. A server must have one; a client needs one only if the server requires
     * it.
     */
    const char *certificate_file;
    const char *key_file; /* NULL means that the key is in certificate_file */
    /* password of an encrypted key; coil never prompts for it */
    const char *key_password;
    /*
     * The trusted authorities: a file, and a directory prepared by openssl-rehash(1). If
     * both are NULL, coil uses SSL_CERT_FILE and SSL_CERT_DIR from the environment, else
     * the authorities that the system trusts. A context with a certificate_file loads the
     * default authorities only when it is first used as a client, because servers do not
     * need them. If ca_file contains a certificate that is not an authority's, only that
     * certificate itself is trusted.
     */
    const char *ca_file, *ca_path;
    /*
     * Certificate revocation lists. The file must have one list for each authority in a
     * chain, including the root; otherwise the chain is refused. The file is read only
     * once, so a new list needs a new context.
     */
    const char *crl_file;
    /* Protocols, best first, NULL-terminated: "h2", "http/1.1". */
    const char *const *alpn;
    /*
     * Ciphers of TLS 1.2, as in openssl-ciphers(1). NULL selects the ciphers with forward
     * secrecy (ECDHE). "DEFAULT" selects OpenSSL's default ciphers, for peers that
     * support only RSA key exchange.
     */
    const char *ciphers;
    const char *ciphersuites; /* for TLS 1.3; NULL means OpenSSL's default */
    int min_version;          /* 0 means COIL_TLS_1_2, the lowest supported version */
    int max_version;          /* 0 means the latest */
    bool no_verify;           /* a client accepts any certificate; for tests only */
    /* a server requires a certificate from clients; needs ca_file or ca_path (mTLS) */
    bool verify_client;
    /*
     * Treat the end of the connection as the end of the data. Many old servers send no
     * close_notify. Use this option only for protocols in which each message specifies
     * its length.
     */
    bool allow_truncation;
    /*
     * As a server, choose the context of a connection. `name` is the name that the client
     * requests, or "". Returns a reference (coil_tls_retain()), or NULL to use this
     * context and the contexts added with coil_tls_add_name(). As with
     * coil_tls_add_name(), this context still determines the versions and ciphers. The
     * function must not suspend, and runs on the thread of the connection. To make new
     * certificates effective without a restart, return the newest context. (ssl:
     * sni_callback; Go: GetConfigForClient)
     */
    coil_tls *(*choose)(const char *name, void *arg);
    void *choose_arg;
    /*
     * Called with each line of a key log (SSLKEYLOGFILE), without a newline. Programs
     * such as Wireshark need the key log to decrypt recorded connections. The function
     * must not suspend. If the environment variable SSLKEYLOGFILE names a file when the
     * context is created, coil also appends the lines to that file, unless the program is
     * set-user-ID. (ssl: keylog_filename; Go: KeyLogWriter)
     */
    void (*key_log)(const char *line, void *arg);
    void *key_log_arg;
} coil_tls_opts;

/*
 * Create a context; `opts` may be NULL. May be called on any thread.
 *
 * The call blocks while it reads files, so make the call before the server has
 * connections, or on a thread (coil_blocking()). In a task, a failure sets the message of
 * coil_last_error().
 *
 * If a file cannot be read, fails like open(2), for example with -ENOENT or -EACCES.
 * Fails with -EINVAL for the content of a file, an option, or a key that does not belong
 * to the certificate. Fails with -ENOKEY for an encrypted key without a password,
 * -EKEYREJECTED for a wrong password, -ENOMEM, or -ENOSYS.
 */
COIL_API COIL_CHECKED int coil_tls_create(const coil_tls_opts *opts, coil_tls **out);

/*
 * Add or drop a reference. May be called on any thread. Connections hold their own
 * references. Releasing NULL has no effect.
 */
COIL_API coil_tls *coil_tls_retain(coil_tls *tls);
COIL_API void coil_tls_release(coil_tls *tls);

/*
 * Make servers use the context `other` for clients that request `name`. (ssl:
 * sni_callback)
 *
 * `name` is "www.example.org", or "*.example.org" for every name with one more label than
 * "example.org". For clients that request such a name, the server uses the certificate
 * and protocols of `other`, and its rules for client certificates (verify_client, trusted
 * authorities, crl_file). All other names are served by `tls` itself. The versions and
 * ciphers are always those of `tls`. `other` is retained.
 *
 * Call this function before the first connection. Returns 0. Fails with -EEXIST, -ENOMEM,
 * or -EINVAL if `name` is not a valid name or `other` is `tls` itself.
 */
COIL_API int coil_tls_add_name(coil_tls *tls, const char *name, coil_tls *other);

/* ---- connections ------------------------------------------------------------------- */

/*
 * Connect like coil_connect(), and then start TLS like coil_start_tls(). If `tls` is
 * NULL, a default context is used, which the whole process shares. (asyncio:
 * open_connection(ssl=True))
 */
COIL_SUSPENDS COIL_CHECKED int coil_connect_tls(const char *host, const char *port,
                                                coil_tls *tls, coil_stream **out);

/*
 * Start TLS on a stream, as the client or as the server, and wait until the handshake is
 * complete. (asyncio: start_tls, ssl_handshake_timeout)
 *
 * The client requests `server_name` (SNI), a name or an address, and checks that the
 * certificate is for it. `server_name` may be NULL only with no_verify. Use a scope with
 * a deadline, because a peer may stay silent forever. If `tls` is NULL, the client uses
 * the same context as coil_connect_tls(); a server fails with -EINVAL.
 *
 * On a stream that was already used (STARTTLS), all data that was read ahead must have
 * been consumed; otherwise the result is -EPROTO. This prevents an attacker from
 * inserting commands before the handshake that would later look like data from the
 * authenticated peer (CVE-2011-0411).
 *
 * Fail with -EBUSY while another call is in progress on the stream, -EALREADY if the
 * stream already uses TLS, and -EINVAL for an invalid name or a server without a
 * certificate. Also fail with -EBADF, -ECANCELED, -ENOMEM, and as described at the top of
 * this file. The caller still destroys the stream.
 */
COIL_SUSPENDS COIL_CHECKED int coil_start_tls(coil_stream *stream, coil_tls *tls,
                                              const char *server_name);
COIL_SUSPENDS COIL_CHECKED int coil_accept_tls(coil_stream *stream, coil_tls *tls);

/*
 * End TLS cleanly: send close_notify, then read and discard data until the peer's
 * close_notify. (asyncio: transport.close, ssl_shutdown_timeout; ssl: unwrap)
 *
 * After a successful call, both sides know that all data was received, and the stream can
 * be destroyed. Use a scope with a deadline. Returns 0. Fails like
 * coil_stream_shutdown_write() and coil_read(), or with -EINVAL if the stream does not
 * use TLS.
 */
COIL_SUSPENDS int coil_tls_stop(coil_stream *stream);

/* ---- results of the handshake ------------------------------------------------------ */

/*
 * Results of the handshake. The strings belong to the stream. NULL means that the stream
 * does not use TLS or does not have this value.
 *
 * coil_tls_server_name() is the name that the client requested. coil_tls_peer() is the
 * subject of the peer's certificate, "CN = client, O = Example". Do not use a server's
 * subject to identify the server: only the requested name was verified.
 */
COIL_API const char *coil_tls_version(const coil_stream *stream); /* "TLSv1.3" */
COIL_API const char *coil_tls_cipher(const coil_stream *stream);
COIL_API const char *coil_tls_alpn(const coil_stream *stream);
COIL_API const char *coil_tls_server_name(const coil_stream *stream);
COIL_API const char *coil_tls_peer(const coil_stream *stream);

/* True if the handshake was shortened by resuming an earlier session. */
COIL_API bool coil_tls_resumed(const coil_stream *stream);

/*
 * Copy the peer's certificate in DER format, at most `size` bytes. Returns the
 * certificate's full size, or -ENODATA if the peer sent no certificate. (ssl:
 * getpeercert(True))
 */
COIL_API ssize_t coil_tls_peer_certificate(const coil_stream *stream, void *buf,
                                           size_t size);

#ifdef __cplusplus
}
#endif

#endif
