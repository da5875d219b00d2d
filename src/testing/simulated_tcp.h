/*
 * simulated_tcp.h (internal) - establishes and closes connections of the simulated
 * network.
 */
#ifndef COIL_TESTING_SIMULATED_TCP_H
#define COIL_TESTING_SIMULATED_TCP_H

#include "simulated_flow.h"

int coil__sim_tcp_connect(struct coil__sim *sim, struct coil__sim_socket *socket,
                          const struct coil__sim_address *to);
int coil__sim_tcp_accept(struct coil__sim *sim, struct coil__sim_socket *listener,
                         struct sockaddr *address, socklen_t *address_bytes);
int coil__sim_tcp_shutdown(struct coil__sim *sim, struct coil__sim_socket *socket,
                           int how);
void coil__sim_tcp_close(struct coil__sim *sim, struct coil__sim_socket *socket);
unsigned coil__sim_tcp_ready(const struct coil__sim_socket *socket);

void coil__sim_tcp_destroy(struct coil__sim *sim, struct coil__sim_connection *c);

#endif
