/*
 * stream.h (internal) - a stream, as those who make one see it, and what carries its
 * bytes.
 */
#ifndef COIL_NET_STREAM_H
#define COIL_NET_STREAM_H

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
    /* The descriptor is about to be closed, and calls may be in it: last words, without
       waiting. May be NULL. */
    void (*close)(coil_stream *stream);
    /* The last reference goes: free what `carrier` stands for. Never waits. May be NULL.
     */
    void (*finish)(coil_stream *stream);
};

struct coil_stream {
    struct coil__endpoint endpoint;
    const struct coil__transport *transport;
    void *carrier; /* the transport's own */
    bool is_socket;
    size_t transferred[2]; /* by direction, of the latest call */
};

/*
 * Make a stream of a non-blocking socket, and let small writes go out at once
 * (TCP_NODELAY). Closes the socket if that fails.
 */
int coil__stream_open_socket(int fd, const char *caller, coil_stream **out);

/* connect(2) it, to its end. */
int coil__stream_connect(coil_stream *stream, const struct sockaddr *address,
                         socklen_t address_bytes);

/* The descriptor itself, for transports that stand on it: within a call of theirs. */
ssize_t coil__stream_read_fd(coil_stream *stream, void *buf, size_t n);
ssize_t coil__stream_write_fd(coil_stream *stream, const struct iovec *parts,
                              size_t count);

#endif
