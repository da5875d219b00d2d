/*
 * socket.h - system calls for sockets, and their replacements in a simulated network.
 *
 * The functions in this file never wait: they make system calls, or, for a simulated
 * socket, call the simulated network. Operations that may wait go through the backend
 * (io/op.h). All functions return a negative errno on failure.
 */
#ifndef COIL_IO_SOCKET_H
#define COIL_IO_SOCKET_H

#include "../loop/loop.h"

/* Open a non-blocking, close-on-exec socket. */
int coil__socket_open(coil_loop *loop, int family, int type, int protocol);

/* True if `fd` is the number of a simulated socket, not a descriptor of the kernel. */
bool coil__socket_is_simulated(coil_loop *loop, int fd);

/*
 * Close a descriptor of any kind. `loop` may be NULL if the descriptor belongs to no
 * loop. Never fails with -EINTR.
 */
int coil__socket_close(coil_loop *loop, int fd);

int coil__socket_bind(coil_loop *loop, int fd, const struct sockaddr *address,
                      socklen_t address_bytes);
int coil__socket_listen(coil_loop *loop, int fd, int backlog);
int coil__socket_shutdown(coil_loop *loop, int fd, int how);
int coil__socket_name(coil_loop *loop, int fd, struct sockaddr *address,
                      socklen_t *address_bytes);
int coil__socket_peer(coil_loop *loop, int fd, struct sockaddr *address,
                      socklen_t *address_bytes);
int coil__socket_set_option(coil_loop *loop, int fd, int level, int name,
                            const void *value, socklen_t value_bytes);
int coil__socket_option(coil_loop *loop, int fd, int level, int name, void *value,
                        socklen_t *value_bytes);

#endif
