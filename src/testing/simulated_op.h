/*
 * simulated_op.h (internal) - operations on simulated sockets.
 */
#ifndef COIL_TESTING_SIMULATED_OP_H
#define COIL_TESTING_SIMULATED_OP_H

#include "simulated_udp.h"

/*
 * Return the directions in which the socket is ready: COIL_READABLE, COIL_WRITABLE, both,
 * or 0.
 */
unsigned coil__sim_ready(const struct coil__sim_socket *socket);

/*
 * These functions implement submit(), attempt() and cancel() of struct
 * coil__backend_class for simulated sockets.
 */
ssize_t coil__sim_submit(struct coil__sim *sim, struct coil__op *op);
ssize_t coil__sim_attempt(struct coil__sim *sim, struct coil__op *op);
void coil__sim_cancel(struct coil__sim *sim, struct coil__op *op);

/* Try the socket's waiting operations again. */
void coil__sim_retry_ops(struct coil__sim *sim, struct coil__sim_socket *socket);

/* End the socket's operations with -EBADF. */
void coil__sim_end_ops(struct coil__sim *sim, struct coil__sim_socket *socket);

#endif
