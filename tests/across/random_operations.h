/*
 * random_operations.h - operations of all kinds under deadlines and cancellations, on the
 * kernel's own backends.
 *
 * random_program.h is the other half: there the network is simulated, the clock virtual,
 * and a seed means the same each time. Here nothing is simulated, so a seed means the
 * same operations, but not the same moments.
 */
#ifndef COIL_TESTS_NET_RANDOM_OPERATIONS_H
#define COIL_TESTS_NET_RANDOM_OPERATIONS_H

#include <stdint.h>

/*
 * In a task: some rounds of them, by the seed. Each ends by its deadline (deadlines.h
 * says if not), after which the kernel leaves its memory alone; and no byte is lost,
 * doubled, or another. Returns the number of complaints, which are printed.
 */
int run_random_operations(uint64_t seed);

#endif
