/*
 * backtrace.h - finds the return addresses on the running stack, or on the stack of a
 * suspended coroutine.
 */
#ifndef COIL_ERROR_BACKTRACE_H
#define COIL_ERROR_BACKTRACE_H

#include "../coro/coroutine.h"

/* The maximum number of frames that any caller stores. */
#define COIL__BACKTRACE_MAX 64

/*
 * Store at most `max` return addresses from the running stack, innermost first, and
 * return their number. The first one is `from`, the return address of a function that has
 * not returned, or the return address of this call if `from` is NULL. The last one is in
 * the function of the task, generator or coroutine: coil's own frames around that
 * function are omitted.
 *
 * Must not be called in signal handlers, because the first call loads the unwinder
 * (libgcc). Loading and walking need about 5 KiB of stack. Returns 0 if fewer than
 * COIL__BACKTRACE_STACK_BYTES are left, or if the unwinder is missing. Preserves errno.
 */
size_t coil__backtrace(void *addresses[], size_t max, const void *from);

/*
 * Like coil__backtrace(), but if a generator is running, also store the return addresses
 * from the stacks of the coroutines that wait for it, from the innermost to `outermost`.
 * If `outermost` is NULL, only the running stack is walked.
 */
size_t coil__backtrace_through(void *addresses[], size_t max, const void *from,
                               const coil__coro *outermost);

/*
 * Like coil__backtrace(), for a suspended coroutine. The walk runs on the caller's stack
 * and only reads the coroutine's stack. The innermost frames, which belong to the code
 * that suspends coroutines, are omitted, up to and including the last frame whose
 * function is_machinery() accepts.
 */
size_t coil__backtrace_suspended(const coil__coro *coro, void *addresses[], size_t max,
                                 bool (*is_machinery)(uintptr_t function));

/*
 * While an exception is being thrown, return where it was thrown, which is the return
 * address of the C++ runtime's throw function. Returns NULL if no such frame is found.
 */
const void *coil__backtrace_throw(void);

/*
 * Return the stack pointer of the frame whose personality routine was called with
 * `context`. `caller` is the routine's return address. Returns 0 if `caller` is not in
 * the unwinder that coil uses.
 */
struct _Unwind_Context;
uintptr_t coil__backtrace_sp(struct _Unwind_Context *context, const void *caller);

/*
 * Load the unwinder now, because a signal handler that calls coil__backtrace_in_handler()
 * must not load a library.
 */
void coil__backtrace_prepare(void);

/*
 * True if a signal handler is among the innermost functions of the running stack, called
 * from within the function `outermost`. Works on any stack. Returns false if the unwinder
 * was not loaded.
 */
bool coil__backtrace_in_handler(const void *outermost);

/* True if enough of the running stack is left for a backtrace. */
bool coil__backtrace_has_room(void);

#define COIL__BACKTRACE_STACK_BYTES (COIL__ASAN || COIL__TSAN ? 32768u : 8192u)

#endif
