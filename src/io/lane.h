/*
 * lane.h (internal) - lanes, desks and jobs, which run blocking code on threads.
 *
 *   task ---- enqueue ----> lane.queue ---- a thread takes it ----> fn(arg)
 *    ^                          |                                      |
 *    |                          | withdrawn                            | finish
 *    |   coil__wait_complete    v                                      v
 *    +----------------------- desk <------ one post for many ---- desk.done
 *
 * A lane has a queue of jobs and the threads that run them (lane.c). Each loop has one
 * desk, where the threads put its finished jobs (desk.c). If many jobs end together, they
 * need only one post, which wakes the loop only once. blocking.c contains the task's
 * side, and executor.c the functions for lanes that a program creates.
 *
 * A job is on the stack of the task that waits for it. A job that may be abandoned is on
 * the heap instead, and belongs to its thread once it is abandoned. Jobs run in a copy of
 * their task's context (asyncio: to_thread).
 *
 * Invariants
 * 1. `queued` is guarded by the lane's lock, `finished` and `abandoned` by the desk's
 *    lock. Code that needs both locks takes the desk's lock first.
 * 2. After a thread has put a job on the desk, or has freed an abandoned job, it does not
 *    access the job again. Once the thread has released the desk's lock, it does not
 *    access the desk again.
 * 3. Only the loop's thread uses desk.jobs and job.wait.
 * 4. A loop does not close while a thread runs one of its jobs. Exception: the loop waits
 *    at most loop->drain_ns for abandoned jobs. Abandoned jobs refer to the desk and not
 *    to the loop, and the last of them frees the desk.
 *
 * fork(2) does not copy the threads, so the child starts with empty lanes.
 *
 * Start reading at run_job() in blocking.c and run_lane_thread() in lane.c.
 */
#ifndef COIL_IO_LANE_H
#define COIL_IO_LANE_H

#include "../base/context.h"
#include "../loop/loop.h"
#include "../loop/wakeup.h"
#include "executor.h"

#include <pthread.h>

#define COIL__LANE_THREADS_MAX 1024
#define COIL__LANE_COUNT 64

struct coil__lane {
    const char *thread_name;
    struct coil__wait_class class;
    /* thread name and class.what of a lane that the program created */
    char own_name[16], own_what[32];
    _Atomic bool exists; /* changed under the lock; already false while threads exit */
    pthread_mutex_t lock;
    pthread_cond_t work;     /* signalled for a new job or a lower limit */
    pthread_cond_t left;     /* signalled when a thread has ended */
    struct coil__list queue; /* job.in_queue */
    _Atomic size_t queue_length;
    unsigned threads, idle;
    unsigned busy;      /* threads that run jobs, including abandoned ones */
    unsigned waking;    /* idle threads that were signalled but do not run yet */
    unsigned abandoned; /* threads that run abandoned jobs */
    unsigned limit;     /* 0: the default, which depends on the number of processors */

    /* for a lane whose jobs seldom block: see lane.c */
    bool is_sparing;
    unsigned processors; /* number of processors; 0: not determined yet */
    unsigned quick_left; /* number of quick jobs until the lane is sparing again */
    bool watched;        /* an idle thread watches the queue */
    uint64_t taken;      /* number of jobs that were taken from the queue */
};

/* The jobs of one loop. */
struct coil__desk {
    coil_loop *loop;
    struct coil__close_hook hook;
    struct coil__list jobs; /* jobs not collected yet, linked by job.in_desk */

    pthread_mutex_t lock;
    pthread_cond_t emptied; /* signalled when only abandoned jobs are left */
    size_t working;         /* jobs that are queued, running or abandoned */
    size_t abandoned;       /* abandoned jobs */
    bool closed;            /* the loop has closed */
    struct coil__list done; /* job.in_queue */
    unsigned held;          /* number of jobs in `done` without a post: see desk.c */
    bool holds;             /* the timer runs, so threads may hold back their posts */
    struct coil__post post;
    bool posted;
    struct coil__timer collect_timer; /* for the loop's thread only, like `jobs` */
    bool has_collected; /* the waits of some jobs were completed since the timer fired */

    struct coil__desk *parents; /* in a grandchild: the grandparent's desk */
};

struct coil__job {
    int (*fn)(void *arg);
    void *arg;
    void (*discard)(void *arg);
    bool abandonable; /* on the heap */
    bool queued, finished, abandoned;
    int rc;
    /* kernel id of the thread that runs the job; 0: none yet */
    pid_t thread;
    struct coil__bindings *bindings; /* the task's context, until the job begins */
    struct coil__lane *lane;
    struct coil__desk *desk;
    struct coil__list in_queue; /* lane.queue, then desk.done */
    struct coil__list in_desk;
    struct coil__wait *wait; /* the task's wait */
};

/* ---- lane.c: lanes and threads ----------------------------------------------------- */

/* coil's own lanes, followed by the lanes that the program created. */
extern struct coil__lane coil__lanes[COIL__LANE_COUNT];

/* Set up the lanes. Called before the first use of a lane. */
void coil__lanes_set_up(void);

/*
 * Append the job to the queue. Returns false if the lane has no thread for the job and
 * cannot start one.
 */
bool coil__lane_enqueue(struct coil__lane *lane, struct coil__job *job);

/* Remove the job from the queue. Returns false if a thread has already taken the job. */
bool coil__lane_withdraw(struct coil__lane *lane, struct coil__job *job);

/*
 * A thread's job was abandoned: stop counting the thread towards the lane's limit, so
 * that another thread can replace it. If the lane has no thread left and cannot start
 * one, move all queued jobs to *undone. The caller holds the desk's lock.
 */
void coil__lane_give_place_back(struct coil__lane *lane, struct coil__list *undone);

/*
 * Count the thread of an abandoned job towards its lane's limit again. If this exceeds
 * the limit, a thread exits.
 */
void coil__lane_take_place_again(struct coil__lane *lane);

/* Set the maximum number of threads. Returns false if the lane does not exist. */
bool coil__lane_set_limit(struct coil__lane *lane, unsigned max_threads);

/*
 * Turn an unused lane into a lane that the program has created. Returns false if the lane
 * is in use.
 */
bool coil__lane_claim(struct coil__lane *lane, const char *name, unsigned max_threads);

/* End the lane and its threads, and wait until the threads have ended. */
void coil__lane_end(struct coil__lane *lane);

/* ---- desk.c: the loop's side ------------------------------------------------------- */

/*
 * Return the desk of the thread's loop, creating it if necessary. Returns NULL if there
 * is no memory.
 */
struct coil__desk *coil__desk_open(coil_loop *loop);

/* Called in a child of fork(2): forget the thread's desk, which belongs to the parent. */
void coil__desk_leave_to_parent(void);

/* Put a finished job on its desk, or free it if it was abandoned. */
void coil__job_finish(struct coil__job *job);

/* Enqueue the job in its lane. Fails with -EAGAIN if no thread can be started. */
int coil__job_enqueue(struct coil__job *job);

/* Withdraw a job from the queue. Returns false if a thread has already begun the job. */
bool coil__job_withdraw(struct coil__job *job);

/* Abandon a job: its thread will free it. Returns false if the job has finished. */
bool coil__job_abandon(struct coil__job *job);

/* ---- blocking.c: the task's side --------------------------------------------------- */

/* Called when the loop closes: clear the waiting task's pointer to the job. */
void coil__job_forget_task(struct coil__job *job);

#endif
