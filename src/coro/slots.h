/*
 * slots.h (internal) - what the slots of both kinds have in common: stack.c and light.c.
 */
#ifndef COIL_CORO_SLOTS_H
#define COIL_CORO_SLOTS_H

#include "stack.h"

/* Sizes of stacks, as powers of two. */
#define COIL__CLASS_MIN 14
#define COIL__CLASS_MAX 30
#define COIL__CLASS_COUNT (COIL__CLASS_MAX - COIL__CLASS_MIN + 1)

/* The number of slots in a pool's first slab, and the maximum for a slab. */
#define COIL__SLOTS_MIN ((size_t)16)
#define COIL__SLOTS_MAX ((size_t)4096)
#define COIL__SLAB_BYTES_MAX ((size_t)1 << 30)

extern size_t coil__slot_page_bytes;

/* Once per thread, before its first slot. -ENOMEM. */
int coil__stack_set_up(void);

/*
 * The smallest size that holds stack_bytes (0: COIL_STACK_BYTES), or -1 if it is too
 * large.
 */
int coil__slot_class(size_t stack_bytes);

/* How far the block of a slot, or the top of its stack, is moved down: see "Colours" in
   stack.c. */
size_t coil__slot_colour(const char *slot);

/* True if the page that ends at `top` was written, as far as a few words show. */
bool coil__slot_looks_dirty(const char *top);

/* True once coil__stack_peak() was called on this thread. */
bool coil__stack_measuring(void);

/* The bytes from the lowest resident page up to `high`. */
size_t coil__stack_written(const struct coil__stack *stack);

#endif
