/*
 * simulated.h (internal) - decides which loops get the simulated network.
 */
#ifndef COIL_TESTING_SIMULATED_H
#define COIL_TESTING_SIMULATED_H

#include "simulated_calls.h"

/*
 * From now on, give each new loop of this thread a simulated network with these options.
 * NULL means the kernel's network.
 */
void coil__sim_want(const coil_network_opts *opts);

#endif
