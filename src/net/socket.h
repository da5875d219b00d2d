/*
 * socket.h - the system calls of sockets, or what stands for them in a simulated network.
 *
 * Operations that may wait go through the backend in any case (os/op.h). What is called
 * here never waits: it is the kernel's, but for the sockets of a backend that has a
 * network of its own. All return a negative errno on failure.
 */
#ifndef COIL_NET_SOCKET_H
#define COIL_NET_SOCKET_H

#include "../loop/loop.h"

/* A socket that does not block and is closed on exec. */
int coil__socket_open(coil_loop *loop, int family, int type, int protocol);

/* Whether it is a socket of the loop's backend, and no descriptor. */
bool coil__socket_is_simulated(coil_loop *loop, int fd);

/* Close any descriptor: a socket's or another; `loop` may be NULL for one that is in
   none. An interruption is none. */
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
