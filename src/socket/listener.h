/* listener.h - internal functions that create listeners and accept connections. */
#ifndef COIL_SOCKET_LISTENER_H
#define COIL_SOCKET_LISTENER_H

#include "../stream/endpoint.h"

#include <coil/address.h>
#include <coil/stream.h>

/* The file of a local socket, removed when the socket is closed. */
struct coil__socket_file;

struct coil_listener {
    struct coil__endpoint endpoint;
    uint16_t port;
    int kept; /* an accepted connection that could not be attached; -1: none */
    struct coil__socket_file *file; /* or NULL */
};

/*
 * Create a listener from a listening, non-blocking socket; closes the socket on failure.
 */
int coil__listener_make(int fd, const char *caller, coil_listener **out);

/*
 * coil_accept() that stores the peer's address, unless `peer` is NULL. The length is 0
 * before the call. The length stays 0 if the address is not known.
 */
int coil__accept(coil_listener *listener, coil_stream **out, coil_address *peer);

/* ---- local sockets: unix.c --------------------------------------------------------- */

int coil__listen_unix(const coil_listen_options *opts, int backlog, coil_listener **out);

/* Listen at an address of the family AF_UNIX; `opts->path` is not used. */
int coil__listen_local(const coil_address *address, const coil_listen_options *opts,
                       int backlog, coil_listener **out);

/* Remove the file, unless another one has taken its place. */
void coil__socket_file_remove(const struct coil__socket_file *file);

#endif
