/*
 * futex_calls.c - syscall(2) with SYS_futex and its relatives.
 *
 * syscall() itself is in syscall_x86_64.S (syscall_aarch64.S). That code passes the
 * system calls for futexes to posix__syscall_of_futex(), which has the parameters of
 * syscall(). For all other system calls, it jumps to the C library's syscall(). The
 * arguments and the caller's stack are not touched before the jump, so clone(2) and
 * vfork(2) work.
 *
 * In a task, a wait adds the task to a list (futexes.c) instead of blocking the thread. A
 * wake-up by any thread wakes tasks and threads. Some operations are exceptions:
 *
 *     FUTEX_LOCK_PI            tried at intervals: the kernel lends the lock's holder the
 *     FUTEX_LOCK_PI2           priority of a thread, but a task is not a thread
 *     FUTEX_WAIT_REQUEUE_PI    ENOSYS in a task: it would block the thread, and the task
 *                              that wakes it may run on the same thread
 *     the others               passed to the C library
 */
#include "futexes.h"

#include <linux/futex.h>
#include <stdlib.h>
#include <sys/syscall.h>

/* Defined here because the headers may be older than the kernel. */
#define NUMBER_OF_WAITV 449
#define NUMBER_OF_WAKE 454
#define NUMBER_OF_WAIT 455
#define NUMBER_OF_REQUEUE 456
#define LOCK_PI2 13
#define SIZE_MASK 3 /* the bits of the futex's size in the flags of the newer calls */
#define SIZE_U32 2
#define MOST_IN_VECTOR 128
#define FEW 4

/* futex_waitv(2): struct futex_waitv. */
struct vector_entry {
    uint64_t value, address;
    uint32_t flags, reserved;
};

void *posix__syscall_of_c_library(void);
long posix__syscall_of_futex(long number, long a0, long a1, long a2, long a3, long a4,
                             long a5);

/* Return the C library's syscall(). The assembly code of syscall() calls this once. */
void *posix__syscall_of_c_library(void)
{
    return (void *)NEXT(syscall);
}

static uint32_t *futex_at(long address)
{
    return (uint32_t *)(uintptr_t)address;
}

static long fail_with(int error)
{
    errno = error;
    return -1;
}

/* ---- when a wait ends -------------------------------------------------------------- */

static struct posix__futex_limit at_the_end_of(const struct timespec *span)
{
    return (struct posix__futex_limit){.deadline = posix__deadline(span)};
}

static struct posix__futex_limit limit_at(clockid_t clock, const struct timespec *time)
{
    return (struct posix__futex_limit){.deadline = COIL_NEVER,
                                       .until = {.clock = clock, .time = time}};
}

static clockid_t clock_of(long operation)
{
    return operation & FUTEX_CLOCK_REALTIME ? CLOCK_REALTIME : CLOCK_MONOTONIC;
}

/* ---- waiting ----------------------------------------------------------------------- */

/*
 * If the task is cancelled, its wait ends as if the task had been woken. Most callers of
 * futex(2) do not expect any other result, and some abort on an unknown errno.
 */
static long await_one(struct posix__futex_wait *w, const struct posix__futex_limit *limit,
                      const void *caller)
{
    posix__fairly();
    if (posix__futex_await(w, 1, limit, caller) >= 0 || errno == ECANCELED)
        return 0;
    return -1;
}

static long wait_in_task(const struct posix__futex_call *call, uint32_t bitset)
{
    const long *a = call->arguments;
    const struct timespec *time = (const struct timespec *)(uintptr_t)a[3];
    bool is_span = (a[1] & FUTEX_CMD_MASK) == FUTEX_WAIT;
    struct posix__futex_wait w = {.address = futex_at(a[0]),
                                  .value = (uint32_t)a[2],
                                  .bitset = bitset,
                                  .private_flag = (int)a[1] & FUTEX_PRIVATE_FLAG};
    struct posix__futex_limit limit;

    if (!posix__is_span(time) || bitset == 0)
        return fail_with(EINVAL);
    if (is_span && a[1] & FUTEX_CLOCK_REALTIME)
        return fail_with(ENOSYS); /* some kernels reject this flag, others ignore it */
    limit = is_span ? at_the_end_of(time) : limit_at(clock_of(a[1]), time);
    return await_one(&w, &limit, call->caller);
}

/*
 * If another thread holds the lock, each attempt fails at once with EAGAIN. If this
 * thread holds it, the call fails with EDEADLK, even if another task of the thread has
 * locked it.
 */
static long lock_pi_in_task(const struct posix__futex_call *call, clockid_t clock)
{
    struct posix__futex_call attempt = *call;
    struct posix__until until = {
        .clock = clock, .time = (const struct timespec *)(uintptr_t)call->arguments[3]};
    int saved = errno;
    int64_t nap = 0, left;
    long rc;

    if (!posix__is_span(until.time))
        return fail_with(EINVAL);
    attempt.arguments[1] = FUTEX_TRYLOCK_PI | (call->arguments[1] & FUTEX_PRIVATE_FLAG);
    while ((rc = posix__futex_pass_on(&attempt)) < 0 && errno == EAGAIN) {
        left = posix__left_until(&until);
        if (left == 0)
            return fail_with(ETIMEDOUT);
        posix__nap_shielded(&nap, coil_in(left));
    }
    if (rc == 0)
        errno = saved;
    return rc;
}

/* ---- futex(2) ---------------------------------------------------------------------- */

static bool is_wait(long operation)
{
    switch (operation & FUTEX_CMD_MASK) {
    case FUTEX_WAIT:
    case FUTEX_WAIT_BITSET:
    case FUTEX_LOCK_PI:
    case LOCK_PI2:
    case FUTEX_WAIT_REQUEUE_PI:
        return true;
    default:
        return false;
    }
}

static long do_in_task(const struct posix__futex_call *call)
{
    const long *a = call->arguments;

    switch (a[1] & FUTEX_CMD_MASK) {
    case FUTEX_WAIT:
        return wait_in_task(call, FUTEX_BITSET_MATCH_ANY);
    case FUTEX_WAIT_BITSET:
        return wait_in_task(call, (uint32_t)a[5]);
    case FUTEX_LOCK_PI:
        return lock_pi_in_task(call, CLOCK_REALTIME);
    case LOCK_PI2:
        return lock_pi_in_task(call, clock_of(a[1]));
    default:
        return fail_with(ENOSYS);
    }
}

static long wake_or_pass_on(const struct posix__futex_call *call)
{
    const long *a = call->arguments;

    switch (a[1] & ~FUTEX_PRIVATE_FLAG) {
    case FUTEX_WAKE:
        return posix__futex_wake(call, futex_at(a[0]), (int)a[2], FUTEX_BITSET_MATCH_ANY);
    case FUTEX_WAKE_BITSET:
        return posix__futex_wake(call, futex_at(a[0]), (int)a[2], (uint32_t)a[5]);
    case FUTEX_REQUEUE:
    case FUTEX_CMP_REQUEUE:
        return posix__futex_requeue(call, futex_at(a[0]), futex_at(a[4]), (int)a[2],
                                    (int)a[3]);
    case FUTEX_WAKE_OP:
        return posix__futex_wake_op(call);
    default:
        return posix__futex_pass_on(call);
    }
}

/* ---- the later system calls -------------------------------------------------------- */

/*
 * True if the kernel has this system call: a call with a null address and no flags then
 * fails with an error other than ENOSYS.
 */
static bool kernel_has(long number)
{
    return NEXT(syscall)(number, 0L, 0L, 0L, 0L, 0L, 0L) >= 0 || errno != ENOSYS;
}

static bool is_of_32_bits(long flags)
{
    return (flags & SIZE_MASK) == SIZE_U32;
}

/* futex_wait(address, value, mask, flags, time, clock) */
static long wait_2_in_task(const struct posix__futex_call *call)
{
    const long *a = call->arguments;
    const struct timespec *time = (const struct timespec *)(uintptr_t)a[4];
    struct posix__futex_limit limit = limit_at((clockid_t)a[5], time);
    struct posix__futex_wait w = {.address = futex_at(a[0]),
                                  .value = (uint32_t)a[1],
                                  .bitset = (uint32_t)a[2],
                                  .private_flag = (int)a[3] & FUTEX_PRIVATE_FLAG};

    if (!kernel_has(call->number))
        return -1;
    if (!is_of_32_bits(a[3]) || w.bitset == 0 || (unsigned long)a[2] > UINT32_MAX ||
        (unsigned long)a[1] > UINT32_MAX || !posix__is_span(time) ||
        (time != NULL && !posix__is_clock_of_locks(limit.until.clock)))
        return fail_with(EINVAL);
    return await_one(&w, &limit, call->caller);
}

/* futex_waitv(entries, count, 0, time, clock) */
static long await_vector(struct posix__futex_wait *waits, const struct vector_entry *all,
                         unsigned count, const struct posix__futex_limit *limit,
                         const void *caller)
{
    for (unsigned i = 0; i < count; i++) {
        if (!is_of_32_bits(all[i].flags) || all[i].reserved != 0 ||
            all[i].value > UINT32_MAX)
            return fail_with(EINVAL);
        waits[i] = (struct posix__futex_wait){
            .address = (uint32_t *)(uintptr_t)all[i].address,
            .value = (uint32_t)all[i].value,
            .bitset = FUTEX_BITSET_MATCH_ANY,
            .private_flag = (int)all[i].flags & FUTEX_PRIVATE_FLAG};
    }
    posix__fairly();
    return posix__futex_await(waits, count, limit, caller);
}

static long waitv_in_task(const struct posix__futex_call *call)
{
    const long *a = call->arguments;
    const struct vector_entry *all = (const struct vector_entry *)(uintptr_t)a[0];
    const struct timespec *time = (const struct timespec *)(uintptr_t)a[3];
    struct posix__futex_limit limit = limit_at((clockid_t)a[4], time);
    struct posix__futex_wait few[FEW], *waits = few;
    unsigned count = (unsigned)a[1];
    long rc;

    if (!kernel_has(call->number))
        return -1;
    if (all == NULL || count == 0 || count > MOST_IN_VECTOR || a[2] != 0 ||
        !posix__is_span(time) ||
        (time != NULL && !posix__is_clock_of_locks(limit.until.clock)))
        return fail_with(EINVAL);
    if (count > FEW && (waits = malloc(count * sizeof *waits)) == NULL)
        return -1;
    rc = await_vector(waits, all, count, &limit, call->caller);
    if (waits != few)
        free(waits);
    return rc < 0 && errno == ECANCELED ? fail_with(EINTR) : rc;
}

/*
 * futex_requeue(entries, flags, wake, move). Of the two entries, the first contains the
 * value.
 */
static long requeue_2(const struct posix__futex_call *call)
{
    const long *a = call->arguments;
    const struct vector_entry *both = (const struct vector_entry *)(uintptr_t)a[0];

    if (both == NULL)
        return posix__futex_pass_on(call);
    return posix__futex_requeue(call, futex_at((long)both[0].address),
                                futex_at((long)both[1].address), (int)a[2], (int)a[3]);
}

/* ---- all of them ------------------------------------------------------------------- */

static bool is_wait_call(const struct posix__futex_call *call)
{
    return call->number == NUMBER_OF_WAITV || call->number == NUMBER_OF_WAIT ||
           (call->number == SYS_futex && is_wait(call->arguments[1]));
}

static long make_wait_call(const struct posix__futex_call *call)
{
    switch (call->number) {
    case NUMBER_OF_WAITV:
        return waitv_in_task(call);
    case NUMBER_OF_WAIT:
        return wait_2_in_task(call);
    default:
        return do_in_task(call);
    }
}

/* Rust's thread::park() waits while its futex is -1. Hardly any other code uses -1. */
static bool is_park(const struct posix__futex_call *call)
{
    return call->number == SYS_futex && (uint32_t)call->arguments[2] == UINT32_MAX &&
           (call->arguments[1] & FUTEX_CMD_MASK) == FUTEX_WAIT_BITSET;
}

static long await_call(const struct posix__futex_call *call)
{
    if (is_park(call))
        posix__note_park(call->caller);
    return make_wait_call(call);
}

/*
 * Make a system call for futexes. Wake-ups by the allocator and by libcoil are passed to
 * the kernel, and wake only threads: no task waits for their futexes, because their waits
 * block the thread. In addition, waking a task would allocate memory.
 */
long posix__syscall_of_futex(long number, long a0, long a1, long a2, long a3, long a4,
                             long a5)
{
    struct posix__futex_call call = {
        number, {a0, a1, a2, a3, a4, a5}, __builtin_return_address(0)};

    if (is_wait_call(&call))
        return IN_TASK() && posix__may_wait() ? await_call(&call)
                                              : posix__futex_pass_on(&call);
    if (posix__may_block(call.caller))
        return posix__futex_pass_on(&call);
    switch (number) {
    case NUMBER_OF_WAKE: /* (address, mask, n, flags) */
        return a2 == 0 ? posix__futex_pass_on(&call)
                       : posix__futex_wake(&call, futex_at(a0), (int)a2, (uint32_t)a1);
    case NUMBER_OF_REQUEUE:
        return requeue_2(&call);
    default:
        return wake_or_pass_on(&call);
    }
}
