/*
 * random_program.h - runs a random program of clients and a server, and checks properties
 * that it must have.
 */
#ifndef COIL_TESTS_NET_RANDOM_PROGRAM_H
#define COIL_TESTS_NET_RANDOM_PROGRAM_H

#include <stdint.h>
#include <stdio.h>

/*
 * Generate the program and its network from the seed, and run it under the virtual clock.
 * The `failing`-th allocation fails (0: none). The network and the program write one line
 * for each event to `log`. Returns the number of errors, and prints them. An error is a
 * wrong byte, an early end, an unexplained failure, or a task that waits forever.
 */
int run_random_program(uint64_t seed, uint64_t failing, FILE *log);

#endif
