/*
 * allocator.h - replaces malloc(3) in the whole program, and can make an allocation fail.
 */
#ifndef COIL_TESTS_ENOMEM_ALLOCATOR_H
#define COIL_TESTS_ENOMEM_ALLOCATOR_H

/*
 * A call in this program or in coil that has led to allocations: its return address, the
 * return address of the function that made the call, and the numbers of the first and the
 * last allocation.
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
 * Start counting allocations. Make only the nth allocation fail, or none if nth is 0. If
 * `places` is not NULL, record in it the calls that allocate.
 */
void allocations_begin(long nth, struct allocation_places *places);

/* Stop counting, and return the number of allocations. */
long allocations_end(void);

/* Return the address of the code whose allocation failed, or NULL. */
const void *allocation_failed_for(void);

#endif
