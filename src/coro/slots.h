/*
 * slots.h (internal) - what the slots of ordinary stacks (stack.c) and light stacks
 * (light.c) have in common.
 */
#ifndef COIL_CORO_SLOTS_H
#define COIL_CORO_SLOTS_H

#include "stack.h"

/* The smallest and the largest size of a stack, as powers of two. */
#define COIL__CLASS_MIN 14
#define COIL__CLASS_MAX 30
#define COIL__CLASS_COUNT (COIL__CLASS_MAX - COIL__CLASS_MIN + 1)

/* The number of slots in a pool's first slab, and the maximum for a slab. */
#define COIL__SLOTS_MIN ((size_t)16)
#define COIL__SLOTS_MAX ((size_t)4096)
#define COIL__SLAB_BYTES_MAX ((size_t)1 << 30)

extern size_t coil__slot_page_bytes;

/* Called once per thread, before the thread's first slot is taken. Fails with -ENOMEM. */
int coil__stack_set_up(void);

/*
 * Return the smallest size class for stack_bytes (0: COIL_STACK_BYTES), or -1 if
 * stack_bytes is too large.
 */
int coil__slot_class(size_t stack_bytes);

/*
 * Return the number of bytes by which the slot's control block (or the top of a light
 * stack) is moved down: see "Colours" in stack.c.
 */
size_t coil__slot_colour(const char *slot);

/* True if the page that ends at `top` was written, judging by a few of its words. */
bool coil__slot_looks_dirty(const char *top);

/* True once coil__stack_peak() was called on this thread. */
bool coil__stack_measuring(void);

/* Return the number of bytes from the lowest resident page up to `high`. */
size_t coil__stack_written(const struct coil__stack *stack);

#endif
