/*
 * stream_open.h (internal) - streams as connecting and accepting make them.
 */
#ifndef COIL_NET_STREAM_OPEN_H
#define COIL_NET_STREAM_OPEN_H

#include "endpoint.h"

#include <coil/stream.h>

/*
 * Make a stream of a non-blocking socket, and let small writes go out at once
 * (TCP_NODELAY). Closes the socket if that fails.
 */
int coil__stream_open_socket(int fd, const char *caller, coil_stream **out);

/* connect(2) it, to its end. */
int coil__stream_connect(coil_stream *stream, const struct sockaddr *address,
                         socklen_t address_bytes);

#endif
