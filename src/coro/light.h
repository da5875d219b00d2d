/*
 * light.h (internal) - stacks that can be swapped out while their coroutine waits.
 *
 * The control block of a light stack is in a separate array behind the slab's slots, so
 * only the coroutine itself touches the stack's pages. While the coroutine waits, its
 * live bytes can be in a store (store.h), and its top page can become a guard:
 *
 *           acquire       touch           swap out            release
 *     FREE ---------> EMPTY ---> RESIDENT --------> STORED ----------> FREE
 *                                  ^   ^   swap in    |
 *                                  |   +--------------+
 *                                  |                  | a stray access: the handler of SIGSEGV
 *                                  +----- COMING <----+
 *                                settle
 */
#ifndef COIL_CORO_LIGHT_H
#define COIL_CORO_LIGHT_H

#include "stack.h"

/* Values of coil__stack.state. */
enum coil__light_state {
    COIL__LIGHT_FREE,
    COIL__LIGHT_EMPTY,    /* in use, but not written to yet */
    COIL__LIGHT_RESIDENT, /* the stack is in memory */
    COIL__LIGHT_STORED,   /* the live (highest) bytes are in the cell */
    /* the stack is in memory again, but its cell is not freed yet */
    COIL__LIGHT_COMING
};

/* Functions of the task layer, which decides which stacks may be swapped out. */
struct coil__light_owner {
    /*
     * Return the lowest live address of a stack that may be swapped out. Return NULL if
     * the stack must stay resident, or if its coroutine began to wait after `since`.
     */
    const char *(*lowest_live)(const struct coil__stack *stack, int64_t since);
    void (*swapped_out)(
        struct coil__stack *stack); /* called after `stack` was swapped out */
};

/* Must be set before the first light stack is acquired. */
extern const struct coil__light_owner *coil__light_owner;

/*
 * If this thread's stacks cannot be swapped out, return the reason, a short text for a
 * message; otherwise return NULL.
 */
const char *coil__light_off(void);

/*
 * The functions that coil__stack_acquire(), coil__stack_trim() and others call for light
 * stacks.
 */
int coil__light_acquire(size_t stack_bytes, size_t control_bytes,
                        struct coil__stack **out);
void coil__light_trim(struct coil__stack *stack);
void coil__light_release(struct coil__stack *stack);
ssize_t coil__light_peak(const struct coil__stack *stack); /* the stack must be in use */

/* Return the first byte of the stack's slot, where the guard begins. */
char *coil__light_slot(const struct coil__stack *stack);

/*
 * Return the original top of the stack: `high` moves down when arguments are stored
 * there.
 */
char *coil__light_top(const struct coil__stack *stack);

/*
 * Make the stack resident before anything is written to it: swap it in, or count its page
 * if it was empty. Swaps other stacks out if too many are resident.
 */
void coil__light_touch(struct coil__stack *stack);

/*
 * Swap out the stack of a suspended coroutine. The live bytes begin at sp. If there are
 * too many live bytes, or if there is no memory or no guard, change nothing and return
 * false.
 */
bool coil__light_swap_out(struct coil__stack *stack, const char *sp);

/* Swap the stack in at the same addresses, or do nothing if it is resident. */
void coil__light_swap_in(struct coil__stack *stack);

/* Swap in up to COIL__LIGHT_AHEAD stacks, with fewer system calls. */
#define COIL__LIGHT_AHEAD 32
void coil__light_swap_in_all(struct coil__stack *const *stacks, size_t n);

/*
 * Called by the handler of SIGSEGV for a fault at `address`. If a stack of this thread
 * was swapped out there, swap it in and return true. If the stack belongs to another
 * thread, print a message and return false. Async-signal-safe.
 */
bool coil__light_fault(const char *address);

/*
 * Called before the loop waits: swap out at most one batch of stacks that have been
 * waiting longer than the age limit. `now` is the current time of the clock that
 * coil__wait.since uses.
 */
void coil__light_idle(int64_t now);

/* Set the limits of the calling thread. 0 means the default. */
void coil__light_limit(size_t resident_bytes, int64_t age_ns);

/* The default limits of coil__light_limit(). */
#define COIL__LIGHT_RESIDENT_BYTES ((size_t)64 << 20)
#define COIL__LIGHT_AGE_NS INT64_C(1000000000)

struct coil__light_counts {
    size_t used;           /* stacks in use */
    size_t stored;         /* stacks that are swapped out */
    size_t stored_bytes;   /* total size of the cells */
    size_t resident_bytes; /* size of the top pages, including those of free slots */
};

struct coil__light_counts coil__light_counts(void);

/*
 * Return the number of the thread's stacks in use. If no stack is in use,
 * coil__light_drain() unmaps all slabs.
 */
size_t coil__light_used(void);
void coil__light_drain(void);

#endif
