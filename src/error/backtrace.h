/*
 * backtrace.h - the return addresses on the running stack, or on a suspended coroutine's.
 */
#ifndef COIL_ERROR_BACKTRACE_H
#define COIL_ERROR_BACKTRACE_H

#include "../coro/coroutine.h"

/* The maximum number of frames that any caller stores. */
#define COIL__BACKTRACE_MAX 64

/*
 * Store the return addresses on the running stack, innermost first, at most `max`, and
 * return their number. The first is `from`, the return address of a function that has not
 * returned. If `from` is NULL, the first is the return address of this call. The last is
 * in the body of the task, generator or coroutine: coil's frames outside the body are
 * omitted.
 *
 * Not for signal handlers: the first call loads the unwinder (libgcc). Loading and
 * walking need about 5 KiB of stack. Returns 0 if fewer than COIL__BACKTRACE_STACK_BYTES
 * are left, or if the unwinder is missing. Preserves errno.
 */
size_t coil__backtrace(void *addresses[], size_t max, const void *from);

/*
 * Like coil__backtrace(), followed by the stacks of the coroutines that wait for the
 * running one, their generator, from the inside out up to `outermost`. If `outermost` is
 * NULL, only the running stack is walked.
 */
size_t coil__backtrace_through(void *addresses[], size_t max, const void *from,
                               const coil__coro *outermost);

/*
 * Like coil__backtrace(), for a suspended coroutine. The coroutine's stack is only read:
 * the walk runs on the caller's stack and does not switch. The innermost frames belong to
 * the code that suspends a coroutine. They are omitted, up to the last frame with a
 * function for which is_machinery() returns true.
 */
size_t coil__backtrace_suspended(const coil__coro *coro, void *addresses[], size_t max,
                                 bool (*is_machinery)(uintptr_t function));

/*
 * While an exception is being thrown, return where it was thrown: the return address of
 * the C++ runtime's throw function. NULL if no such frame is found.
 */
const void *coil__backtrace_throw(void);

/*
 * Return the stack pointer of the frame whose personality routine was called with
 * `context`. `caller` is the routine's return address: if it is not in the unwinder that
 * coil uses, return 0.
 */
struct _Unwind_Context;
uintptr_t coil__backtrace_sp(struct _Unwind_Context *context, const void *caller);

/*
 * Load the unwinder now, for coil__backtrace_in_handler(): a signal handler must not load
 * a library.
 */
void coil__backtrace_prepare(void);

/*
 * True if a signal handler is among the innermost functions of the running stack, inside
 * the function `outermost`. Works on any stack. False if the unwinder was not loaded.
 */
bool coil__backtrace_in_handler(const void *outermost);

/* False if the running stack has too little room left for a backtrace. */
bool coil__backtrace_has_room(void);

#define COIL__BACKTRACE_STACK_BYTES (COIL__ASAN || COIL__TSAN ? 32768u : 8192u)

#endif
