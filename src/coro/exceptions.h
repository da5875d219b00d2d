/*
 * exceptions.h (internal) - saves and restores a coroutine's C++ exceptions when it is
 * switched.
 */
#ifndef COIL_CORO_EXCEPTIONS_H
#define COIL_CORO_EXCEPTIONS_H

#include "../base/base.h"

#include <string.h>

/* The struct that __cxa_get_globals() returns (Itanium C++ ABI, 2.2.2). */
struct coil__exceptions {
    void *caught;      /* exceptions whose catch blocks are open, innermost first */
    unsigned uncaught; /* exceptions thrown and not yet caught */
};

#define COIL__CXX_RUNTIMES_MAX 3

/* The saved exceptions of a suspended coroutine, for each C++ runtime. */
struct coil__kept_exceptions {
    unsigned count;
    struct coil__exceptions of[COIL__CXX_RUNTIMES_MAX];
};

/* The initial target of a thread's coil__coro_thread.watch. */
extern const uint64_t coil__exceptions_always;

/*
 * True if the eight bytes at `watch` are zero: the running coroutine has no exceptions to
 * save, and no C++ runtime was loaded since the last search.
 */
static inline bool coil__exceptions_clear(const void *watch)
{
    uint64_t word;

    memcpy(&word, watch, sizeof word); /* `watch` may be unaligned */
    return word == 0;
}

/*
 * Called before a coroutine is suspended: move its exceptions from the thread to *kept.
 */
void coil__exceptions_leave(struct coil__kept_exceptions *kept);

/* Called after the coroutine is resumed: move its exceptions back to the thread. */
void coil__exceptions_return(const struct coil__kept_exceptions *kept);

/*
 * Personality routines (Itanium C++ ABI, 1.6) of frames that exceptions must not leave.
 * These routines print which function the exception would leave. After that the runtime
 * calls std::terminate() at the throw. Forced unwinding (pthread_exit(3)) may leave these
 * frames. `used` is necessary because link-time optimisation does not see the references
 * from assembly.
 */
__attribute__((used)) int coil__exceptions_stop(int version, int actions, uint64_t class,
                                                void *exception, void *context);
__attribute__((used)) int coil__exceptions_stop_callback(int version, int actions,
                                                         uint64_t class, void *exception,
                                                         void *context);

#endif
