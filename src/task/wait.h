/*
 * wait.h - one wait of one task, on that task's stack.
 *
 * Whatever suspends a task does it through this: futures, timers, locks, I/O. It is what
 * asyncio makes a private Future for. Completing it makes the task ready: one trip
 * through the ready queue.
 *
 *     static const struct coil__wait_class class = {.what = "lock"};
 *
 *     struct coil__wait w;
 *     coil__wait_init(&w, &class);
 *     ... tell somebody about &w, who will call coil__wait_complete(&w, rc) ...
 *     rc = coil__wait_park(&w);
 *     ... see to it that nobody knows &w any more ...
 */
#ifndef COIL_TASK_WAIT_H
#define COIL_TASK_WAIT_H

#include "../base/base.h"

#include <coil/task.h>

struct coil__wait;

/* What a wait is for, as far as it can be told: coil_waiting has more. */
struct coil__waited {
    const void *object; /* the lock, the queue; NULL if there is none */
    int64_t deadline;   /* COIL_NEVER if there is none */
    int fd;             /* -1 if there is none */
};

/*
 * A kind of wait: what all of that kind have in common. Knowing what a task waits for
 * costs nothing until somebody asks.
 */
struct coil__wait_class {
    const char *what; /* as users know it: "sleep", "queue.get" */
    /*
     * The task is being cancelled while this wait is not complete. Either see to it that
     * it completes, now or later, and return true; or return false: then the wait goes on
     * and the cancellation is delivered at the next one that lets it. NULL: complete it
     * with -ECANCELED.
     */
    bool (*cancel)(struct coil__wait *wait);
    /* Fill in what it is for; NULL: there is nothing to tell. */
    void (*describe)(const struct coil__wait *wait, struct coil__waited *out);
    /*
     * The futures it waits for, the i-th of them, or NULL behind the last. So the graph
     * of who awaits whom is known. NULL: it waits for none.
     */
    coil_future *(*future)(const struct coil__wait *wait, size_t i);
};

struct coil__wait {
    coil_task *task;
    const struct coil__wait_class *class;
    int64_t since; /* when it began, as the loop last read the clock */
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
void coil__wait_init(struct coil__wait *wait, const struct coil__wait_class *class);

/*
 * Suspend until it is complete; at once if it is. Returns its rc, or -ECANCELED if the
 * task was cancelled.
 */
int coil__wait_park(struct coil__wait *wait);

/* Its task is cancelled: true if it will complete because of that, now or later. */
bool coil__wait_cancel(struct coil__wait *wait);

/*
 * A wait whose futures are to be cancelled with it says so in its `cancel`, by this; they
 * are when that has returned: class->future(wait, 0), 1, ... The branch lies where the
 * wait does, zeroed at first. See cancel.c.
 */
struct coil__branch {
    struct coil__branch *outer;
    const struct coil__wait *wait;
    size_t next;
    bool open;
};

void coil__wait_branch(struct coil__wait *wait, struct coil__branch *branch);

/* The pending task that this is a coil_await() of, or NULL. */
coil_task *coil__wait_awaited(const struct coil__wait *wait);

/* Complete it; from anywhere on the loop's thread. False if it was complete. */
bool coil__wait_complete(struct coil__wait *wait, int rc);

#endif
