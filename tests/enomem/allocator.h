/*
 * allocator.h - malloc(3) of the whole program, which fails when it is told to.
 */
#ifndef COIL_TESTS_ENOMEM_ALLOCATOR_H
#define COIL_TESTS_ENOMEM_ALLOCATOR_H

/*
 * Where this program, coil in it, calls what allocates, and who called that: with the first and the last
 * of the allocations that are made there.
 */
struct allocation_place {
    const void *from, *caller;
    long first, last;
};

struct allocation_places {
    struct allocation_place at[2048];
    int count;
};

/* Count from now on, and fail the nth, once; 0: none. If `places` is not NULL, note them there. */
void allocations_begin(long nth, struct allocation_places *places);

/* How many there were. */
long allocations_end(void);

/* The code that asked for the one that failed, or NULL. */
const void *allocation_failed_for(void);

#endif
