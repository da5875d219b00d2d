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

/* The first value of a thread's coil__coro_thread.watch. */
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

/* The running coroutine is suspended: move its exceptions from the thread to *kept. */
void coil__exceptions_leave(struct coil__kept_exceptions *kept);

/* The coroutine is resumed: move them back. */
void coil__exceptions_return(const struct coil__kept_exceptions *kept);

/*
 * Personality routines (Itanium C++ ABI, 1.6) of frames that exceptions must not leave:
 * they print what the exception would leave, and the runtime calls std::terminate() where
 * it was thrown. Forced unwinding (pthread_exit(3)) passes. Assembly names these
 * functions, which link-time optimisation does not see: `used` keeps them.
 */
__attribute__((used)) int coil__exceptions_stop(int version, int actions, uint64_t class,
                                                void *exception, void *context);
__attribute__((used)) int coil__exceptions_stop_callback(int version, int actions,
                                                         uint64_t class, void *exception,
                                                         void *context);

#endif
