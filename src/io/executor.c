/*
 * executor.c - code that blocks, on threads.
 *
 *   task ---- enqueue ----> lane.queue ---- a thread takes it ----> fn(arg)
 *    ^                          |                                      |
 *    |                          | withdrawn                            | finish
 *    |   coil__wait_complete    v                                      v
 *    +----------------------- desk <------ one post for many ---- desk.done
 *
 * A lane has a queue of jobs and the threads that do them. Each loop has one desk, where
 * the threads put its finished jobs: many jobs that end together cost one post, and so
 * one wake-up.
 *
 * A job lies on the stack of the task that waits for it. A job that may be abandoned lies
 * on the heap, and belongs to its thread from then on. Jobs run in a copy of their task's
 * context (asyncio: to_thread).
 *
 * Invariants
 * 1. `queued` changes under the lane's lock, `finished` and `abandoned` under the desk's.
 *    Code that needs both takes the desk's first.
 * 2. A thread that has put a job on the desk, or found it abandoned and freed it, does
 *    not look at it again; nor at the desk once the lock is released.
 * 3. Only the loop's thread uses desk.jobs and job.wait.
 * 4. A loop does not close while a thread works for it, except on abandoned jobs that are
 *    not done within loop->drain_ns. Those refer to the desk and not to the loop; the
 *    last of them frees the desk.
 *
 * After a fork the child has none of the threads: it starts with empty lanes.
 *
 * Start reading at run_job() and work().
 */
#include "executor.h"

#include "../base/context.h"
#include "../base/fault.h"
#include "../base/timed_condition.h"
#include "../kernel/processors.h"
#include "../kernel/thread.h"
#include "../loop/leak.h"
#include "../task/task.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define MAX_THREADS 1024
/* Of a lane without a limit, however few processors there are: a job may sleep, too. */
#define LEAST_THREADS 4
/* Threads of a lane that are replaced while they work on abandoned jobs. */
#define MAX_REPLACED 64
#define IDLE_SECONDS 10
#define STACK_BYTES ((size_t)1024 * 1024)

struct lane {
    const char *thread_name;
    struct coil__wait_class class;
    /* name and limit of a lane that the program created */
    char own_name[16], own_what[32];
    _Atomic bool exists; /* changed under the lock; false while its threads end, too */
    pthread_mutex_t lock;
    pthread_cond_t work;     /* there is a job, or fewer threads are allowed */
    pthread_cond_t left;     /* a thread has ended */
    struct coil__list queue; /* job.in_queue */
    size_t queue_length;
    unsigned threads, idle;
    unsigned abandoned; /* threads with an abandoned job */
    unsigned limit;     /* 0: as many as processors */
};

/* The finished jobs of one loop. */
struct desk {
    coil_loop *loop;
    struct coil__close_hook hook;
    struct coil__list jobs; /* job.in_desk: those not collected yet */

    pthread_mutex_t lock;
    pthread_cond_t emptied; /* only abandoned jobs are left, if any */
    size_t working;         /* jobs queued or being done */
    size_t abandoned;       /* abandoned jobs */
    bool closed;            /* the loop is gone */
    struct coil__list done; /* job.in_queue */
    struct coil__post post;
    bool posted;

    struct desk *parents; /* of the process before, after two forks */
};

struct job {
    int (*fn)(void *arg);
    void *arg;
    void (*discard)(void *arg);
    bool abandonable; /* on the heap */
    bool queued, finished, abandoned;
    int rc;
    struct coil__bindings *bindings; /* of the task's context, until it begins */
    struct lane *lane;
    struct desk *desk;
    struct coil__list in_queue; /* lane.queue, then desk.done */
    struct coil__list in_desk;
    struct coil__wait *wait; /* the waiting task's */
};

/* On the waiting task's stack; valid after its job was abandoned. */
struct job_waiting {
    struct coil__wait wait;
    struct job *job; /* NULL: abandoned, or given up since the loop closes */
};

static struct job_waiting *waiting_of(struct coil__wait *wait)
{
    return COIL__CONTAINER(wait, struct job_waiting, wait);
}

/* clang-format off */
#define CLASS(text)                                                                      \
    {                                                                                    \
        .what = (text), .call = "coil_blocking", .cancel = coil__blocking_cancel         \
    }
#define LANE(name, text, max) {.thread_name = (name), .class = CLASS(text), \
                               .exists = true, .limit = (max)}
/* clang-format on */

#define LANE_COUNT 64

/* coil's lanes, then the program's. */
static struct lane lanes[LANE_COUNT] = {
    [COIL_LANE_DNS] = LANE("coil-dns", "blocking.dns", 8),
    [COIL_LANE_FILE] = LANE("coil-file", "blocking.file", 8),
    [COIL_LANE_CPU] = LANE("coil-cpu", "blocking.cpu", 0),
};

static COIL__THREAD_LOCAL struct desk *this_desk; /* NULL until the loop's first job */
/* After a fork, so that it is no leak. */
static COIL__THREAD_LOCAL struct desk *parents_desk;

/* ---- setting up, once and after a fork --------------------------------------------- */

static void init_lane(struct lane *lane)
{
    pthread_mutex_init(&lane->lock, NULL);
    coil__timed_condition_init(&lane->work);
    pthread_cond_init(&lane->left, NULL);
    coil__list_init(&lane->queue);
    lane->queue_length = 0;
    lane->threads = lane->idle = lane->abandoned = 0;
}

static void lock_lanes(void)
{
    for (size_t i = 0; i < LANE_COUNT; i++)
        pthread_mutex_lock(&lanes[i].lock);
}

static void unlock_lanes(void)
{
    for (size_t i = LANE_COUNT; i-- > 0;)
        pthread_mutex_unlock(&lanes[i].lock);
}

/* After a fork: the child has neither the threads nor the jobs of its parent. */
static void empty_lanes_in_child(void)
{
    for (size_t i = 0; i < LANE_COUNT; i++)
        init_lane(&lanes[i]);
    if (this_desk == NULL)
        return;
    coil__list_remove(&this_desk->hook.link);
    this_desk->parents = parents_desk;
    parents_desk = this_desk;
    this_desk = NULL;
}

static void set_up_lanes(void)
{
    for (size_t i = 0; i < LANE_COUNT; i++)
        init_lane(&lanes[i]);
    pthread_atfork(lock_lanes, unlock_lanes, empty_lanes_in_child);
}

static void set_up_once(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, set_up_lanes);
}

/* ---- the threads ------------------------------------------------------------------- */

/*
 * How many threads count for the limit: not those with an abandoned job, which may hang.
 * But only so many are replaced. Called with the lane's lock.
 */
static unsigned counted_threads(const struct lane *lane)
{
    unsigned replaced = lane->abandoned;

    if (replaced > MAX_REPLACED)
        replaced = MAX_REPLACED;
    return lane->threads - replaced;
}

/* One job less. Called with the desk's lock. */
static void count_out(struct desk *desk)
{
    desk->working--;
    if (desk->working <= desk->abandoned)
        pthread_cond_signal(&desk->emptied);
}

static void free_desk(struct desk *desk)
{
    pthread_mutex_destroy(&desk->lock);
    pthread_cond_destroy(&desk->emptied);
    coil__free(desk);
}

/* The thread of an abandoned job counts for its lane again; one too many ends. */
static void take_place_again(struct lane *lane)
{
    pthread_mutex_lock(&lane->lock);
    lane->abandoned--;
    pthread_mutex_unlock(&lane->lock);
}

/* No task waits for the job any more. Uncount it last: the desk exists while it is
   counted. */
static void finish_abandoned_job(struct job *job)
{
    struct desk *desk = job->desk;
    bool last;

    if (job->discard != NULL)
        job->discard(job->arg);
    take_place_again(job->lane);
    coil__free(job);
    pthread_mutex_lock(&desk->lock);
    desk->abandoned--;
    count_out(desk);
    last = desk->closed && desk->working == 0;
    pthread_mutex_unlock(&desk->lock);
    if (last)
        free_desk(desk);
}

/* Put a finished job on its desk. */
static void finish_job(struct job *job)
{
    struct desk *desk = job->desk;
    bool abandoned;

    pthread_mutex_lock(&desk->lock);
    abandoned = job->abandoned;
    job->finished = true;
    if (!abandoned) {
        coil__list_push(&desk->done, &job->in_queue);
        if (!desk->posted)
            desk->posted = coil__loop_post(desk->loop, &desk->post) == 0;
        count_out(desk);
    }
    pthread_mutex_unlock(&desk->lock);
    if (abandoned)
        finish_abandoned_job(job);
}

/* The next job, waiting a while for one. NULL: the thread is to end, and is counted out.
 */
static struct job *take_job(struct lane *lane)
{
    struct timespec until;
    struct coil__list *link;
    bool waited_enough = false;

    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += IDLE_SECONDS;
    pthread_mutex_lock(&lane->lock);
    while (lane->queue_length == 0 && counted_threads(lane) <= lane->limit &&
           !waited_enough) {
        lane->idle++;
        atomic_fetch_add(&coil__pool_idle, 1);
        waited_enough = pthread_cond_timedwait(&lane->work, &lane->lock, &until) != 0;
        atomic_fetch_sub(&coil__pool_idle, 1);
        lane->idle--;
    }
    link = counted_threads(lane) <= lane->limit ? coil__list_pop(&lane->queue) : NULL;
    if (link != NULL) {
        lane->queue_length--;
        COIL__CONTAINER(link, struct job, in_queue)->queued = false;
    } else {
        lane->threads--;
        atomic_fetch_sub(&coil__pool_threads, 1);
        pthread_cond_broadcast(&lane->left);
    }
    pthread_mutex_unlock(&lane->lock);
    return link != NULL ? COIL__CONTAINER(link, struct job, in_queue) : NULL;
}

static void do_job(struct job *job)
{
    struct coil__context_slot slot, *outer;

    outer = coil__context_enter(&slot, job->bindings);
    job->rc = job->fn(job->arg);
    coil__context_leave(&slot, outer);
    finish_job(job);
}

static void *work(void *arg)
{
    struct lane *lane = arg;
    struct job *job;

    coil__thread_set_name(lane->thread_name);
    while ((job = take_job(lane)) != NULL)
        do_job(job);
    return NULL;
}

/* All signals except those that a thread's own instructions cause. */
static void fill_foreign_signals(sigset_t *set)
{
    static const int own[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS};

    sigfillset(set);
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
        sigdelset(set, own[i]);
}

/* A thread that takes no signals: those are the program's. Returns 0 or an errno. */
static int start_thread(struct lane *lane)
{
    pthread_attr_t attributes;
    sigset_t foreign, before;
    pthread_t thread;
    int error;

    error = pthread_attr_init(&attributes);
    if (error != 0)
        return error;
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    fill_foreign_signals(&foreign);
    pthread_sigmask(SIG_SETMASK, &foreign, &before);
    error = coil__call_fails(EAGAIN, "pthread_create")
                ? errno
                : pthread_create(&thread, &attributes, work, lane);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return error;
}

/* ---- enqueueing -------------------------------------------------------------------- */

static unsigned usual_limit(void)
{
    unsigned processors = coil__processor_count();

    return processors > LEAST_THREADS ? processors : LEAST_THREADS;
}

/*
 * Wake or start a thread for the queue; false if there is no thread that will come to it,
 * and none can be started. Called with the lane's lock.
 */
static bool see_to_threads(struct lane *lane)
{
    if (lane->limit == 0)
        lane->limit = usual_limit();
    if (lane->idle < lane->queue_length && counted_threads(lane) < lane->limit) {
        lane->threads++; /* counted before it starts, since it uncounts itself */
        atomic_fetch_add(&coil__pool_threads, 1);
        if (start_thread(lane) != 0) {
            lane->threads--;
            atomic_fetch_sub(&coil__pool_threads, 1);
        }
    }
    pthread_cond_signal(&lane->work);
    return lane->threads > lane->abandoned;
}

/* The job will not be done. */
static void count_out_undone(struct job *job)
{
    pthread_mutex_lock(&job->desk->lock);
    count_out(job->desk);
    pthread_mutex_unlock(&job->desk->lock);
    coil__bindings_release(job->bindings);
}

static int enqueue(struct job *job)
{
    struct lane *lane = job->lane;
    struct desk *desk = job->desk;
    bool taken;

    pthread_mutex_lock(&desk->lock);
    desk->working++;
    pthread_mutex_unlock(&desk->lock);
    pthread_mutex_lock(&lane->lock);
    if (!lane->exists)
        coil__misuse("coil_blocking: lane '%s' is being destroyed", lane->thread_name);
    job->queued = true;
    coil__list_push(&lane->queue, &job->in_queue);
    lane->queue_length++;
    taken = see_to_threads(lane);
    if (!taken) {
        coil__list_remove(&job->in_queue);
        lane->queue_length--;
    }
    pthread_mutex_unlock(&lane->lock);
    if (!taken) {
        count_out_undone(job);
        return -EAGAIN;
    }
    coil__list_push(&desk->jobs, &job->in_desk);
    coil__loop_expect(desk->loop, 1);
    return 0;
}

/* ---- giving up --------------------------------------------------------------------- */

/* Unlink the job from its desk. */
static void leave_desk(struct job *job)
{
    coil__list_remove(&job->in_desk);
    coil__loop_expect(job->desk->loop, -1);
}

/* Withdraw a job from the queue; false if a thread has begun it. */
static bool withdraw(struct job *job)
{
    struct lane *lane = job->lane;
    bool queued;

    pthread_mutex_lock(&lane->lock);
    queued = job->queued;
    if (queued) {
        coil__list_remove(&job->in_queue);
        lane->queue_length--;
        job->queued = false;
    }
    pthread_mutex_unlock(&lane->lock);
    if (queued) {
        count_out_undone(job);
        leave_desk(job);
    }
    return queued;
}

/*
 * The thread of an abandoned job gives its place to another. If there is none, nobody
 * will come to what is in the queue: that goes to *undone. Called with the desk's lock.
 */
static void give_place_back(struct lane *lane, struct coil__list *undone)
{
    pthread_mutex_lock(&lane->lock);
    lane->abandoned++;
    if (!see_to_threads(lane)) {
        COIL__LIST_EACH (link, &lane->queue)
            COIL__CONTAINER(link, struct job, in_queue)->queued = false;
        coil__list_splice(undone, &lane->queue);
        lane->queue_length = 0;
    }
    pthread_mutex_unlock(&lane->lock);
}

/* As if a thread had begun each of them, which returned -EAGAIN at once. */
static void finish_undone(struct coil__list *undone)
{
    struct coil__list *link;

    while ((link = coil__list_pop(undone)) != NULL) {
        struct job *job = COIL__CONTAINER(link, struct job, in_queue);

        coil__bindings_release(job->bindings);
        job->rc = -EAGAIN;
        finish_job(job);
    }
}

/* Abandon a job to its thread, which frees it; false if it has finished. */
static bool abandon(struct job *job)
{
    struct desk *desk = job->desk;
    struct coil__list undone;
    bool finished;

    coil__list_init(&undone);
    pthread_mutex_lock(&desk->lock);
    finished = job->finished;
    if (!finished) {
        leave_desk(job);
        job->abandoned = true;
        desk->abandoned++;
        give_place_back(job->lane, &undone);
    }
    pthread_mutex_unlock(&desk->lock);
    finish_undone(&undone);
    return !finished;
}

/* ---- the desk ---------------------------------------------------------------------- */

/* Runs on the loop's thread: complete the waits of all finished jobs. */
static void collect_finished_jobs(struct coil__runnable *runnable)
{
    struct desk *desk = COIL__CONTAINER(runnable, struct desk, post.runnable);
    struct coil__list done, *link;

    coil__list_init(&done);
    pthread_mutex_lock(&desk->lock);
    coil__list_splice(&done, &desk->done);
    desk->posted = false;
    pthread_mutex_unlock(&desk->lock);
    while ((link = coil__list_pop(&done)) != NULL) {
        struct job *job = COIL__CONTAINER(link, struct job, in_queue);

        leave_desk(job);
        coil__wait_complete(job->wait, job->rc);
    }
}

/* The loop closes: the job's result is dropped, and its task does not know it any more. */
static void give_up_job(struct desk *desk, struct job *job)
{
    bool begun = !withdraw(job);

    waiting_of(job->wait)->job = NULL;
    if (begun && job->abandonable && abandon(job))
        return;
    if (begun) {
        leave_desk(job);
        pthread_mutex_lock(&desk->lock);
        coil__list_remove(&job->in_queue); /* from desk.done, if it has finished */
        pthread_mutex_unlock(&desk->lock);
    }
    if (!job->abandonable)
        return;
    if (job->discard != NULL)
        job->discard(job->arg);
    coil__free(job);
}

/*
 * Wait for the threads while the loop closes: until `deadline` for abandoned jobs,
 * without a limit for the others, which may use a task's stack. Returns how many jobs are
 * left; if none is, the desk is not used again.
 */
static size_t drain(struct desk *desk, int64_t deadline)
{
    struct timespec until = {deadline / COIL_SEC(1), (long)(deadline % COIL_SEC(1))};
    bool late = false;
    size_t left;

    pthread_mutex_lock(&desk->lock);
    while (desk->working > (late ? desk->abandoned : 0)) {
        if (late)
            pthread_cond_wait(&desk->emptied, &desk->lock);
        else
            late = pthread_cond_timedwait(&desk->emptied, &desk->lock, &until) != 0;
    }
    left = desk->working;
    desk->closed = true;
    coil__loop_withdraw(desk->loop, &desk->post);
    pthread_mutex_unlock(&desk->lock);
    return left;
}

static void report_left(size_t count)
{
    char message[128];

    snprintf(message, sizeof message,
             "%zu abandoned blocking job%s not done as the loop closes, and left to %s",
             count, count == 1 ? " is" : "s are",
             count == 1 ? "its thread" : "their threads");
    coil_call_exception_handler(&(coil_exception){.message = message});
}

static void close_desk(coil_loop *loop)
{
    struct desk *desk = this_desk;
    size_t left;

    COIL__LIST_EACH (link, &desk->jobs)
        give_up_job(desk, COIL__CONTAINER(link, struct job, in_desk));
    left = drain(desk, coil__time_add(coil__clock_monotonic(), loop->drain_ns));
    this_desk = NULL;
    if (left == 0)
        free_desk(desk);
    else
        report_left(left);
}

static struct desk *create_desk(coil_loop *loop)
{
    struct desk *desk = coil__alloc_zeroed(sizeof *desk);

    if (desk == NULL)
        return NULL;
    pthread_mutex_init(&desk->lock, NULL);
    coil__timed_condition_init(&desk->emptied);
    coil__list_init(&desk->jobs);
    coil__list_init(&desk->done);
    coil__runnable_init(&desk->post.runnable, collect_finished_jobs);
    desk->loop = loop;
    coil__list_init(&desk->hook.link);
    desk->hook.closing = close_desk;
    coil__loop_add_close_hook(loop, &desk->hook);
    return desk;
}

/* The desk of the thread's loop; NULL: no memory. */
static struct desk *open_desk(coil_loop *loop)
{
    set_up_once();
    if (this_desk == NULL)
        this_desk = create_desk(loop);
    return this_desk;
}

/* ---- jobs, as tasks see them ------------------------------------------------------- */

bool coil__blocking_cancel(struct coil__wait *wait)
{
    struct job_waiting *waiting = waiting_of(wait);
    struct job *job = waiting->job;

    if (job == NULL) /* given up: the task is not resumed */
        return false;
    if (!withdraw(job)) {
        if (!job->abandonable || !abandon(job))
            return false;
        waiting->job = NULL;
    }
    coil__wait_complete(wait, -ECANCELED);
    return true;
}

static int init_job(struct job *job, coil_lane lane, int (*fn)(void *), void *arg)
{
    *job = (struct job){.fn = fn, .arg = arg, .lane = &lanes[lane]};
    coil__list_init(&job->in_queue);
    coil__list_init(&job->in_desk);
    job->desk = open_desk(coil__loop_require("coil_blocking"));
    if (job->desk == NULL)
        return coil__failed(-ENOMEM);
    job->bindings = coil__context_capture();
    return 0;
}

void *coil__blocking_arg(const struct coil__wait *wait)
{
    const struct job_waiting *waiting =
        COIL__CONTAINER(wait, const struct job_waiting, wait);

    return waiting->job != NULL ? waiting->job->arg : NULL;
}

/* Returns fn's result, or -ECANCELED: then waiting->job tells whether it is ours. */
static int run_job(struct job_waiting *waiting, struct job *job,
                   const struct coil__wait_class *class)
{
    int rc;

    waiting->job = job;
    coil__wait_init(&waiting->wait, class);
    waiting->wait.keeps_result = true;
    job->wait = &waiting->wait;
    rc = enqueue(job);
    return rc < 0 ? rc : coil__wait_park(&waiting->wait);
}

static void require_lane(coil_lane lane, const char *caller)
{
    if ((size_t)lane >= LANE_COUNT || !lanes[lane].exists)
        coil__misuse("%s: there is no lane %d", caller, (int)lane);
}

int coil__blocking(coil_lane lane, int (*fn)(void *arg), void *arg,
                   const struct coil__wait_class *class)
{
    struct job_waiting waiting;
    struct job job;
    int rc = coil__task_refuse_wait();

    if (rc == 0)
        rc = init_job(&job, lane, fn, arg);
    return rc < 0 ? rc : run_job(&waiting, &job, class);
}

int coil_blocking(coil_lane lane, int (*fn)(void *arg), void *arg)
{
    COIL__REQUIRE(fn, "a function");
    require_lane(lane, "coil_blocking");
    return (int)coil__result(coil__blocking(lane, fn, arg, &lanes[lane].class));
}

int coil_blocking_abandonable(coil_lane lane, int (*fn)(void *arg), void *arg,
                              void (*discard)(void *arg))
{
    COIL__REQUIRE(fn, "a function");
    struct job *job;
    struct job_waiting waiting;
    int rc;

    require_lane(lane, "coil_blocking_abandonable");
    if (coil__task_is_cancelled(coil__task_require("coil_blocking_abandonable"))) {
        if (discard != NULL) /* as after any cancellation */
            discard(arg);
        return coil__task_refuse_wait();
    }
    job = coil__alloc(sizeof *job);
    if (job == NULL)
        return coil__failed(-ENOMEM);
    rc = init_job(job, lane, fn, arg);
    if (rc < 0) {
        coil__free(job);
        return rc;
    }
    job->abandonable = true;
    job->discard = discard;
    rc = (int)coil__result(run_job(&waiting, job, &lanes[lane].class));
    if (waiting.job == NULL)
        return rc;
    /* Withdrawn: as after any cancellation, `arg` no longer belongs to the caller. */
    if (rc == -ECANCELED && !job->finished && discard != NULL)
        discard(arg);
    coil__free(job);
    return rc;
}

int coil_executor_set_limit(coil_lane number, unsigned max_threads)
{
    struct lane *lane = &lanes[(size_t)number < LANE_COUNT ? number : 0];
    bool exists;

    if ((size_t)number >= LANE_COUNT || max_threads < 1 || max_threads > MAX_THREADS)
        return coil__failed(-EINVAL);
    set_up_once();
    pthread_mutex_lock(&lane->lock);
    exists = lane->exists;
    if (exists) { /* else threads that are about to end still read 0 */
        lane->limit = max_threads;
        for (size_t n = lane->queue_length; n > 0; n--)
            see_to_threads(lane);
        pthread_cond_broadcast(&lane->work);
    }
    pthread_mutex_unlock(&lane->lock);
    return exists ? 0 : coil__failed(-EINVAL);
}

/* ---- lanes of the program's -------------------------------------------------------- */

static void name_lane(struct lane *lane, const char *name)
{
    snprintf(lane->own_name, sizeof lane->own_name, "%s", name);
    snprintf(lane->own_what, sizeof lane->own_what, "blocking.%.15s", name);
    lane->thread_name = lane->own_name;
    lane->class = (struct coil__wait_class)CLASS(lane->own_what);
}

/* Take the place, if it is free. */
static bool take_lane(struct lane *lane, const char *name, unsigned max_threads)
{
    bool taken;

    pthread_mutex_lock(&lane->lock);
    taken = !lane->exists && lane->threads == 0;
    if (taken) {
        name_lane(lane, name);
        lane->limit = max_threads;
        lane->exists = true;
    }
    pthread_mutex_unlock(&lane->lock);
    return taken;
}

int coil_executor_create(const char *name, unsigned max_threads, coil_lane *out)
{
    COIL__REQUIRE(name, "a name");
    COIL__REQUIRE(out, "an output pointer");
    static const struct coil__leak_kind kind = {"an executor", NULL, "destroyed"};

    *out = (coil_lane)-1; /* using it after a failure stops the program */
    if (max_threads > MAX_THREADS)
        return coil__failed(-EINVAL);
    set_up_once();
    for (size_t i = COIL_LANE_CPU + 1; i < LANE_COUNT; i++) {
        if (take_lane(&lanes[i], name, max_threads)) {
            coil__leak_note(&kind, &lanes[i], 0, name);
            *out = (coil_lane)i;
            return 0;
        }
    }
    return coil__failed(-EMFILE);
}

void coil_executor_destroy(coil_lane number)
{
    struct lane *lane = &lanes[(size_t)number < LANE_COUNT ? number : 0];

    set_up_once();
    pthread_mutex_lock(&lane->lock);
    if (lane <= &lanes[COIL_LANE_CPU] || !lane->exists)
        coil__misuse("coil_executor_destroy: lane %d is none of the program's",
                     (int)number);
    coil__leak_forget(lane);
    if (lane->queue_length > 0)
        coil__misuse("coil_executor_destroy: there is work in lane '%s'", lane->own_name);
    lane->exists = false;
    lane->limit = 0;
    pthread_cond_broadcast(&lane->work);
    while (lane->threads > 0)
        pthread_cond_wait(&lane->left, &lane->lock);
    pthread_mutex_unlock(&lane->lock);
}
