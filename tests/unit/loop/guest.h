/* guest.h - runs a test with a loop of each backend that supports guest mode. */
#ifndef COIL_TESTS_LOOP_GUEST_H
#define COIL_TESTS_LOOP_GUEST_H

#include <coil.h>

/*
 * Run test(loop) with a loop of every backend that is available and supports guest mode.
 */
void for_each_guest(void (*test)(coil_loop *loop));

#endif
