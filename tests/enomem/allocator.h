/*
 * allocator.h - malloc(3) of the whole program, which fails when it is told to.
 */
#ifndef COIL_TESTS_ENOMEM_ALLOCATOR_H
#define COIL_TESTS_ENOMEM_ALLOCATOR_H

/* Count from now on, and fail the nth, once; 0: none. */
void allocations_begin(long nth);

/* How many there were. */
long allocations_end(void);

/* The code that asked for the one that failed, or NULL. */
const void *allocation_failed_for(void);

#endif
