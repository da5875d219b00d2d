/* simulated.h (internal) - the settings of the simulated network. */
#ifndef COIL_TESTING_SIMULATED_H
#define COIL_TESTING_SIMULATED_H

#include "simulated_calls.h"

/*
 * Give loops that this thread will create a simulated network with these options, or the
 * kernel's network if `opts` is NULL.
 */
void coil__sim_want(const coil_network_opts *opts);

#endif
