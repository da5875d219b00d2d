/*
 * simulated.h (internal) - which loops get the simulated network.
 */
#ifndef COIL_TESTING_SIMULATED_H
#define COIL_TESTING_SIMULATED_H

#include "simulated_calls.h"

/* Give each new loop of this thread a network with these options. NULL: the kernel's. */
void coil__sim_want(const coil_network_opts *opts);

#endif
