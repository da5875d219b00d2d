/*
 * deadlock.c - detects that all tasks wait for events that can never happen.
 *
 * Only a descriptor, a timer or a post can wake the loop. With neither descriptor nor
 * timer, only another thread could wake it, by a post. The kernel reports the number of
 * the process's threads. Coil's own threads never post while they wait for work. If any
 * other thread exists, the loop waits without limit. One of coil's own threads may post
 * if it is busy: its job was abandoned, or it is about to look for more work. While such
 * a thread is busy, the loop checks again later.
 *
 * The kernel's worker threads for io_uring, which perform operations that would block,
 * are among the process's threads too. The kernel's workers never post, and are not
 * counted.
 *
 * Counting threads takes longer than a poll. A loop that is woken only by posts must not
 * count each time, so threads are counted only if nothing has happened for 100 ms.
 */
#include "loop.h"

#include "../kernel/thread.h"

#include <errno.h>

#define LOOK_AGAIN COIL_MSEC(100)

_Atomic unsigned coil__pool_threads, coil__pool_idle;

void coil__deadlock_forked(void)
{
    coil__pool_threads = coil__pool_idle = 0;
}

int64_t coil__loop_longest_poll(coil_loop *loop, int *rc)
{
    unsigned own = 1 + coil__pool_threads;

    if (loop->backend->in_use > 0 || coil__deadlock_expects(&loop->deadlock) ||
        coil__task_layer == NULL)
        return COIL_NEVER;
    if (loop->deadlock.runs_when_idle != loop->runs) {
        loop->deadlock.runs_when_idle = loop->runs;
        return LOOK_AGAIN;
    }
    if (coil__thread_count_exceeds(own))
        return COIL_NEVER;
    if (coil__pool_idle < own - 1)
        return LOOK_AGAIN;
    /* A thread that has ended may have posted before: check for such posts now. */
    if (!coil__wakeup_pending(&loop->wakeup) && coil__task_layer->stuck(loop))
        *rc = -EDEADLK;
    return COIL_NEVER;
}
