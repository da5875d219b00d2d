/*
 * backtrace.h - the return addresses on the running stack, or on a suspended coroutine's.
 */
#ifndef COIL_ERROR_BACKTRACE_H
#define COIL_ERROR_BACKTRACE_H

#include "../coro/coroutine.h"

/* The most frames that any caller keeps. */
#define COIL__BACKTRACE_MAX 64

/*
 * Store the return addresses on the running stack, innermost first, at most `max`; return
 * how many. The first is `from`, a return address of a function that is open; if `from`
 * is NULL, it is the address this call returns to. The last is in the body of the task,
 * generator or coroutine: coil's frames outside of it are left out.
 *
 * Not for signal handlers: the first call loads the unwinder (libgcc). Loading and
 * walking need some 5 KiB of stack. Returns 0 if fewer than COIL__BACKTRACE_STACK_BYTES
 * are left, or if the unwinder is missing. Keeps errno.
 */
size_t coil__backtrace(void *addresses[], size_t max, const void *from);

/*
 * The same, and then the coroutines that wait for the running one as their generator,
 * from the inside out up to `outermost`. NULL: the running one alone.
 */
size_t coil__backtrace_through(void *addresses[], size_t max, const void *from,
                               const coil__coro *outermost);

/*
 * The same for a suspended coroutine. Its stack is only read: the walk runs on the
 * caller's stack and does not switch. The innermost frames belong to the code that
 * suspends a coroutine; they are left out, up to the last of which is_machinery(address
 * of the function) is true.
 */
size_t coil__backtrace_suspended(const coil__coro *coro, void *addresses[], size_t max,
                                 bool (*is_machinery)(uintptr_t function));

/*
 * Where an exception was thrown that is being thrown now: the return address of the C++
 * runtime's function for it. NULL if that is not found.
 */
const void *coil__backtrace_throw(void);

/*
 * The stack pointer of the frame whose personality routine was called with `context` and
 * returns to `caller`. 0 if that is in another unwinder than ours.
 */
struct _Unwind_Context;
uintptr_t coil__backtrace_sp(struct _Unwind_Context *context, const void *caller);

/*
 * Load the unwinder now, for coil__backtrace_in_handler(): a signal handler must not load
 * a library.
 */
void coil__backtrace_prepare(void);

/*
 * Is a signal handler among the innermost functions of the running stack, further in than
 * the function `outermost`? Works on any stack. False if the unwinder was not loaded.
 */
bool coil__backtrace_in_handler(const void *outermost);

/* False if the running stack has too little room left for a backtrace. */
bool coil__backtrace_has_room(void);

#define COIL__BACKTRACE_STACK_BYTES (COIL__ASAN || COIL__TSAN ? 32768u : 8192u)

#endif
