/*
 * parking.h - tasks that wait at the address of a mutex, a condition or a semaphore.
 */
#ifndef POSIX_PARKING_H
#define POSIX_PARKING_H

#include "waiting.h"

#include <coil/promise.h>

#include <stdatomic.h>

/* A waiting task. The struct is on the task's stack. */
struct posix__parked {
    struct posix__parked *next, *previous;
    const void *address;
    coil_promise *promise; /* set to wake the task */
    unsigned long ticket;  /* sequence number of the task's arrival at the place */
    bool listed, woken;    /* guarded by the place's lock */
};

/* See conditions.c. Unlocking a mutex sets this to NULL. */
extern THREAD_LOCAL const void *posix__latest_cond;

/* Places are the buckets of a hash table by address. */
#define POSIX__PLACES_TO_PARK 128

/* The numbers of parked tasks: at each place, and in total. */
extern _Atomic unsigned posix__parked_counts[];
extern _Atomic unsigned posix__parked_total;

static inline unsigned posix__place_of(const void *address)
{
    uintptr_t n = (uintptr_t)address;

    return (unsigned)((n >> 4) ^ (n >> 12) ^ (n >> 20)) % POSIX__PLACES_TO_PARK;
}

/*
 * False if no task waits at this address. Call this after unlocking a mutex, or, for a
 * condition, while holding its mutex. On x86-64 an unlock is a full barrier, so a load is
 * sufficient here.
 */
static inline bool posix__may_be_parked(const void *address)
{
#ifndef __x86_64__
    atomic_thread_fence(memory_order_seq_cst);
#endif
    return atomic_load_explicit(&posix__parked_counts[posix__place_of(address)],
                                memory_order_seq_cst) > 0;
}

/* The number of tasks at each place that were woken and have not run yet. */
extern _Atomic unsigned posix__woken_counts[];

/*
 * True if a task that was woken at this address may not have run yet. In that case a task
 * that wants the lock lets the woken task go first; otherwise a task that repeatedly
 * unlocks and locks could keep the lock forever.
 */
static inline bool posix__may_be_woken(const void *address)
{
    return atomic_load_explicit(&posix__woken_counts[posix__place_of(address)],
                                memory_order_relaxed) > 0;
}

/*
 * List the running task at the address, so that posix__unpark() can wake it. Returns
 * false if the call must not suspend, or if memory ran out.
 */
bool posix__park_begin(struct posix__parked *p, const void *address);

/*
 * Suspend until the task is woken or `span_ns` has passed. Returns 0, or -1 if the task
 * is cancelled.
 */
int posix__park(struct posix__parked *p, int64_t span_ns);

/* Like posix__park(), but wait for a promise. */
int posix__await_promise(coil_promise *promise, int64_t span_ns);

/* Set the promise, which wakes the task that awaits it. */
void posix__set_promise(coil_promise *promise);

/*
 * Unlist the task, so that it can no longer be woken. Returns true if the task was
 * already woken.
 */
bool posix__park_end(struct posix__parked *p);

/*
 * Wake the task that has waited longest at the address, or all tasks that wait there now.
 * posix__unpark() returns false if no task waits. May be called on any thread, but not in
 * a signal handler.
 */
bool posix__unpark(const void *address);
void posix__unpark_all(const void *address);

/*
 * Return how long a parked task waits before it checks for a missed wake-up. `*length_ns`
 * is initially 0. The time grows with each check, up to a limit, and with the number of
 * parked tasks.
 */
int64_t posix__next_check(int64_t *length_ns, int64_t left);

/*
 * Start the thread that wakes tasks. Call this before a task waits for a semaphore.
 */
void posix__expect_posts(void);

/*
 * Record that the semaphore was posted, so that a task is woken. May be called in a
 * signal handler.
 */
void posix__unpark_poster(sem_t *sem);

/*
 * Call attempt(object) until its result is not EBUSY, and return that result. Between two
 * attempts, the task waits at the object's address until it is woken or an interval,
 * which grows with each attempt, has passed. Returns ETIMEDOUT once the time `until` has
 * passed, EINVAL if that time is invalid, and ECANCELED if the task is cancelled; in each
 * case at least one attempt was made. If `until` is NULL, there is no time-out.
 */
typedef int posix__attempt_fn(void *object);

int posix__retry(posix__attempt_fn *attempt, void *object,
                 const struct posix__until *until);

/*
 * Like posix__retry() without `until`, but the deadlock detector takes this wait into
 * account. `shared` means that another process may release the lock.
 */
int posix__retry_counted(posix__attempt_fn *attempt, void *object, bool shared);

/*
 * Like posix__retry(), but shielded, for calls that cannot fail. A later call reports the
 * cancellation. Preserves errno. If `until` is NULL, the deadlock detector takes this
 * wait into account. `shared` means that another process may release the lock.
 */
int posix__retry_shielded(posix__attempt_fn *attempt, void *object,
                          const struct posix__until *until, bool shared);

#endif
