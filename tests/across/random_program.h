/*
 * random_program.h - a random program of clients and a server, and what must hold of it.
 */
#ifndef COIL_TESTS_NET_RANDOM_PROGRAM_H
#define COIL_TESTS_NET_RANDOM_PROGRAM_H

#include <stdint.h>
#include <stdio.h>

/*
 * Draw the program and its network from the seed, and run it under the virtual clock, the
 * allocation of that number failing (0: none). The
 * network's log and the program's goes to `log`, a line each. Returns the number of
 * complaints, which are printed: a byte that is not the right one, an end that came too
 * early, an error that nothing explains, tasks that wait for ever.
 */
int run_random_program(uint64_t seed, uint64_t failing, FILE *log);

#endif
