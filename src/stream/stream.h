/*
 * stream.h (internal) - struct coil_stream, for code that creates streams, and for the
 * transports that carry their bytes.
 */
#ifndef COIL_STREAM_STREAM_H
#define COIL_STREAM_STREAM_H

#include "../io/op.h"
#include "buffer.h"
#include "endpoint.h"

#include <coil/stream.h>

#include <sys/uio.h>

/*
 * A transport carries the bytes of a stream: the descriptor itself (stream.c), or TLS
 * (src/tls). The functions of a transport are called between coil__endpoint_enter() and
 * coil__endpoint_leave() for their direction, so there are only one reader and one writer
 * at a time. The endpoint may be closed while such a function waits.
 */
struct coil__transport {
    /*
     * Wait until read() would immediately return bytes, the end of the stream or an
     * error. Returns 0 even if the stream has failed, or a negative errno if the wait
     * itself failed.
     */
    int (*wait_readable)(coil_stream *stream);
    /* Read at least one byte. Returns 0 at the end of the stream. n is not 0. */
    ssize_t (*read)(coil_stream *stream, void *buf, size_t n);
    /*
     * Write at least one byte of the parts, which are not empty. If the call fails, it
     * adds to transferred[COIL__OUT] the number of bytes that will be sent nevertheless.
     */
    ssize_t (*write)(coil_stream *stream, const struct iovec *parts, size_t count);
    /* Shut down the writing direction. May wait. */
    int (*shutdown_write)(coil_stream *stream);
    /*
     * Send at most n bytes of a file, beginning at `offset`. Returns 0 at the end of the
     * file. If this function returns -EOPNOTSUPP or is NULL, the caller reads the file
     * and writes the bytes instead.
     */
    ssize_t (*sendfile)(coil_stream *stream, int fd, int64_t offset, size_t n);
    /*
     * Called before the descriptor is closed: send the bytes that end the connection,
     * without waiting. Other calls on the stream may be in progress. May be NULL.
     */
    void (*close)(coil_stream *stream);
    /*
     * Called when the last reference is dropped: free `carrier`. Never waits. May be
     * NULL.
     */
    void (*finish)(coil_stream *stream);
};

/* The transport that reads and writes the descriptor directly. */
extern const struct coil__transport coil__transport_bare;

/* Data received ahead of a read: bytes, followed by an error or 0. */
struct coil__received_ahead {
    struct coil__buffer *buffer;
    int error;
};

/*
 * Each connection has such a struct, so each byte counts: see docs/design/light-tasks.md.
 * Members that every read and write uses come first.
 */
struct coil_stream {
    struct coil__endpoint endpoint;
    const struct coil__transport *transport;
    struct coil__received_ahead *received_ahead; /* from an earlier loop, or NULL */
    struct coil__buffer *buffer;
    size_t transferred[2]; /* bytes transferred by the last call in each direction */
    bool is_socket;
    bool may_read; /* the descriptor is of a kind that can be read: readable.c */
    bool ended;    /* the last read returned 0 */
    /*
     * blocked: the descriptor was blocking when the stream adopted it.
     * shared: other processes share its O_NONBLOCK flag.
     */
    bool blocked, shared;
    size_t limit;                   /* maximum number of bytes to read ahead */
    void *carrier;                  /* data of the transport */
    struct coil__short_op readable; /* waits until the stream is readable */
};

/*
 * Return the number of bytes read ahead. This number must be 0 when another transport is
 * installed, because these bytes would bypass that transport.
 */
static inline size_t coil__stream_buffered(const coil_stream *stream)
{
    return coil__buffer_count(stream->buffer);
}

/*
 * Read through the transport, and record the end of the stream. Does not use the buffer.
 */
ssize_t coil__stream_receive(coil_stream *stream, void *buf, size_t n);

/*
 * Within a reading call, read once into the buffer, which grows to `most` bytes or to the
 * limit, whichever is more. Returns the number of bytes, or 0 at the end of the stream.
 */
ssize_t coil__stream_fill(coil_stream *stream, size_t most);

/* In debug mode, report the stream if it is not destroyed before this loop closes. */
void coil__stream_note(const coil_stream *stream);

/* Allocate a stream, to be passed to coil__stream_open() or coil__free(). */
coil_stream *coil__stream_alloc(void);

/*
 * Open the stream on a non-blocking descriptor. On failure, the caller still owns the
 * stream and the descriptor.
 */
int coil__stream_open(coil_stream *stream, int fd, bool is_socket, const char *caller);

/* Allocate and open a stream. Closes the descriptor on failure. */
int coil__stream_make(int fd, bool is_socket, const char *caller, coil_stream **out);

/*
 * Allocate and open a stream for a TCP socket, with TCP_NODELAY, so that small writes are
 * sent immediately. Closes the socket on failure.
 */
int coil__stream_open_socket(int fd, const char *caller, coil_stream **out);

/*
 * Called before closing: if the stream's file description is shared and was blocking,
 * make it blocking again.
 */
void coil__stream_give_flag_back(coil_stream *stream);

/* Free the bytes that were received ahead of a read. */
void coil__stream_drop_received_ahead(coil_stream *stream);

/*
 * Begin a call whose bytes are counted for coil_stream_read_transferred() or its
 * counterpart for writing. coil__endpoint_leave() ends the call. Sets the count to 0,
 * even if it fails, unless another call is in progress. Fails like
 * coil__endpoint_enter().
 */
int coil__stream_enter(coil_stream *stream, enum coil__direction direction,
                       const char *caller);

/*
 * Used by a call that fails before coil__stream_enter(): set its count to 0 unless
 * another call is in progress, and return rc.
 */
int coil__stream_refuse(coil_stream *stream, enum coil__direction direction, int rc);

/* Call connect(2), and wait until it has succeeded or failed. */
int coil__stream_connect(coil_stream *stream, const struct sockaddr *address,
                         socklen_t address_bytes);

/* Connect to a local socket like coil_connect_unix(), but without an error message. */
int coil__connect_local(const coil_address *address, coil_stream **out);

/* Wait until the descriptor is readable. For transports. */
int coil__stream_wait_fd_readable(coil_stream *stream);

/* Read and write the descriptor directly. For transports. */
ssize_t coil__stream_read_fd(coil_stream *stream, void *buf, size_t n);
ssize_t coil__stream_write_fd(coil_stream *stream, const struct iovec *parts,
                              size_t count);

#endif
