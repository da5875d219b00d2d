/*
 * wait.h - one wait of one task, on that task's stack.
 *
 * Whatever suspends a task does it through this: futures, timers, locks, I/O. It is what
 * asyncio makes a private Future for. Completing it makes the task ready: one trip
 * through the ready queue.
 *
 *     struct coil__wait w;
 *     coil__wait_init(&w, NULL);
 *     ... tell somebody about &w, who will call coil__wait_complete(&w, rc) ...
 *     rc = coil__wait_park(&w);
 *     ... see to it that nobody knows &w any more ...
 */
#ifndef COIL_TASK_WAIT_H
#define COIL_TASK_WAIT_H

#include "../base/base.h"

#include <coil/task.h>

struct coil__wait {
    coil_task *task;
    /*
     * The task is being cancelled while this wait is not complete. Either see to it that
     * it completes, now or later, and return true; or return false: then the wait goes on
     * and the cancellation is delivered at the next one that lets it. NULL: complete it
     * with -ECANCELED.
     */
    bool (*cancel)(struct coil__wait *wait);
    int rc;
    const int *source; /* where the result stands, if what completes the task's wait is
                          not coil__wait_complete() but a future */
    bool done;
    bool parked;
    bool cancelled; /* completed by the default cancel (asyncio: fut.cancelled()) */
    /* What was done is done: a cancellation that comes after completion does not turn the
       result into -ECANCELED but stays for the next wait. For I/O and executor jobs. */
    bool keeps_result;
};

/* A wait of the running task; without one it stops the program. */
void coil__wait_init(struct coil__wait *wait, bool (*cancel)(struct coil__wait *wait));

/*
 * Suspend until it is complete; at once if it is. Returns its rc, or -ECANCELED if the
 * task was cancelled.
 */
int coil__wait_park(struct coil__wait *wait);

/* Its task is cancelled: true if it will complete because of that, now or later. */
bool coil__wait_cancel(struct coil__wait *wait);

/*
 * A wait for several futures, each to be cancelled with it, says so in its `cancel`:
 * coil__wait_branch(). When that has returned `next` is asked for one after the other,
 * and returns NULL at the end. See cancel.c.
 */
struct coil__branch {
    struct coil__branch *outer;
    coil_future *(*next)(struct coil__branch *branch);
    bool open;
};

void coil__wait_branch(struct coil__wait *wait, struct coil__branch *branch);

/* The pending task that this is a coil_await() of, or NULL. */
coil_task *coil__wait_awaited(const struct coil__wait *wait);

/* Complete it; from anywhere on the loop's thread. False if it was complete. */
bool coil__wait_complete(struct coil__wait *wait, int rc);

#endif
