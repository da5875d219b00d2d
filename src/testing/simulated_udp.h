/*
 * simulated_udp.h (internal) - datagrams of the simulated network.
 */
#ifndef COIL_TESTING_SIMULATED_UDP_H
#define COIL_TESTING_SIMULATED_UDP_H

#include "simulated_tcp.h"

struct coil__sim_datagram {
    struct coil__list link; /* in coil__sim.datagrams or coil__sim_socket.received */
    struct coil__sim_event arrival;
    struct coil__sim_address from, to;
    bool unreachable; /* an ICMP "unreachable": `from` has no socket */
    size_t bytes;
    unsigned char data[];
};

int coil__sim_udp_connect(struct coil__sim *sim, struct coil__sim_socket *socket,
                          const struct coil__sim_address *to);
ssize_t coil__sim_udp_send(struct coil__sim *sim, struct coil__sim_socket *socket,
                           const struct msghdr *message);
ssize_t coil__sim_udp_receive(struct coil__sim *sim, struct coil__sim_socket *socket,
                              struct msghdr *message, int flags);
void coil__sim_udp_close(struct coil__sim_socket *socket);
unsigned coil__sim_udp_ready(const struct coil__sim_socket *socket);

#endif
