/*
 * fault.c - which allocation or system call is made to fail.
 *
 * Threads count together; one of them gets the number that was ordered.
 */
#include "fault.h"

#include <errno.h>
#include <stddef.h>

_Atomic bool coil__faults_counted;
struct coil__fault coil__fault_allocation, coil__fault_call;
_Atomic int64_t coil__blocks;
const char *_Atomic coil__fault_happened;

void coil__faults_count(void)
{
    atomic_store(&coil__faults_counted, true);
}

void coil__fault_order(struct coil__fault *fault, uint64_t nth, int error)
{
    coil__faults_count();
    atomic_store(&coil__fault_happened, NULL);
    atomic_store(&fault->error, error);
    atomic_store(&fault->failing, nth != 0 ? atomic_load(&fault->count) + nth : 0);
}

bool coil__fault_strikes(struct coil__fault *fault, int error, const char *what)
{
    int ordered;

    if (atomic_fetch_add(&fault->count, 1) + 1 != atomic_load(&fault->failing))
        return false;
    ordered = atomic_load(&fault->error);
    errno = ordered != 0 ? ordered : error;
    atomic_store(&coil__fault_happened, what);
    return true;
}
