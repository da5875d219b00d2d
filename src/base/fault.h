/*
 * fault.h (internal) - allocations and system calls that a test lets fail.
 *
 * Each passes by here before it is made. While no test has asked for anything that is a
 * load and a branch; see coil/testing.h for what a test may ask for.
 *
 *     fd = COIL__CALL(EMFILE, socket(family, type, protocol));
 *
 * The errno is one that this very call may fail with. Left out are calls that cannot fail
 * (clocks, getpid(2), an eventfd that does not block), those whose failure changes
 * nothing (close(2), munmap(2), EPOLL_CTL_DEL, restoring a signal), and what the C
 * library does by itself.
 */
#ifndef COIL_BASE_FAULT_H
#define COIL_BASE_FAULT_H

#include "compiler.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

extern _Atomic bool coil__faults_counted;

/* From now on both are counted. Any thread. */
void coil__faults_count(void);

static inline bool coil__faults_are_counted(void)
{
    return COIL__UNLIKELY(
        atomic_load_explicit(&coil__faults_counted, memory_order_relaxed));
}

/* What is counted, and what was ordered of it. */
struct coil__fault {
    _Atomic uint64_t count;   /* until now, since counting began */
    _Atomic uint64_t failing; /* the one that fails; 0: none */
    _Atomic int error;        /* that it fails with; 0: one that it may fail with */
};

extern struct coil__fault coil__fault_allocation, coil__fault_call;
extern _Atomic int64_t coil__blocks;             /* allocated and not freed */
extern const char *_Atomic coil__fault_happened; /* what an order made fail; or NULL */

/* The `nth` from now on fails with `error`; 0: none does. */
void coil__fault_order(struct coil__fault *fault, uint64_t nth, int error);

/* Count one; true if it is to fail, with errno set. */
bool coil__fault_strikes(struct coil__fault *fault, int error, const char *what);

static inline bool coil__call_fails(int error, const char *what)
{
    return coil__faults_are_counted() &&
           coil__fault_strikes(&coil__fault_call, error, what);
}

/* The call, or -1 in its stead. A macro, since it must not be made before it is asked. */
#define COIL__CALL(error, call) (coil__call_fails((error), #call) ? -1 : (call))

#endif
