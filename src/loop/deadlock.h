/* deadlock.h (internal) - checks whether any event can still happen. */
#ifndef COIL_LOOP_DEADLOCK_H
#define COIL_LOOP_DEADLOCK_H

#include <coil/loop.h>

#include <stdatomic.h>

/* Private to deadlock.c and the accessors here. */
struct coil__deadlock {
    uint64_t runs_when_idle; /* loop->runs at the last wait without limit */
    size_t outside_work;
};

/*
 * The threads that coil has created in this process, and the number of them that wait for
 * work. A thread that does not wait may post.
 */
extern _Atomic unsigned coil__pool_threads, coil__pool_idle;

/*
 * Called in a child of fork(2), in which these threads do not exist. Async-signal-safe.
 */
void coil__deadlock_forked(void);

/*
 * Called when nothing is ready and no timer is armed. Returns how long to poll. If no
 * event can ever happen, reports the deadlock and sets *rc to -EDEADLK.
 */
int64_t coil__loop_longest_poll(coil_loop *loop, int *rc);

/* See coil__loop_expect(). */
static inline bool coil__deadlock_expects(const struct coil__deadlock *deadlock)
{
    return deadlock->outside_work > 0;
}

#endif
