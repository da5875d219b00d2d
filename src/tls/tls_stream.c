/*
 * tls_stream.c - TLS as the transport of a stream.
 *
 *      coil_read                                         coil_write
 *          |  decrypt()                          seal()      |
 *          |            .------------------------.           |
 *          `----------- |        OpenSSL         | ----------'
 *                       '------------------------'
 *               give_to_openssl()  |   (a BIO: two buffers) |  take_from_openssl()
 *                       in                      out -> sending
 *               fill()  |                        |  flush()
 *                       '------ descriptor ------'
 *
 * Calls to OpenSSL never wait: they return if `in` is empty, and `out` grows as
 * necessary. A task that needs bytes fills `in`, a task that has produced bytes flushes
 * `out`, and tasks wait only there, outside OpenSSL. So one task can read while another
 * writes, although OpenSSL does not support concurrent calls with the same SSL object,
 * and either task can be cancelled without making OpenSSL's state inconsistent.
 *
 * Invariants
 * 1. No task is suspended during a call to OpenSSL.
 * 2. While the kernel sends the bytes in `sending`, that buffer does not grow or move,
 *    and OpenSSL writes to `out`. If a write is cancelled, a record may have been sent
 *    only in part. The next task that flushes sends the rest of `sending` before `out`,
 *    and thus completes the record.
 * 3. Only one task flushes at a time (`flushing`). A writer waits for its turn. A reader
 *    flushes OpenSSL's answers (alerts, key updates), unless a writer is already
 *    flushing: then the writer sends the answers, too. If the send buffer is full, the
 *    reader does not wait, because a peer that does not read must not keep coil from
 *    reading. Such answers are sent with the next write, as RFC 8446, 4.6.3, allows.
 * 4. Only one task fills at a time (`filling`). During that time, `in` is used by the
 *    kernel alone. The task may be a reader or a writer: after a part of a handshake
 *    message, such as a ticket in two records, OpenSSL encrypts nothing until it has
 *    received the rest, so a writer must wait for the rest.
 * 5. At most AT_ONCE bytes are encrypted at a time, and only when all earlier bytes have
 *    been written.
 *
 * OpenSSL is not given the socket: it would need readiness events, whereas coil's
 * backends perform whole reads and writes. Kernel TLS is impossible in this design: see
 * docs/decisions/0004.
 */
#include "tls.h"

#include "../task/wait.h"

#include <coil/error.h>
#include <coil/scope.h>

#include <openssl/err.h>
#include <string.h>

#define READ_MIN ((size_t)4096)
#define READ_MAX ((size_t)65536)
#define AT_ONCE ((size_t)65536)
#define GATHER 4096 /* smaller parts are joined in one record of up to this size */

/* ---- bytes ------------------------------------------------------------------------- */

static size_t count_of(const struct coil__tls_bytes *b)
{
    return b->end - b->start;
}

static void drop_bytes(struct coil__tls_bytes *b)
{
    coil__free(b->block);
    *b = (struct coil__tls_bytes){0};
}

/* Make room for n more bytes. */
static bool reserve(struct coil__tls_bytes *b, size_t n)
{
    size_t size = b->size != 0 ? b->size : 512;
    unsigned char *block;

    if (b->end + n <= b->size)
        return true;
    while (size < b->end + n)
        size *= 2;
    block = coil__realloc(b->block, size);
    if (block == NULL)
        return false;
    b->block = block;
    b->size = size;
    return true;
}

/* ---- OpenSSL's BIO ----------------------------------------------------------------- */

static int give_to_openssl(BIO *bio, char *buf, int n)
{
    struct coil__tls_bytes *in = &((struct coil__tls_stream *)BIO_get_data(bio))->in;
    size_t count = count_of(in) < (size_t)n ? count_of(in) : (size_t)n;

    BIO_clear_retry_flags(bio);
    if (count == 0) {
        BIO_set_retry_read(bio);
        return -1;
    }
    memcpy(buf, in->block + in->start, count);
    in->start += count;
    return (int)count;
}

static int take_from_openssl(BIO *bio, const char *buf, int n)
{
    struct coil__tls_stream *t = BIO_get_data(bio);

    BIO_clear_retry_flags(bio);
    if (!reserve(&t->out, (size_t)n)) {
        t->out_of_memory = true;
        return -1;
    }
    memcpy(t->out.block + t->out.end, buf, (size_t)n);
    t->out.end += (size_t)n;
    return n;
}

static long control(BIO *bio, int command, long number, void *pointer)
{
    (void)bio;
    (void)number;
    (void)pointer;
    return command == BIO_CTRL_FLUSH;
}

static BIO_METHOD *method; /* NULL: out of memory */
static pthread_once_t method_once = PTHREAD_ONCE_INIT;

static void make_method(void)
{
    method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "coil stream");
    if (method == NULL)
        return;
    BIO_meth_set_read(method, give_to_openssl);
    BIO_meth_set_write(method, take_from_openssl);
    BIO_meth_set_ctrl(method, control);
}

static BIO *make_bio(struct coil__tls_stream *t)
{
    BIO *bio;

    pthread_once(&method_once, make_method);
    bio = method != NULL ? BIO_new(method) : NULL;
    if (bio == NULL)
        return NULL;
    BIO_set_data(bio, t);
    BIO_set_init(bio, 1);
    return bio;
}

struct coil__tls_stream *coil__tls_of(const SSL *ssl)
{
    return SSL_get_app_data(ssl);
}

/* ---- the descriptor ---------------------------------------------------------------- */

/*
 * A read that fills the buffer doubles the size of the next read, and a read that fills
 * less than a quarter of the buffer halves it, within the limits READ_MIN and READ_MAX.
 */
ssize_t coil__tls_fill(struct coil__tls_stream *t)
{
    struct coil__tls_bytes *in = &t->in;
    ssize_t n = t->unread;

    t->unread = 0;
    if (n < 0)
        return coil__failed((int)n);
    if (in->size != t->next_read) {
        drop_bytes(in);
        in->block = coil__alloc(t->next_read);
        if (in->block == NULL)
            return coil__failed(-ENOMEM);
        in->size = t->next_read;
    }
    in->start = in->end = 0;
    n = coil__stream_read_fd(t->stream, in->block, in->size);
    if (n <= 0)
        return n;
    in->end = (size_t)n;
    if (in->end == in->size && in->size < READ_MAX)
        t->next_read = in->size * 2;
    else if (in->end < in->size / 4 && in->size > READ_MIN)
        t->next_read = in->size / 2;
    return n;
}

static void end_filling(struct coil__tls_stream *t)
{
    t->filling = false;
    if (t->waiting_to_fill != NULL)
        coil__wait_complete(t->waiting_to_fill, 0);
}

/*
 * Let the caller fill `in`, or wait until another task has filled it. Returns 0 if the
 * caller may fill `in` and must then call end_filling(), 1 if another task has filled it,
 * so that there may be bytes to decrypt, or a negative errno.
 */
static int begin_filling(struct coil__tls_stream *t)
{
    static const struct coil__wait_class waiting_to_fill = {.what = "read"};
    struct coil__wait wait;
    int rc;

    if (!t->filling) {
        t->filling = true;
        return 0;
    }
    coil__wait_init(&wait, &waiting_to_fill);
    t->waiting_to_fill = &wait;
    rc = coil__wait_park(&wait);
    t->waiting_to_fill = NULL;
    return rc < 0 ? rc : 1;
}

/*
 * Call coil__tls_fill() and return its result. If another task is already filling `in`,
 * wait for that instead, and return 1.
 */
static ssize_t fill_in_turn(struct coil__tls_stream *t)
{
    ssize_t n = begin_filling(t);

    if (n != 0)
        return n;
    n = coil__tls_fill(t);
    end_filling(t);
    return n;
}

static const struct coil__wait_class waiting_to_write = {.what = "write"};

static int begin_flushing(struct coil__tls_stream *t)
{
    struct coil__wait wait;
    int rc = 0;

    while (rc == 0 && t->flushing) {
        coil__wait_init(&wait, &waiting_to_write);
        t->waiting_to_flush = &wait;
        rc = coil__wait_park(&wait);
        t->waiting_to_flush = NULL;
    }
    if (rc == 0)
        t->flushing = true;
    return rc;
}

static void end_flushing(struct coil__tls_stream *t)
{
    t->flushing = false;
    if (t->waiting_to_flush != NULL)
        coil__wait_complete(t->waiting_to_flush, 0);
}

int coil__tls_flush(struct coil__tls_stream *t)
{
    struct coil__tls_bytes *sending = &t->sending;

    for (;;) {
        struct iovec rest;
        ssize_t n;

        if (count_of(sending) == 0) {
            drop_bytes(sending);
            if (count_of(&t->out) == 0)
                return 0;
            *sending = t->out;
            t->out = (struct coil__tls_bytes){0};
        }
        rest = (struct iovec){sending->block + sending->start, count_of(sending)};
        n = coil__stream_write_fd(t->stream, &rest, 1);
        if (n < 0)
            return (int)n;
        sending->start += (size_t)n;
    }
}

void coil__tls_answer(struct coil__tls_stream *t, int64_t patience_ns)
{
    coil_scope scope;

    if (count_of(&t->out) == 0 || t->flushing ||
        coil_scope_enter_shielded(&scope, coil_in(patience_ns)) < 0)
        return;
    t->flushing = true;
    coil__tls_flush(t);
    end_flushing(t);
    coil_scope_exit(&scope, 0);
}

/* ---- reading ----------------------------------------------------------------------- */

/*
 * Decrypt with SSL_read_ex() or SSL_peek_ex(). Returns the number of bytes, 0 if the peer
 * has sent close_notify, -EAGAIN if OpenSSL needs more bytes, or another negative errno.
 */
static ssize_t decrypt(struct coil__tls_stream *t,
                       int (*read_or_peek)(SSL *, void *, size_t, size_t *), void *buf,
                       size_t n)
{
    size_t got;

    ERR_clear_error();
    if (read_or_peek(t->ssl, buf, n, &got) == 1)
        return (ssize_t)got;
    switch (SSL_get_error(t->ssl, 0)) {
    case SSL_ERROR_WANT_READ:
        return -EAGAIN;
    case SSL_ERROR_ZERO_RETURN:
        return 0;
    default:
        t->failed = coil__tls_fail(t, "TLS, reading");
        return t->failed;
    }
}

static ssize_t truncation_error(const struct coil__tls_stream *t)
{
    if (t->chosen->allow_truncation)
        return 0;
    return coil_fail(
        -ECONNABORTED,
        "the connection ended without close_notify: the data may be incomplete");
}

static ssize_t read_tls(coil_stream *stream, void *buf, size_t n)
{
    struct coil__tls_stream *t = stream->carrier;
    ssize_t result = t->failed;

    /*
     * A read that can be served from `in` or from OpenSSL's current record does not wait,
     * so it is charged to the task's budget, which makes the task yield from time to
     * time.
     */
    if (result == 0 && (count_of(&t->in) > 0 || SSL_pending(t->ssl) > 0))
        result = coil__endpoint_spend(&stream->endpoint);
    if (result < 0)
        return result;
    for (;;) {
        result = decrypt(t, SSL_read_ex, buf, n);
        coil__tls_answer(t, t->failed < 0 ? COIL__TLS_LAST_WORDS_NS : 0);
        if (result != -EAGAIN)
            return result;
        result = fill_in_turn(t);
        if (result <= 0)
            return result < 0 ? result : truncation_error(t);
    }
}

/*
 * Fill `in` without consuming the result of a failed read: the error is stored for the
 * next read. Returns 0 if there are bytes to decrypt, 1 if the connection has ended or
 * failed, or a negative errno if the wait failed.
 */
static int fill_for_peek(struct coil__tls_stream *t)
{
    ssize_t n = coil__tls_fill(t);

    if (n == -ECANCELED || n == -EBADF || n == -ENOMEM)
        return (int)n;
    t->unread = n < 0 ? (int)n : 0;
    return n <= 0;
}

/*
 * Wait until the descriptor is readable, and fill `in`. The buffer of `in` is freed
 * during the wait: it is empty, because OpenSSL has taken all its bytes. Returns like
 * fill_for_peek().
 */
static int wait_and_fill(struct coil__tls_stream *t)
{
    int rc = begin_filling(t);

    if (rc != 0)
        return rc < 0 ? rc : 0;
    drop_bytes(&t->in);
    rc = coil__stream_wait_fd_readable(t->stream);
    if (rc == 0)
        rc = fill_for_peek(t);
    end_filling(t);
    return rc;
}

/*
 * Wait until a read would return at once, with decrypted bytes, the end or an error. A
 * readable descriptor is not sufficient, because only a part of a record, or a record
 * without data, may have arrived.
 */
static int wait_readable_tls(coil_stream *stream)
{
    struct coil__tls_stream *t = stream->carrier;
    int rc = coil__endpoint_spend(&stream->endpoint);
    char byte;

    while (rc == 0 && t->failed == 0 && t->unread == 0) {
        ssize_t there = decrypt(t, SSL_peek_ex, &byte, 1);

        coil__tls_answer(t, t->failed < 0 ? COIL__TLS_LAST_WORDS_NS : 0);
        if (there != -EAGAIN)
            return 0;
        rc = wait_and_fill(t);
    }
    return rc < 0 ? rc : 0;
}

/* ---- writing ----------------------------------------------------------------------- */

/* The next byte to write: its part, and its offset in that part. */
struct cursor {
    const struct iovec *part, *end;
    size_t offset;
};

static size_t rest_of_part(const struct cursor *c)
{
    return c->part->iov_len - c->offset;
}

static void advance_cursor(struct cursor *c, size_t n)
{
    c->offset += n;
    while (c->part < c->end && rest_of_part(c) == 0) {
        c->part++;
        c->offset = 0;
    }
}

/*
 * Return the next *n bytes to write, at most `max`: a pointer into a large part, or
 * `copy`, in which small parts are joined.
 */
static const void *next_piece(struct cursor *c, char *copy, size_t max, size_t *n)
{
    const char *from = (const char *)c->part->iov_base + c->offset;

    *n = rest_of_part(c);
    if (*n >= GATHER || *n >= max || c->part + 1 == c->end) {
        *n = *n < max ? *n : max;
        advance_cursor(c, *n);
        return from;
    }
    max = max < GATHER ? max : GATHER;
    for (*n = 0; *n < max && c->part < c->end;) {
        size_t rest = rest_of_part(c) < max - *n ? rest_of_part(c) : max - *n;

        memcpy(copy + *n, (const char *)c->part->iov_base + c->offset, rest);
        *n += rest;
        advance_cursor(c, rest);
    }
    return copy;
}

/* Fill `in` on behalf of a writer. An error is also stored for the next read. */
static int fill_to_write(struct coil__tls_stream *t)
{
    int rc = begin_filling(t);

    if (rc != 0)
        return rc < 0 ? rc : 0;
    rc = fill_for_peek(t);
    end_filling(t);
    if (rc <= 0)
        return rc;
    return t->unread < 0
               ? coil__failed(t->unread)
               : coil_fail(-ECONNABORTED,
                           "the connection ended in the middle of a TLS message");
}

/*
 * If OpenSSL has received only a part of a handshake message, wait until it has the rest
 * (invariant 4). Application data is not consumed, so the reader will still get it.
 */
static int await_rest_of_message(struct coil__tls_stream *t)
{
    int rc = 0;
    char byte;

    while (rc == 0 && SSL_in_init(t->ssl)) {
        ssize_t there = decrypt(t, SSL_peek_ex, &byte, 1);

        if (there != -EAGAIN)
            return there < 0 ? (int)there : 0;
        if (SSL_in_init(t->ssl))
            rc = fill_to_write(t);
    }
    return rc;
}

/*
 * Encrypt up to AT_ONCE bytes of the parts into `out`. Returns the number of encrypted
 * bytes.
 */
static ssize_t seal(struct coil__tls_stream *t, const struct iovec *parts, size_t count)
{
    struct cursor c = {parts, parts + count, 0};
    char copy[GATHER];
    size_t sealed = 0, n;

    for (size_t i = 0; i < count && sealed < AT_ONCE; i++)
        sealed += parts[i].iov_len;
    if (!reserve(&t->out, (sealed < AT_ONCE ? sealed : AT_ONCE) + GATHER))
        return coil__failed(-ENOMEM);
    ERR_clear_error();
    advance_cursor(&c, 0);
    for (sealed = 0; c.part < c.end && sealed < AT_ONCE; sealed += n) {
        const void *piece = next_piece(&c, copy, AT_ONCE - sealed, &n);
        size_t written;

        if (SSL_write_ex(t->ssl, piece, n, &written) != 1) {
            t->failed = coil__tls_fail(t, "TLS, writing");
            return t->failed;
        }
    }
    return (ssize_t)sealed;
}

/*
 * Write the bytes that an earlier call left behind, then encrypt and write the parts. The
 * caller has set `flushing`.
 */
static ssize_t seal_and_flush(struct coil__tls_stream *t, const struct iovec *parts,
                              size_t count)
{
    ssize_t sealed;
    int rc = coil__tls_flush(t);

    if (rc < 0)
        return rc;
    if (t->shut_down)
        return coil__failed(-EPIPE);
    if (t->failed < 0)
        return t->failed;
    rc = await_rest_of_message(t);
    if (rc < 0)
        return rc;
    sealed = seal(t, parts, count);
    rc = sealed > 0 ? coil__tls_flush(t) : 0;
    if (rc < 0) {
        /* Encrypted bytes cannot be taken back, so they count as sent. */
        t->stream->transferred[COIL__OUT] += (size_t)sealed;
        return rc;
    }
    return sealed;
}

static ssize_t write_tls(coil_stream *stream, const struct iovec *parts, size_t count)
{
    struct coil__tls_stream *t = stream->carrier;
    ssize_t result = t->failed;

    if (result == 0)
        result = begin_flushing(t);
    if (result < 0)
        return result;
    result = seal_and_flush(t, parts, count);
    end_flushing(t);
    return result;
}

/* ---- closing ----------------------------------------------------------------------- */

#define ALERT_ROOM 256

/* Encrypt close_notify into `out`. */
static int encrypt_close_notify(struct coil__tls_stream *t)
{
    if (t->shut_down)
        return 0;
    if (!reserve(&t->out, ALERT_ROOM))
        return coil__failed(-ENOMEM);
    ERR_clear_error();
    t->shut_down =
        /* the BIO always has room, so only a lack of memory makes this fail */
        SSL_shutdown(t->ssl) >= 0;
    ERR_clear_error();
    return t->shut_down ? 0 : coil__failed(-ENOMEM);
}

static int shutdown_write_tls(coil_stream *stream)
{
    struct coil__tls_stream *t = stream->carrier;
    int rc = t->failed;

    if (rc == 0)
        rc = begin_flushing(t);
    if (rc < 0)
        return rc;
    rc = coil__tls_flush(t);
    if (rc == 0)
        rc = await_rest_of_message(t);
    if (rc == 0)
        rc = encrypt_close_notify(t);
    if (rc == 0)
        rc = coil__tls_flush(t);
    end_flushing(t);
    return rc;
}

static void ignore_completion(struct coil__op *op)
{
    (void)op;
}

/*
 * Try once to send close_notify before the descriptor is closed. If a record has been
 * sent only in part, close_notify is not sent, so that the peer notices the truncation.
 */
static void close_tls(coil_stream *stream)
{
    struct coil__tls_stream *t = stream->carrier;
    coil_loop *loop = stream->endpoint.loop;

    if (!t->established || t->failed < 0 || t->shut_down || t->flushing ||
        count_of(&t->sending) > 0 || loop == NULL || loop != coil_loop_current() ||
        loop->closing)
        return;
    if (encrypt_close_notify(t) < 0 || count_of(&t->out) == 0)
        return;
    t->last_words = (struct coil__op){
        .kind = stream->is_socket ? COIL__OP_SEND : COIL__OP_WRITE,
        .fd = stream->endpoint.fd,
        .buf = t->out.block + t->out.start,
        .len = count_of(&t->out),
        .complete = ignore_completion,
    };
    loop->backend->class->submit(loop->backend, &t->last_words);
}

/* ---- creating and destroying ------------------------------------------------------- */

int coil__tls_create(coil_stream *stream, coil_tls *tls, struct coil__tls_stream **out)
{
    struct coil__tls_stream *t = coil__alloc_zeroed(sizeof *t);
    BIO *bio;

    if (t == NULL)
        return coil__failed(-ENOMEM);
    ERR_clear_error();
    t->tls = t->chosen = coil_tls_retain(tls);
    t->stream = stream;
    t->next_read = READ_MIN;
    t->ssl = SSL_new(tls->ctx);
    bio = t->ssl != NULL && SSL_set_app_data(t->ssl, t) == 1 ? make_bio(t) : NULL;
    if (bio == NULL) {
        coil__tls_destroy(t);
        ERR_clear_error();
        return coil__failed(-ENOMEM);
    }
    SSL_set_bio(t->ssl, bio, bio);
    *out = t;
    return 0;
}

void coil__tls_destroy(struct coil__tls_stream *t)
{
    /*
     * Without this call, SSL_free() would mark a TLS 1.2 session as not resumable, as
     * SSLv3 required after a connection without close_notify.
     */
    if (t->established && t->failed == 0)
        SSL_set_shutdown(t->ssl, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
    SSL_free(t->ssl);
    drop_bytes(&t->in);
    drop_bytes(&t->out);
    drop_bytes(&t->sending);
    OPENSSL_free(t->peer);
    OPENSSL_free(t->complaint);
    coil_tls_release(t->given);
    coil_tls_release(t->tls);
    coil__free(t);
}

static void finish_tls(coil_stream *stream)
{
    coil__tls_destroy(stream->carrier);
}

const struct coil__transport coil__tls_transport = {
    .wait_readable = wait_readable_tls,
    .read = read_tls,
    .write = write_tls,
    .shutdown_write = shutdown_write_tls,
    .close = close_tls,
    .finish = finish_tls,
};
