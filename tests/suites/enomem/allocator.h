/*
 * allocator.h - a malloc(3) for the whole program that can be made to fail.
 */
#ifndef COIL_TESTS_ENOMEM_ALLOCATOR_H
#define COIL_TESTS_ENOMEM_ALLOCATOR_H

/*
 * A place where this program, including coil, calls a function that allocates. The struct
 * has the place, its caller, and the first and the last allocation of that place.
 */
struct allocation_place {
    const void *from, *caller;
    long first, last;
};

struct allocation_places {
    struct allocation_place at[2048];
    int count;
};

/*
 * Start counting allocations. The nth allocation fails once, or none if nth is 0. If
 * `places` is not NULL, the places of allocations are recorded in it.
 */
void allocations_begin(long nth, struct allocation_places *places);

/* Stop counting, and return the number of allocations. */
long allocations_end(void);

/* Return the address of the code whose allocation failed, or NULL. */
const void *allocation_failed_for(void);

#endif
