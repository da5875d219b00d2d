/* deadlock.h (internal) - detects when no event can wake the loop any more. */
#ifndef COIL_LOOP_DEADLOCK_H
#define COIL_LOOP_DEADLOCK_H

#include "../base/list.h"

#include <coil/loop.h>

#include <stdatomic.h>

/* Private to deadlock.c and to the inline functions here. */
struct coil__deadlock {
    uint64_t runs_when_idle; /* the loop's `runs` when it last had nothing to wait for */
    size_t outside_work;
    bool in_team; /* other threads of coil_run_threads() are running, and may post */
    /* waits that began with coil_lock_wait_begin(), oldest first */
    struct coil__list lock_waits;
    size_t lock_wait_count;
    int64_t locked_since; /* time since which only locks are awaited, or 0 */
    int64_t next_check;   /* time of the next check for a deadlock */
    uint64_t lapsed_step; /* step in which a wait lapsed (deadlock.c); 0: none */
    uint32_t rounds;      /* number of times the loop became quiet: see is_quiet() */
    bool quiet;           /* no code outside of the tasks has run in this round */
    bool was_outside;     /* in this round, outside code may release a lock */
    bool lock_reported;
};

void coil__deadlock_init(struct coil__deadlock *deadlock);

/* coil_lock_wait */
struct coil__lock_wait {
    struct coil__list link;
    const void *caller;
    uint32_t checked_round; /* the last round in which the task checked its lock */
    bool outside;
};

void coil__loop_begin_lock_wait(coil_loop *loop, struct coil__lock_wait *wait,
                                const void *caller, bool outside, bool again);
void coil__loop_end_lock_wait(coil_loop *loop, struct coil__lock_wait *wait);
void coil__loop_check_lock_wait(coil_loop *loop, struct coil__lock_wait *wait);
void coil__loop_lapse_lock_wait(coil_loop *loop, struct coil__lock_wait *wait);

/*
 * The number of threads that coil has created in this process, and how many of them are
 * waiting for work. A thread that is not waiting may post.
 */
extern _Atomic unsigned coil__pool_threads, coil__pool_idle;

/* Count a new thread of coil, which is waiting for work. */
void coil__deadlock_add_helper(void);

/*
 * Reset both counts in a child of fork(2), where these threads do not exist.
 * Async-signal-safe.
 */
void coil__deadlock_forked(void);

/*
 * Return how long to poll when nothing is ready and no timer is armed. If no event can
 * ever happen, report the deadlock and set *rc to -EDEADLK.
 */
int64_t coil__loop_longest_poll(coil_loop *loop, int *rc);

/*
 * True if the program has a signal handler, which might release a lock. coil's own signal
 * handlers do not count.
 */
bool coil__deadlock_has_handler(void);

/*
 * Return how long to poll, at most `timeout`, or -EDEADLK after reporting a deadlock.
 * Called when nothing is ready and tasks are waiting for locks (coil_lock_wait_begin()).
 */
int64_t coil__loop_check_locks(coil_loop *loop, int64_t timeout);

/*
 * Write the name of the library in which a task has waited longest for a lock, such as "
 * in libx.so". Returns false if no task waits for a lock.
 */
bool coil__loop_place_of_lock(const coil_loop *loop, char *text, size_t room);

/* See coil__loop_expect(). */
static inline bool coil__deadlock_expects(const struct coil__deadlock *deadlock)
{
    return deadlock->outside_work > 0;
}

#endif
