/* simulated_calls.h (internal) - the calls on simulated sockets that never wait. */
#ifndef COIL_TESTING_SIMULATED_CALLS_H
#define COIL_TESTING_SIMULATED_CALLS_H

#include "simulated_op.h"

extern const struct coil__network coil__sim_network;

#endif
