/*
 * tls.h (internal) - TLS by OpenSSL: contexts, connections, and what went wrong.
 *
 *     tls.c           coil_tls: files, whom to trust, protocols, names
 *     tls_sessions.c  what a client may resume
 *     tls_verify.c    is the peer who it should be, and if not, why
 *     tls_error.c     OpenSSL's errors as ours
 *     tls_stream.c    the transport: reading, writing, closing
 *     tls_handshake.c how a stream comes to have it
 *     tls_info.c      what was agreed on
 *     tls_none.c      all of it, where there is no OpenSSL
 */
#ifndef COIL_NET_TLS_H
#define COIL_NET_TLS_H

#include "stream.h"

#include <coil/tls.h>

#include <openssl/ssl.h>
#include <pthread.h>

/* ---- sessions --------------------------------------------------------------------- */

/*
 * The sessions a client may resume, by the name of the server that they were verified
 * for. Any thread. Its memory is OpenSSL's, as theirs is.
 */
struct coil__tls_sessions {
    pthread_mutex_t mutex;
    struct coil__tls_session *table; /* NULL until there is one */
    uint64_t clock;
};

void coil__tls_sessions_init(struct coil__tls_sessions *sessions);
void coil__tls_sessions_finish(struct coil__tls_sessions *sessions);

/* Keep it; its reference is taken over. False, and it is not, where there is no room. */
bool coil__tls_sessions_put(struct coil__tls_sessions *sessions, const char *name,
                            SSL_SESSION *session);

/* One for this server, a reference, or NULL. Of TLS 1.3 each is given out once. */
SSL_SESSION *coil__tls_sessions_take(struct coil__tls_sessions *sessions,
                                     const char *name);

/* ---- contexts --------------------------------------------------------------------- */

struct coil__tls_name {
    struct coil__tls_name *next;
    coil_tls *tls;
    char pattern[];
};

struct coil_tls {
    _Atomic unsigned references;
    SSL_CTX *ctx;
    bool no_verify, verify_client, allow_truncation;
    unsigned char *alpn; /* as on the wire: a length before each */
    unsigned alpn_bytes;
    struct coil__tls_name *names;
    struct coil__tls_sessions sessions;
};

/* Of the whole process, with the defaults; borrowed. May wait, for files are read. */
int coil__tls_default(coil_tls **out);

/* The context for the name a client asked for, borrowed. */
coil_tls *coil__tls_for_name(coil_tls *tls, const char *name);

/* A name without the dot at its end that DNS allows, or an address without its zone. */
#define COIL__TLS_NAME_MAX 253

enum coil__tls_name_kind { COIL__TLS_NO_NAME, COIL__TLS_HOST, COIL__TLS_ADDRESS };

/* Which of the two it is; copied to `out`, of COIL__TLS_NAME_MAX + 1 bytes. */
enum coil__tls_name_kind coil__tls_normalize(const char *name, char *out);

/* ---- one connection --------------------------------------------------------------- */

/* Bytes between OpenSSL and the descriptor: [start, end) of the block. */
struct coil__tls_bytes {
    unsigned char *block; /* NULL: none */
    size_t start, end, size;
};

struct coil__tls_stream {
    coil_tls *tls;    /* a reference */
    coil_tls *chosen; /* by name; of tls */
    SSL *ssl;
    coil_stream *stream;
    struct coil__tls_bytes in;      /* came, and not yet decrypted */
    struct coil__tls_bytes out;     /* encrypted, and not yet on its way */
    struct coil__tls_bytes sending; /* the kernel's just now; or cut off: it goes first */
    size_t next_read;               /* how much to read at once */
    int failed;                     /* 0, or what every call returns from now on */
    bool established, shut_down;
    bool out_of_memory; /* `out` could not grow */
    bool flushing;      /* somebody is sending */
    struct coil__wait *waiting_to_flush;
    struct coil__op last_words;
    char name[COIL__TLS_NAME_MAX + 1]; /* of the server, as the client asked */
    char alpn[256];
    char *peer;       /* NULL: not asked for yet, or none */
    char *complaint;  /* about the peer's certificate; NULL: none, or out of memory */
    int verify_error; /* X509_V_ERR_..., of the last certificate that was refused */
};

extern const struct coil__transport coil__tls_transport;

/* One that has not begun; the stream does not know of it yet. */
int coil__tls_create(coil_stream *stream, coil_tls *tls, struct coil__tls_stream **out);
void coil__tls_destroy(struct coil__tls_stream *t);

/* Wait for more bytes of the peer's. Returns how many; 0 where the connection ends. */
ssize_t coil__tls_fill(struct coil__tls_stream *t);

/*
 * Wait until all that was encrypted is with the kernel. One task at a time: in the
 * handshake nobody else is there, later it has to be its turn.
 */
int coil__tls_flush(struct coil__tls_stream *t);

/*
 * If nobody flushes: hand over what OpenSSL has to answer, as far as that goes at once or
 * within that time. Only alerts that end the session are worth waiting for: they tell the
 * peer what is wrong.
 */
void coil__tls_answer(struct coil__tls_stream *t, int64_t patience_ns);
#define COIL__TLS_LAST_WORDS_NS COIL_SEC(1)

/* The connection of OpenSSL's object. */
struct coil__tls_stream *coil__tls_of(const SSL *ssl);

/* ---- verification ----------------------------------------------------------------- */

/* As a client: the name the server has to prove; as a server: what clients have to show.
 */
int coil__tls_expect_server(struct coil__tls_stream *t, enum coil__tls_name_kind kind);
void coil__tls_expect_client(struct coil__tls_stream *t, const coil_tls *tls);

/* A certificate's subject, "CN = localhost", allocated by OpenSSL; NULL: no memory. */
char *coil__tls_name_text(const X509_NAME *name);

/* ---- errors ----------------------------------------------------------------------- */

/*
 * OpenSSL's errors belong to the thread, and tasks take turns on it: the queue is emptied
 * before each use of it and after. These return an errno, with a sentence for
 * coil_last_error().
 */

/* A call on the connection failed with SSL_ERROR_SSL or SSL_ERROR_SYSCALL. */
int coil__tls_fail(struct coil__tls_stream *t, const char *doing);

/* Something else did; `what` and OpenSSL's reason become the sentence. */
int coil__tls_fail_setup(int rc, const char *what, const char *detail);

#endif
