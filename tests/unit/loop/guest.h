/*
 * guest.h - for tests of guest mode on each backend that supports it.
 */
#ifndef COIL_TESTS_LOOP_GUEST_H
#define COIL_TESTS_LOOP_GUEST_H

#include <coil.h>

/* Call test() with a loop of each available backend that supports guest mode. */
void for_each_guest(void (*test)(coil_loop *loop));

#endif
