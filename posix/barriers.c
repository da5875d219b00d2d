/*
 * barriers.c - pthread_barrier_wait(3).
 *
 * A barrier counts the threads that wait inside the C library. Therefore a thread of the
 * waiting lane (posix__waiting_lane()) waits on behalf of the task, so tasks and threads
 * may use the same barrier. At most MOST_ON_LANE tasks can wait in this way; any other
 * task blocks its thread.
 */
#include "waiting.h"

#include <stdatomic.h>

#define MOST_ON_LANE 512

struct arrival {
    pthread_barrier_t *barrier;
    int rc;
};

static _Atomic unsigned arrivals;

/* Reset the count in a child of fork(2), where the waits of the parent never end. */
static void forget_arrivals(void)
{
    atomic_store(&arrivals, 0);
}

__attribute__((constructor)) static void forget_arrivals_after_fork(void)
{
    pthread_atfork(NULL, NULL, forget_arrivals);
}

static int wait_blocking(void *arg)
{
    struct arrival *a = arg;

    a->rc = NEXT(pthread_barrier_wait)(a->barrier);
    return 0;
}

INTERPOSE int pthread_barrier_wait(pthread_barrier_t *barrier)
{
    struct arrival a = {.barrier = barrier};
    bool done = false;
    coil_lane lane;

    if (!IN_TASK() || !posix__may_wait())
        return NEXT(pthread_barrier_wait)(barrier);
    if (atomic_fetch_add(&arrivals, 1) < MOST_ON_LANE && posix__waiting_lane(&lane))
        done = posix__blocking_shielded(lane, wait_blocking, &a) == 0;
    atomic_fetch_sub(&arrivals, 1);
    return done ? a.rc : NEXT(pthread_barrier_wait)(barrier);
}
