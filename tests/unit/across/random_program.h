/*
 * random_program.h - runs a random program of clients and a server, and checks its
 * results.
 */
#ifndef COIL_TESTS_NET_RANDOM_PROGRAM_H
#define COIL_TESTS_NET_RANDOM_PROGRAM_H

#include <stdint.h>
#include <stdio.h>

/*
 * Generate the program and its network from the seed, and run it under the virtual clock.
 * The allocation with the number `failing` fails (0: none). The network and the program
 * write one line per event to `log`. Prints errors, and returns their number. An error is
 * a wrong byte, an early end, an unexplained failure, or a task that waits forever.
 */
int run_random_program(uint64_t seed, uint64_t failing, FILE *log);

#endif
