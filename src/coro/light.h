/*
 * light.h (internal) - stacks that can be put away while their coroutine waits.
 *
 * The control block of a light stack lies apart from it, in an array behind the slab's
 * slots. So nobody but the coroutine itself touches the stack's pages, and while it waits
 * its live bytes can lie in a store (store.h) instead, and the page be a guard:
 *
 *           acquire       touch           put away            release
 *     FREE ---------> EMPTY ---> RESIDENT --------> STORED ----------> FREE
 *                                  ^   ^   bring back |
 *                                  |   +--------------+
 *                                  |                  | a stray access: the handler of SIGSEGV
 *                                  +----- COMING <----+
 *                                settle
 */
#ifndef COIL_CORO_LIGHT_H
#define COIL_CORO_LIGHT_H

#include "stack.h"

/* In coil__stack.state. */
enum coil__light_state {
    COIL__LIGHT_FREE,
    COIL__LIGHT_EMPTY,    /* in use, and nothing lies on it */
    COIL__LIGHT_RESIDENT, /* on its page */
    COIL__LIGHT_STORED, /* its live bytes, the highest, lie in the cell; its page faults */
    COIL__LIGHT_COMING  /* on its page again; the cell is not yet given back */
};

/* What the layer above knows of light stacks. */
struct coil__light_owner {
    /*
     * The stack pointer with which the stack may be put away; NULL if it may not. Only if
     * its coroutine has waited since before `since`.
     */
    const char *(*may_go)(const struct coil__stack *stack, int64_t since);
    void (*gone)(struct coil__stack *stack); /* it was put away */
};

/* Set before the first light stack is taken. */
extern const struct coil__light_owner *coil__light_owner;

/* Why this thread's stacks cannot be put away, in a few words; NULL if they can. */
const char *coil__light_off(void);

/* As coil__stack_acquire(), _trim() and _release(), which call these. */
int coil__light_acquire(size_t stack_bytes, size_t control_bytes,
                        struct coil__stack **out);
void coil__light_trim(struct coil__stack *stack);
void coil__light_release(struct coil__stack *stack);
ssize_t coil__light_peak(const struct coil__stack *stack); /* of one in use */

/* The first byte of its slot, which is the guard's. */
char *coil__light_slot(const struct coil__stack *stack);

/* The top of the slot, as it was taken: `high` moves down for arguments. */
char *coil__light_top(const struct coil__stack *stack);

/*
 * The first bytes will be written to the stack, from outside of it; or it was put away,
 * and is brought back. Makes room first if too many are resident.
 */
void coil__light_touch(struct coil__stack *stack);

/*
 * Put the stack of a suspended coroutine away: the bytes from sp up. False, and nothing is
 * changed, if these are too many, or there is no memory, or no guard.
 */
bool coil__light_put_away(struct coil__stack *stack, const char *sp);

/* Bring it back, to the same addresses. No effect on one that is resident. */
void coil__light_bring_back(struct coil__stack *stack);

/* The same for several, by fewer system calls; at most COIL__LIGHT_AHEAD. */
#define COIL__LIGHT_AHEAD 32
void coil__light_bring_back_all(struct coil__stack *const *stacks, size_t n);

/*
 * A fault at `address`, in the handler of SIGSEGV: true if that is on a stack of this
 * thread that was put away, and is back now. If it is another thread's, says so and
 * returns false. Async-signal-safe.
 */
bool coil__light_fault(const char *address);

/*
 * The loop is about to wait: put away what has waited for an age, up to a batch. `now` is
 * the time by which the owner knows since when it waits.
 */
void coil__light_idle(int64_t now);

/* Of the calling thread. 0: the default. They hold until set again. */
void coil__light_limit(size_t resident_bytes, int64_t age_ns);

/* How many resident bytes may be used by stacks that do not run; and the age. */
#define COIL__LIGHT_RESIDENT_BYTES ((size_t)64 << 20)
#define COIL__LIGHT_AGE_NS INT64_C(1000000000)

struct coil__light_counts {
    size_t used;           /* stacks in use */
    size_t stored;         /* of these put away */
    size_t stored_bytes;   /* and their cells */
    size_t resident_bytes; /* pages, those of free slots included */
};

struct coil__light_counts coil__light_counts(void);

/* How many of the thread's are in use; unmap all if none is. */
size_t coil__light_used(void);
void coil__light_drain(void);

#endif
