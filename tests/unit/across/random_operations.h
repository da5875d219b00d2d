/*
 * random_operations.h - random operations of all kinds, with deadlines and cancellations,
 * on the kernel's own backends.
 *
 * Nothing is simulated, so a seed determines the operations, but not their timing.
 * random_program.h is the counterpart with a simulated network and a virtual clock, where
 * each run with the same seed is the same.
 */
#ifndef COIL_TESTS_NET_RANDOM_OPERATIONS_H
#define COIL_TESTS_NET_RANDOM_OPERATIONS_H

#include <stdint.h>

/*
 * Run rounds of operations, chosen at random from the seed. Must be called in a task.
 * Checks that each operation ends by its deadline (see deadlines.h), that the kernel does
 * not access its memory afterwards, and that no byte is lost, duplicated or changed.
 * Prints errors, and returns their number.
 */
int run_random_operations(uint64_t seed);

#endif
