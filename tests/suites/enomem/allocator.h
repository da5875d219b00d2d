/*
 * allocator.h - malloc(3) of the whole program, which can be made to fail.
 */
#ifndef COIL_TESTS_ENOMEM_ALLOCATOR_H
#define COIL_TESTS_ENOMEM_ALLOCATOR_H

/*
 * A place where this program, including coil, calls a function that allocates, and its
 * caller, with the first and the last of the allocations made there.
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
 * Start counting, and let the nth allocation fail, once; 0: none. If `places` is not
 * NULL, record the places there.
 */
void allocations_begin(long nth, struct allocation_places *places);

/* The number of allocations. */
long allocations_end(void);

/* The code whose allocation failed, or NULL. */
const void *allocation_failed_for(void);

#endif
