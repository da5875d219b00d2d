/*
 * random_operations.h - operations of all kinds under deadlines and cancellations, on the
 * kernel's own backends.
 *
 * random_program.h is the counterpart with a simulated network and a virtual clock: a
 * seed gives the same run each time. Here nothing is simulated, so a seed determines the
 * operations, but not their timing.
 */
#ifndef COIL_TESTS_NET_RANDOM_OPERATIONS_H
#define COIL_TESTS_NET_RANDOM_OPERATIONS_H

#include <stdint.h>

/*
 * Run rounds of operations that are chosen by the seed. Call this in a task. Check that
 * each operation ends by its deadline (see deadlines.h), that the kernel does not touch
 * its memory afterwards, and that no byte is lost, duplicated or changed. Returns the
 * number of errors, which are printed.
 */
int run_random_operations(uint64_t seed);

#endif
