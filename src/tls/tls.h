/*
 * tls.h (internal) - TLS with OpenSSL: contexts, connections, errors.
 *
 *     tls.c           coil_tls: files, trusted authorities, protocols, names
 *     tls_sessions.c  the sessions that a client may resume
 *     tls_verify.c    verifies the peer's certificate
 *     tls_error.c     converts OpenSSL's errors to coil's
 *     tls_key_log.c   the key log
 *     tls_stream.c    the transport: reading, writing, closing
 *     tls_handshake.c starts TLS on a stream
 *     tls_info.c      the negotiated version, cipher, protocol
 *     tls_none.c      replaces all these files in a build without OpenSSL
 */
#ifndef COIL_TLS_TLS_H
#define COIL_TLS_TLS_H

#include "../stream/stream.h"

#include <coil/tls.h>

#include <openssl/ssl.h>
#include <pthread.h>

/* ---- sessions ---------------------------------------------------------------------- */

/*
 * The sessions that a client may resume, each stored under the verified name of its
 * server. Can be used on any thread. The table and the sessions are allocated by
 * OpenSSL's allocator.
 */
struct coil__tls_sessions {
    pthread_mutex_t mutex;
    struct coil__tls_session *table; /* NULL before the first session */
    uint64_t clock;
};

void coil__tls_sessions_init(struct coil__tls_sessions *sessions);
void coil__tls_sessions_finish(struct coil__tls_sessions *sessions);

/*
 * Store a session, and take over the caller's reference. Returns false if memory ran out;
 * the caller then still owns the reference.
 */
bool coil__tls_sessions_put(struct coil__tls_sessions *sessions, const char *name,
                            SSL_SESSION *session);

/*
 * Return a session for this server, with a reference that the caller must release, or
 * NULL. A TLS 1.3 session is removed from the table, so it is used only once.
 */
SSL_SESSION *coil__tls_sessions_take(struct coil__tls_sessions *sessions,
                                     const char *name);

/* ---- contexts ---------------------------------------------------------------------- */

struct coil__tls_name {
    struct coil__tls_name *next;
    coil_tls *tls;
    char pattern[];
};

struct coil_tls {
    SSL_CTX *ctx;
    bool no_verify, verify_client, allow_truncation;
    _Atomic bool trusts_system_later; /* coil__tls_trust_system() */
    unsigned char *alpn;              /* protocols in wire format: a length before each */
    unsigned alpn_bytes;
    _Atomic unsigned references; /* 0 in freed memory: coil__misuse_gone() */
    struct coil__tls_name *names;
    coil_tls *(*choose)(const char *name, void *arg); /* as in coil_tls_opts */
    void *choose_arg;
    void (*key_log)(const char *line, void *arg);
    void *key_log_arg;
    char *key_file; /* the path in $SSLKEYLOGFILE, or NULL */
    struct coil__tls_sessions sessions;
};

/*
 * Set *out to the default context of the process, without taking a reference. The first
 * call waits until the trusted authorities are loaded.
 */
int coil__tls_default(coil_tls **out);

/*
 * Load the system's authorities if they were not loaded when the context was created.
 * Must be called before each connection as a client. Blocks the calling thread if files
 * must be read.
 */
int coil__tls_trust_system(coil_tls *tls);

/* Write the line to the key logs of the context with which the connection was created. */
void coil__tls_log_key(const SSL *ssl, const char *line);

/* Set up the key log of a new context. Returns 0 or -ENOMEM. */
int coil__tls_set_up_key_log(coil_tls *tls, const coil_tls_opts *opts);

/*
 * Return the context for the server name that the client requested, without taking a
 * reference.
 */
coil_tls *coil__tls_for_name(coil_tls *tls, const char *name);

/* The maximum length of a server's name or address, without a trailing dot or zone. */
#define COIL__TLS_NAME_MAX 253

enum coil__tls_name_kind { COIL__TLS_NO_NAME, COIL__TLS_HOST, COIL__TLS_ADDRESS };

/*
 * Copy the name, without a trailing dot or zone, to `out`, which has room for
 * COIL__TLS_NAME_MAX + 1 bytes. Returns the kind of the name.
 */
enum coil__tls_name_kind coil__tls_normalize(const char *name, char *out);

/* ---- one connection ---------------------------------------------------------------- */

/*
 * A buffer between OpenSSL and the descriptor, which holds the bytes [start, end) of
 * `block`.
 */
struct coil__tls_bytes {
    unsigned char *block; /* NULL: none */
    size_t start, end, size;
};

struct coil__tls_stream {
    coil_tls *tls;    /* a reference */
    coil_tls *chosen; /* the context chosen by name from `tls`, or `given` */
    coil_tls *given;  /* a reference returned by coil_tls_opts.choose, or NULL */
    SSL *ssl;
    coil_stream *stream;
    struct coil__tls_bytes in;  /* received, not yet decrypted */
    struct coil__tls_bytes out; /* encrypted, not yet written */
    /* being written, or left over from a failed write: must be sent before `out` */
    struct coil__tls_bytes sending;
    size_t next_read; /* size of the next read */
    int failed;       /* 0, or the error with which all further calls fail */
    int unread;       /* 0, or the error that the next coil__tls_fill() returns */
    bool established, shut_down;
    bool out_of_memory; /* `out` could not grow */
    bool flushing;      /* a task is writing `out` */
    bool filling;       /* a task is reading into `in` */
    struct coil__wait *waiting_to_flush, *waiting_to_fill;
    struct coil__op last_words;
    /* the server name that the client requested */
    char name[COIL__TLS_NAME_MAX + 1];
    char alpn[256];
    char *peer; /* NULL: not queried yet, or there is none */
    /* why the peer's certificate was rejected, or NULL */
    char *complaint;
    int verify_error; /* X509_V_ERR_... of the last rejected certificate */
};

extern const struct coil__transport coil__tls_transport;

/*
 * Create a connection for the stream. The caller makes it the stream's transport, and
 * begins the handshake.
 */
int coil__tls_create(coil_stream *stream, coil_tls *tls, struct coil__tls_stream **out);
void coil__tls_destroy(struct coil__tls_stream *t);

/*
 * Wait for bytes from the peer and read them into `in`. Returns the number of bytes read,
 * or 0 if the peer has closed the connection. Only one task may call this function at a
 * time.
 */
ssize_t coil__tls_fill(struct coil__tls_stream *t);

/*
 * Write all encrypted bytes to the descriptor. Only one task may call this function at a
 * time: after the handshake, the task that has set `flushing`.
 */
int coil__tls_flush(struct coil__tls_stream *t);

/*
 * Write the bytes that OpenSSL has produced, unless a task is already writing them. Waits
 * at most `patience_ns` if the send buffer is full. Callers set 0, except for fatal
 * alerts, which tell the peer why the connection failed.
 */
void coil__tls_answer(struct coil__tls_stream *t, int64_t patience_ns);
#define COIL__TLS_LAST_WORDS_NS COIL_SEC(1)

/* Return the connection to which an SSL object belongs. */
struct coil__tls_stream *coil__tls_of(const SSL *ssl);

/* ---- verification ------------------------------------------------------------------ */

/*
 * Set what is verified about the peer. A server's certificate must be valid for t->name,
 * unless no_verify is set. A client must present a valid certificate if
 * tls->verify_client is set.
 */
int coil__tls_expect_server(struct coil__tls_stream *t, enum coil__tls_name_kind kind);
void coil__tls_expect_client(struct coil__tls_stream *t, const coil_tls *tls);

/*
 * Return a certificate's subject, such as "CN = localhost", allocated by OpenSSL, or NULL
 * if memory runs out.
 */
char *coil__tls_name_text(const X509_NAME *name);

/* ---- errors ------------------------------------------------------------------------ */

/*
 * OpenSSL has one error queue per thread, which all tasks of the thread share. So the
 * queue is emptied before and after each use of OpenSSL. The following functions convert
 * an error in the queue: they set the message of coil_last_error(), and return a negative
 * errno.
 */

/*
 * Call this after a function of OpenSSL for a connection has failed with SSL_ERROR_SSL or
 * SSL_ERROR_SYSCALL.
 */
int coil__tls_fail(struct coil__tls_stream *t, const char *doing);

/*
 * Call this after any other function of OpenSSL has failed. The message consists of
 * `what`, `detail` and OpenSSL's reason. Returns `rc`, or -ENOMEM if memory ran out.
 */
int coil__tls_fail_setup(int rc, const char *what, const char *detail);

#endif
