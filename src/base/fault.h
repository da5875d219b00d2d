/*
 * fault.h (internal) - lets tests make allocations and system calls fail.
 *
 * Before each allocation and system call, libcoil checks whether it must fail. Outside of
 * tests the check takes one load and one branch. In a test, libcoil-testing makes the
 * n-th call fail (testing/faults.c).
 *
 *     fd = COIL__CALL(EMFILE, socket(family, type, protocol));
 *
 * The first argument is an errno that the call can set. The macro is not used for calls
 * that cannot fail (clock_gettime(2), getpid(2)), for calls whose failure has no
 * consequences (close(2), munmap(2), EPOLL_CTL_DEL, restoring a signal handler), nor for
 * calls inside the C library.
 */
#ifndef COIL_BASE_FAULT_H
#define COIL_BASE_FAULT_H

#include "compiler.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct coil__fault_hooks {
    /*
     * Called before an allocation or a system call. Return true if this allocation or
     * call must fail; in that case call_fails() also sets errno.
     */
    bool (*allocation_fails)(void);
    bool (*call_fails)(int error, const char *what);
    /* Like call_fails(), for a system call that can fail only with EINTR. */
    bool (*call_is_interrupted)(const char *what);
    void (*block_allocated)(void); /* called after a successful allocation */
    void (*block_freed)(void);
};

/*
 * NULL unless a test counts calls or makes them fail. Once set, this pointer does not
 * change.
 */
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

/* Like coil__call_fails(), for a system call that can fail only with EINTR. */
static inline bool coil__call_is_interrupted(const char *what)
{
    const struct coil__fault_hooks *hooks = coil__faults();

    return COIL__UNLIKELY(hooks != NULL) && hooks->call_is_interrupted(what);
}

#define COIL__INTERRUPTIBLE(call) (coil__call_is_interrupted(#call) ? -1 : (call))

/*
 * Make the system call `call`. If the call must fail, do not evaluate `call`, but set
 * errno (usually to `error`) and return -1.
 */
#define COIL__CALL(error, call) (coil__call_fails((error), #call) ? -1 : (call))

#endif
