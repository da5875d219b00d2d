/* listener.h (internal) - creates listeners and accepts connections. */
#ifndef COIL_SOCKET_LISTENER_H
#define COIL_SOCKET_LISTENER_H

#include "../stream/endpoint.h"

#include <coil/address.h>
#include <coil/stream.h>

/* The file of a listening local socket, which is removed when the listener is closed. */
struct coil__socket_file;

struct coil_listener {
    struct coil__endpoint endpoint;
    uint16_t port;
    int kept; /* an accepted connection that could not be attached, or -1 */
    struct coil__socket_file *file; /* NULL if no file must be removed */
};

/*
 * Create a listener from a listening, non-blocking socket. Closes the socket on failure.
 */
int coil__listener_make(int fd, const char *caller, coil_listener **out);

/*
 * Like coil_accept(), but store the peer's address in *peer, unless `peer` is NULL.
 * peer->length must be 0 before the call, and stays 0 if the address is not known.
 */
int coil__accept(coil_listener *listener, coil_stream **out, coil_address *peer);

/* ---- local sockets: unix.c --------------------------------------------------------- */

int coil__listen_unix(const coil_listen_options *opts, int backlog, coil_listener **out);

/* Listen at an address of the family AF_UNIX. `opts->path` is not used. */
int coil__listen_local(const coil_address *address, const coil_listen_options *opts,
                       int backlog, coil_listener **out);

/* Remove the file, unless another file has replaced it. */
void coil__socket_file_remove(const struct coil__socket_file *file);

#endif
