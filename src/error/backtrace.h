/*
 * backtrace.h - the program counters of the stack that runs.
 */
#ifndef COIL_ERROR_BACKTRACE_H
#define COIL_ERROR_BACKTRACE_H

#include "../coro/coroutine.h"

/* As many frames as are ever kept. */
#define COIL__BACKTRACE_MAX 64

/*
 * The return addresses of the frames that are open on the stack in use, innermost first,
 * at most `max`; returns how many. They begin with `from`, the return address of the
 * caller in whose frame the story begins, or with the caller of this function where from
 * is NULL; and end with the body of the task, generator or coroutine: what coil itself
 * has below that is left out.
 *
 * Async-signal-unsafe: the unwinder, libgcc's, is loaded with the first call. That and
 * the walk need some 5 KiB of stack; where fewer than COIL__BACKTRACE_STACK_BYTES are
 * left, or there is no unwinder, it returns 0. errno is kept.
 */
size_t coil__backtrace(void *addresses[], size_t max, const void *from);

/*
 * The same, and on through those that wait for the running one as their generator, up to
 * `outermost`; NULL for none of them.
 */
size_t coil__backtrace_through(void *addresses[], size_t max, const void *from,
                               const coil__coro *outermost);

/*
 * The same of a coroutine that is suspended. Its stack is only read: it is neither
 * switched to nor grown, and the walk takes place on the caller's. What it has at its
 * inner end, up to the last function that is_machinery(its first byte) says is part of
 * leaving it, is left out.
 */
size_t coil__backtrace_suspended(const coil__coro *coro, void *addresses[], size_t max,
                                 bool (*is_machinery)(uintptr_t function));

/* False where there is too little left of the running stack for either. */
bool coil__backtrace_has_room(void);

#define COIL__BACKTRACE_STACK_BYTES (COIL__ASAN || COIL__TSAN ? 32768u : 8192u)

#endif
