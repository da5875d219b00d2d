/*
 * exceptions.h (internal) - the C++ exceptions of a coroutine stay with it.
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

/* The exceptions of a suspended coroutine, for each C++ runtime. */
struct coil__kept_exceptions {
    unsigned count;
    struct coil__exceptions of[COIL__CXX_RUNTIMES_MAX];
};

/* The initial target of a thread's coil__coro_thread.watch. */
extern const uint64_t coil__exceptions_always;

/*
 * True while the eight bytes at `watch` are zero: the running coroutine has nothing to
 * save, and the thread knows all C++ runtimes that are loaded.
 */
static inline bool coil__exceptions_clear(const void *watch)
{
    uint64_t word;

    memcpy(&word, watch, sizeof word); /* it need not be aligned */
    return word == 0;
}

/* Before a coroutine is suspended: move its exceptions from the thread to *kept. */
void coil__exceptions_leave(struct coil__kept_exceptions *kept);

/* After the coroutine is resumed: move its exceptions back to the thread. */
void coil__exceptions_return(const struct coil__kept_exceptions *kept);

/*
 * Personality routines (Itanium C++ ABI, 1.6) of frames that exceptions must not leave.
 * These routines print which function the exception would leave. The runtime then calls
 * std::terminate() at the throw. Forced unwinding (pthread_exit(3)) passes. `used` keeps
 * the functions: link-time optimisation does not see their uses in assembly.
 */
__attribute__((used)) int coil__exceptions_stop(int version, int actions, uint64_t class,
                                                void *exception, void *context);
__attribute__((used)) int coil__exceptions_stop_callback(int version, int actions,
                                                         uint64_t class, void *exception,
                                                         void *context);

#endif
