/*
 * stack.h - where coroutines keep their frames: slots cut from large mappings.
 */
#ifndef COIL_CORO_STACK_H
#define COIL_CORO_STACK_H

#include "../base/base.h"

/*
 * A slot:
 *
 *      slot    low                                      high
 *      | guard | stack, grows down  <---------- | control block | colour | canary |
 */
struct coil__stack {
    char *low;  /* lowest usable byte, above the guard */
    char *high; /* one past the highest usable byte; 16-aligned */
    char *slot; /* the slot's first byte */
    uint8_t size_class;
    bool guarded; /* the kernel stops an overflow; else coil__stack_check() must */
    bool dirty;   /* below the page of `high` there are pages that hold something */
    bool trimmed; /* its body has returned, and that was dealt with */
};

/* How an overflow is noticed, best first; see stack.c. */
enum coil__guard {
    COIL__GUARD_MADVISE,  /* MADV_GUARD_INSTALL */
    COIL__GUARD_MPROTECT, /* PROT_NONE, while the budget of mappings lasts */
    COIL__GUARD_CHECK     /* coil__stack_check() when the coroutine is left */
};

/*
 * What is tried first for slots never used before: what the kernel can do, once the
 * first slot was taken. Tests set it.
 */
extern enum coil__guard coil__stack_guard;

/* What was asked for, rounded up to a power of two; the slot is a page longer. */
static inline size_t coil__stack_bytes(const struct coil__stack *stack)
{
    return (size_t)1 << stack->size_class;
}

/* False if the stack, left at `sp`, has overflowed as far as one can see. */
bool coil__stack_check(const struct coil__stack *stack, const void *sp);

/*
 * Take a slot of at least stack_bytes (0: COIL_STACK_BYTES) with a control block of
 * control_bytes, 64-aligned, on top: its beginning, **out, describes the slot, the rest
 * is zeroed. Slots are the calling thread's, and must be released on it. Fails with
 * -ENOMEM, -EINVAL.
 */
int coil__stack_acquire(size_t stack_bytes, size_t control_bytes,
                        struct coil__stack **out);

/* The body has returned: nothing below `high` is needed any more. */
void coil__stack_trim(struct coil__stack *stack);

/* Give back the slot, control block and all. */
void coil__stack_release(struct coil__stack *stack);

/* Slots of the calling thread in use, for the tests' leak check. */
size_t coil__stack_count(void);

/*
 * Unmap what the calling thread's pool holds, if no slot is in use; else do nothing. A
 * closing loop calls it; it also runs as the thread ends.
 */
void coil__stack_drain(void);

#endif
