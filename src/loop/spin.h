/*
 * spin.h (internal) - waits for another thread's post for some microseconds before the
 * loop sleeps.
 */
#ifndef COIL_LOOP_SPIN_H
#define COIL_LOOP_SPIN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* What a loop has learned from its earlier waits. Private to spin.c and its tests. */
struct coil__spin {
    unsigned waits_left; /* number of waits until the next try */
    unsigned gap;      /* waits to skip after the next failure; 0: before the first try */
    unsigned streak;   /* number of successes since the last failure */
    int64_t excess_ns; /* how much longer than allowed the last successes took */
};

void coil__spin_init(struct coil__spin *spin);

/*
 * Wait for at most 50 us until the word is not 0, if that is likely to succeed. Does not
 * give up the processor. Returns true if the word is not 0; otherwise the caller must
 * sleep. Does nothing if timeout_ns is so short that the spin could prolong the wait.
 */
bool coil__spin_wait(struct coil__spin *spin, const _Atomic uint32_t *word,
                     int64_t timeout_ns);

#endif
