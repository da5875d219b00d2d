/*
 * stream.h (internal) - a stream, as those who make one see it, and what carries its
 * bytes.
 */
#ifndef COIL_NET_STREAM_H
#define COIL_NET_STREAM_H

#include "buffer.h"
#include "endpoint.h"

#include <coil/stream.h>

#include <sys/uio.h>

/*
 * What carries a stream's bytes: the descriptor itself (stream.c), or TLS (tls). A call
 * is made between coil__endpoint_enter() and coil__endpoint_leave() of its direction: so
 * one reader and one writer may be in it at once, and after each wait the endpoint may be
 * closed.
 */
struct coil__transport {
    /* Some bytes, as soon as there are any; 0 at the end. n is not 0. */
    ssize_t (*read)(coil_stream *stream, void *buf, size_t n);
    /*
     * Some of the bytes, at least one. The parts have at least one. Of a call that fails,
     * what goes out first all the same next time is added to transferred[COIL__OUT].
     */
    ssize_t (*write)(coil_stream *stream, const struct iovec *parts, size_t count);
    /* Nothing more will be written. May wait. */
    int (*shutdown_write)(coil_stream *stream);
    /* Some bytes of a file from `offset` on, at most n; 0 at its end. -EOPNOTSUPP where
       this file or stream has to be read and written instead. NULL: always so. */
    ssize_t (*sendfile)(coil_stream *stream, int fd, int64_t offset, size_t n);
    /* The descriptor is about to be closed, and calls may be in it: last words, without
       waiting. May be NULL. */
    void (*close)(coil_stream *stream);
    /* The last reference goes: free what `carrier` stands for. Never waits. May be NULL.
     */
    void (*finish)(coil_stream *stream);
};

/* The descriptor itself. */
extern const struct coil__transport coil__transport_bare;

/* Received before it was asked for: bytes, and an error behind them, or 0. */
struct coil__came {
    struct coil__buffer buffer;
    int error;
};

/* What every read and write looks at comes first: two lines of the cache. */
struct coil_stream {
    struct coil__endpoint endpoint;
    const struct coil__transport *transport;
    size_t transferred[2]; /* by direction, of the latest call */
    bool is_socket;
    bool ended;              /* the latest read said so */
    bool blocked, shared;    /* adopted: it blocked then; others see whether it does */
    struct coil__came *came; /* received by the loop it was detached from; or NULL */
    struct coil__buffer buffer;
    size_t limit;  /* of looking ahead */
    void *carrier; /* the transport's own */
};

/*
 * Bytes that were read ahead of being asked for. A transport that is put on a stream must
 * not find any: they came before it.
 */
static inline size_t coil__stream_buffered(const coil_stream *stream)
{
    return coil__buffer_count(&stream->buffer);
}

/* The transport's read, remembering the end. The buffer is the caller's business. */
static inline ssize_t coil__stream_receive(coil_stream *stream, void *buf, size_t n)
{
    ssize_t result = stream->transport->read(stream, buf, n);

    stream->ended = result == 0;
    return result;
}

/* A block for a stream that is to be opened: coil__stream_open(), or coil__free(). */
coil_stream *coil__stream_alloc(void);

/* It stands on a non-blocking descriptor now. On failure both remain the caller's. */
int coil__stream_open(coil_stream *stream, int fd, bool is_socket, const char *caller);

/* Both at once. Closes the descriptor if that fails. */
int coil__stream_make(int fd, bool is_socket, const char *caller, coil_stream **out);

/* The same for a TCP socket, which sends small writes at once (TCP_NODELAY). */
int coil__stream_open_socket(int fd, const char *caller, coil_stream **out);

/* It is about to be closed: a description that others share is to block again. */
void coil__stream_give_flag_back(coil_stream *stream);

/* Is it a pipe or terminal that can be opened once more, to have flags of its own? */
bool coil__stream_may_reopen(int fd);

/* What came was given out, or nobody wants it. */
void coil__stream_drop_came(coil_stream *stream);

/* connect(2) it, to its end. */
int coil__stream_connect(coil_stream *stream, const struct sockaddr *address,
                         socklen_t address_bytes);

/* The descriptor itself, for transports that stand on it: within a call of theirs. */
ssize_t coil__stream_read_fd(coil_stream *stream, void *buf, size_t n);
ssize_t coil__stream_write_fd(coil_stream *stream, const struct iovec *parts,
                              size_t count);

#endif
