/*
 * faults.c - makes the n-th allocation or system call fail.
 *
 * The first call of a public function of this file installs hooks, which libcoil calls
 * before each allocation and system call (base/fault.h). There is one counter for
 * allocations and one for system calls, each shared by all threads, so exactly one call
 * in the process fails.
 */
#include "inside.h"

#include <coil/testing.h>

/* The counter for one kind of call, and the requested failure. */
struct fault {
    _Atomic uint64_t count;   /* number of calls since counting began */
    _Atomic uint64_t failing; /* value of `count` at the call that must fail, or 0 */
    _Atomic int error;        /* the requested errno; 0: one that the call may set */
};

static struct fault allocations, calls;
static _Atomic int64_t blocks;     /* number of allocated blocks that are not freed yet */
static const char *_Atomic failed; /* the call that has failed on request, or NULL */

/* Count a call. If the call must fail, set errno and return true. */
static bool count_and_fail(struct fault *fault, int error, const char *what)
{
    int requested;

    if (atomic_fetch_add(&fault->count, 1) + 1 != atomic_load(&fault->failing))
        return false;
    requested = atomic_load(&fault->error);
    errno = requested != 0 ? requested : error;
    atomic_store(&failed, what);
    return true;
}

/* ---- libcoil's hooks --------------------------------------------------------------- */

static bool allocation_fails(void)
{
    return count_and_fail(&allocations, ENOMEM, "an allocation");
}

static bool call_fails(int error, const char *what)
{
    return count_and_fail(&calls, error, what);
}

/* Calls that can fail only with EINTR are counted only while EINTR is requested. */
static bool call_is_interrupted(const char *what)
{
    return atomic_load_explicit(&calls.error, memory_order_relaxed) == EINTR &&
           count_and_fail(&calls, EINTR, what);
}

static void block_allocated(void)
{
    atomic_fetch_add(&blocks, 1);
}

static void block_freed(void)
{
    atomic_fetch_sub(&blocks, 1);
}

static void begin_counting(void)
{
    static const struct coil__fault_hooks hooks = {
        .allocation_fails = allocation_fails,
        .call_fails = call_fails,
        .call_is_interrupted = call_is_interrupted,
        .block_allocated = block_allocated,
        .block_freed = block_freed,
    };

    coil__testing_begin();
    atomic_store(coil__inside->fault_hooks, &hooks);
}

bool coil__sim_call_fails(int error, const char *what)
{
    return atomic_load(coil__inside->fault_hooks) != NULL && call_fails(error, what);
}

/* ---- coil/testing.h ---------------------------------------------------------------- */

static void request_failure(struct fault *fault, uint64_t nth, int error)
{
    begin_counting();
    atomic_store(&failed, NULL);
    atomic_store(&fault->error, error);
    atomic_store(&fault->failing, nth != 0 ? atomic_load(&fault->count) + nth : 0);
}

void coil_testing_fail_allocation(uint64_t nth)
{
    request_failure(&allocations, nth, ENOMEM);
}

void coil_testing_fail_system_call(uint64_t nth, int error)
{
    request_failure(&calls, nth, error);
}

const char *coil_testing_failed(void)
{
    return atomic_load(&failed);
}

uint64_t coil_testing_allocations(void)
{
    begin_counting();
    return atomic_load(&allocations.count);
}

uint64_t coil_testing_system_calls(void)
{
    begin_counting();
    return atomic_load(&calls.count);
}

int64_t coil_testing_blocks(void)
{
    begin_counting();
    return atomic_load(&blocks);
}
