/*
 * futexes.h - tasks that wait for a futex, futex(2).
 */
#ifndef POSIX_FUTEXES_H
#define POSIX_FUTEXES_H

#include "parking.h"

#include <stdatomic.h>

struct posix__futex_place;

/* A task's wait for one futex. The struct is in the task's memory. */
struct posix__futex_wait {
    struct posix__futex_wait *next, *previous;
    _Atomic(struct posix__futex_place *) place; /* changed by a requeue */
    uint32_t *address;
    uint32_t value;        /* the task waits while the futex has this value */
    uint32_t bitset;       /* a wake-up must have at least one of these bits */
    int private_flag;      /* FUTEX_PRIVATE_FLAG or 0 */
    coil_promise *promise; /* set to wake the task */
    /* `listed` and `woken` are guarded by the place's lock. */
    bool listed;
    bool woken;
};

/* The time at which a wait times out. */
struct posix__futex_limit {
    int64_t deadline;          /* a time of the loop's clock, or COIL_NEVER */
    struct posix__until until; /* a time of a system clock */
};

/*
 * Suspend the task until one of the futexes is woken. The caller has set address, value,
 * bitset and private_flag of each wait. Returns the index of the woken futex, or -1 and
 * errno: EAGAIN, EFAULT, EINVAL or ETIMEDOUT, like futex(2). If the task is cancelled,
 * fails once with ECANCELED, and shields the task's later waits. A spurious wake-up
 * returns 0. `caller` is an address in the library that waits.
 */
int posix__futex_await(struct posix__futex_wait *waits, unsigned count,
                       const struct posix__futex_limit *limit, const void *caller);

/* ---- calls that wake, by any thread ------------------------------------------------ */

/* A call of futex(2) or one of its relatives: the system call and its arguments. */
struct posix__futex_call {
    long number; /* SYS_futex, or one of the later system calls */
    long arguments[6];
    const void *caller; /* the return address of a waiting call */
};

/* Make the call unchanged, with the C library's syscall(). */
long posix__futex_pass_on(const struct posix__futex_call *call);

/*
 * Wake at most `n` tasks and threads that wait for the futex. Threads are woken by
 * `call`, whose argument 2 is the number of threads. Returns how many waiters were woken,
 * or -1 and errno.
 */
long posix__futex_wake(const struct posix__futex_call *call, const void *address, int n,
                       uint32_t bitset);

/*
 * Wake at most `wake` tasks and threads, and move at most `move` others to the futex
 * `to`. Threads are woken and moved by `call`.
 */
long posix__futex_requeue(const struct posix__futex_call *call, const void *from,
                          uint32_t *to, int wake, int move);

/* FUTEX_WAKE_OP. */
long posix__futex_wake_op(const struct posix__futex_call *call);

#endif
