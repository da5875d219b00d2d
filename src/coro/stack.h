/*
 * stack.h - where coroutines keep their frames: slots cut from large mappings.
 */
#ifndef COIL_CORO_STACK_H
#define COIL_CORO_STACK_H

#include "../base/base.h"

/*
 * A slot:
 *
 *     low                                              high
 *      | guard | stack, grows down  <------------------ | control block | canary |
 */
struct coil__stack {
    char *low;  /* lowest usable byte, above the guard */
    char *high; /* one past the highest usable byte; 16-aligned */
    char *slot; /* the slot's first byte */
    uint8_t size_class;
    bool guarded; /* the kernel stops an overflow; else sp and canary are checked */
    bool dirty;   /* kept untrimmed when its body returned */
};

/*
 * Take a slot of at least stack_bytes (0: COIL_STACK_BYTES) with a zeroed control block
 * of control_bytes, 64-aligned, on top; *stack describes it and may lie in the control
 * block itself. Slots are the calling thread's, and must be released on it. Fails with
 * -ENOMEM, -EINVAL.
 */
int coil__stack_acquire(size_t stack_bytes, size_t control_bytes,
                        struct coil__stack *stack, void **control);

/* The body has returned: nothing below `high` is needed any more. */
void coil__stack_trim(struct coil__stack *stack);

/* Give back the slot, control block and all. */
void coil__stack_release(const struct coil__stack *stack);

/* Slots of the calling thread in use, for the tests' leak check. */
size_t coil__stack_count(void);

/*
 * Unmap what the calling thread's pool holds, if no slot is in use; else do nothing. A
 * closing loop calls it; it also runs as the thread ends.
 */
void coil__stack_drain(void);

#endif
