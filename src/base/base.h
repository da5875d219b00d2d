/*
 * base.h (internal) - memory, clock, and stopping the program with a sentence.
 */
#ifndef COIL_BASE_BASE_H
#define COIL_BASE_BASE_H

#include "compiler.h"
#include "list.h"

#include <coil/base.h>

/* All heap memory of the library. As malloc, calloc, realloc, free. */
void *coil__alloc(size_t size);
void *coil__alloc_zeroed(size_t size);
void *coil__realloc(void *block, size_t size);
void coil__free(void *block);

/* CLOCK_MONOTONIC in nanoseconds. */
int64_t coil__clock_monotonic(void);

/* a + b, at most COIL_NEVER. */
int64_t coil__time_add(int64_t a, int64_t b);

/* The caller's mistake: say it in one sentence and abort(). */
COIL__NORETURN void coil__misuse(const char *format, ...) COIL__PRINTF(1, 2);

/*
 * Called by coil__misuse() after the sentence, if set: upper layers print what they know
 * (the stack, from the call of coil__misuse() on). Any thread may set it, and each sets
 * the same.
 */
extern void (*_Atomic coil__misuse_detail)(const void *from);

#endif
