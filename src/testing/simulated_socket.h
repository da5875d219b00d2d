/*
 * simulated_socket.h (internal) - sockets: descriptors and names.
 */
#ifndef COIL_TESTING_SIMULATED_SOCKET_H
#define COIL_TESTING_SIMULATED_SOCKET_H

#include "simulated_cut.h"

enum coil__sim_state {
    COIL__SIM_FRESH,
    COIL__SIM_LISTENING,
    COIL__SIM_CONNECTING,
    /*
     * a stream socket that was connected, even if its connection has ended meanwhile; or
     * a datagram socket with a peer
     */
    COIL__SIM_CONNECTED
};

struct coil__sim_socket {
    int fd, family, type;
    enum coil__sim_state state;
    bool bound, reuse_address, reuse_port, v6_only, resets_on_close;
    bool wants_info; /* IP_PKTINFO, IPV6_RECVPKTINFO */
    size_t send_limit, receive_limit;
    struct coil__sim_address name, peer;
    int error; /* pending error of a datagram socket, or error of the last connect() */

    /* simulated_op.c, simulated.c */
    enum coil__use use;
    struct coil__op *ops[2];
    struct coil__sim_event late[2];
    struct coil__runnable *watchers[2];
    struct coil__list watched; /* coil__sim.watched */

    struct coil__sim_end *end; /* when connecting or connected */

    /* listening */
    struct coil__list accepting; /* coil__sim_connection.accepting */
    /* maximum and current number of half-open and unaccepted connections */
    unsigned backlog, asking;

    /* datagrams */
    struct coil__list received; /* coil__sim_datagram.link */
    size_t received_bytes;
};

/*
 * Return the size of a buffer for which a program has requested `asked` bytes. 0 requests
 * the default.
 */
size_t coil__sim_buffer_bytes(size_t asked);

/* Return the socket with that descriptor, or NULL. */
struct coil__sim_socket *coil__sim_find(const struct coil__sim *sim, int fd);

/* Create a socket. On failure, returns NULL and sets *rc to -EMFILE or -ENOMEM. */
struct coil__sim_socket *coil__sim_socket_create(struct coil__sim *sim, int family,
                                                 int type, int *rc);

/*
 * Free the socket and its descriptor. The caller has removed all other pointers to the
 * socket.
 */
void coil__sim_socket_free(struct coil__sim *sim, struct coil__sim_socket *socket);

/*
 * Bind the socket to a free port if it is not bound. If `peer` is not NULL and the
 * socket's host is a wildcard, set the host to the source address for packets to `peer`.
 * Fails with -EADDRNOTAVAIL.
 */
int coil__sim_socket_autobind(struct coil__sim *sim, struct coil__sim_socket *socket,
                              const struct in6_addr *peer);

/* Bind the socket, to a free port if the port is 0. Fails with -EINVAL or -EADDRINUSE. */
int coil__sim_socket_bind(struct coil__sim *sim, struct coil__sim_socket *socket,
                          const struct coil__sim_address *name);

/*
 * Make the socket listen, on a free port if it is not bound. Fails with -EADDRNOTAVAIL or
 * -EADDRINUSE.
 */
int coil__sim_socket_listen(struct coil__sim *sim, struct coil__sim_socket *socket,
                            int backlog);

/*
 * Return the socket of this type and state that receives packets to `to`, which is the
 * one with the most specific name, or NULL.
 */
struct coil__sim_socket *coil__sim_socket_at(struct coil__sim *sim, int type,
                                             enum coil__sim_state state,
                                             const struct coil__sim_address *to);

/*
 * Try the socket's waiting operations again, because its state has changed. Has no effect
 * if `socket` is NULL.
 */
void coil__sim_changed(struct coil__sim *sim, struct coil__sim_socket *socket);

#endif
