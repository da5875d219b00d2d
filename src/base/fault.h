/*
 * fault.h (internal) - lets tests make allocations and system calls fail.
 *
 * Each allocation and system call first asks whether it is to fail. Without a test that
 * costs a load and a branch; in a test libcoil-testing chooses the failing one
 * (testing/faults.c).
 *
 *     fd = COIL__CALL(EMFILE, socket(family, type, protocol));
 *
 * The errno is one with which this call may fail. Left out are calls that cannot fail
 * (clocks, getpid(2)), calls whose failure changes nothing (close(2), munmap(2),
 * EPOLL_CTL_DEL, restoring a signal), and calls inside the C library.
 */
#ifndef COIL_BASE_FAULT_H
#define COIL_BASE_FAULT_H

#include "compiler.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct coil__fault_hooks {
    /* Is the next allocation, or the next call, to fail? For a call errno is set. */
    bool (*allocation_fails)(void);
    bool (*call_fails)(int error, const char *what);
    /* The same for a call that fails with EINTR alone. */
    bool (*call_is_interrupted)(const char *what);
    void (*block_came)(void); /* an allocation has succeeded */
    void (*block_went)(void); /* a block was freed */
};

/* NULL: no call is counted, and none fails. Set once, by any thread. */
extern const struct coil__fault_hooks *_Atomic coil__fault_hooks;

static inline const struct coil__fault_hooks *coil__faults(void)
{
    return atomic_load_explicit(&coil__fault_hooks, memory_order_relaxed);
}

static inline bool coil__faults_are_counted(void)
{
    return COIL__UNLIKELY(coil__faults() != NULL);
}

static inline bool coil__call_fails(int error, const char *what)
{
    const struct coil__fault_hooks *hooks = coil__faults();

    return COIL__UNLIKELY(hooks != NULL) && hooks->call_fails(error, what);
}

/* For a call that can fail with EINTR alone. */
static inline bool coil__call_is_interrupted(const char *what)
{
    const struct coil__fault_hooks *hooks = coil__faults();

    return COIL__UNLIKELY(hooks != NULL) && hooks->call_is_interrupted(what);
}

#define COIL__INTERRUPTIBLE(call) (coil__call_is_interrupted(#call) ? -1 : (call))

/* The call, or -1 and `error` if it is to fail. A macro: the call is evaluated only if
   it is to be made. */
#define COIL__CALL(error, call) (coil__call_fails((error), #call) ? -1 : (call))

#endif
