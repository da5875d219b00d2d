/*
 * desk.c - the loop's side of the executor. A loop's desk lists the jobs that its tasks
 * have enqueued and those that threads have finished. See lane.h.
 *
 * Waking a loop can take longer than a job. So while more than QUEUE_LOW jobs wait in a
 * lane's queue, its threads hold back their posts until HELD_MAX jobs are done. Because
 * the next job may block, a timer of the loop collects the finished jobs every HELD_SPAN.
 * If no job has finished in such a span, threads post at once again. With a virtual clock,
 * whose timers do not bound real time, threads always post at once.
 */
#include "lane.h"

#include "../base/fault.h"
#include "../base/timed_condition.h"

#include <stdio.h>

#define HELD_MAX 32
#define QUEUE_LOW 4 /* enough jobs for the threads until the loop has enqueued more */
#define HELD_SPAN COIL_MSEC(1)

static COIL__THREAD_LOCAL struct coil__desk
    *this_desk; /* NULL until the loop's first job */
/*
 * In a forked child, the parent's desk. Without this pointer LeakSanitizer would report
 * the desk as leaked.
 */
static COIL__THREAD_LOCAL struct coil__desk *parents_desk;

void coil__desk_leave_to_parent(void)
{
    if (this_desk == NULL)
        return;
    coil__list_remove(&this_desk->hook.link);
    this_desk->parents = parents_desk;
    parents_desk = this_desk;
    this_desk = NULL;
}

/* ---- finishing jobs, on their threads ---------------------------------------------- */

/* Decrement the number of unfinished jobs. The caller holds the desk's lock. */
static void uncount_job(struct coil__desk *desk)
{
    desk->working--;
    if (desk->working <= desk->abandoned)
        pthread_cond_signal(&desk->emptied);
}

static void free_desk(struct coil__desk *desk)
{
    pthread_mutex_destroy(&desk->lock);
    pthread_cond_destroy(&desk->emptied);
    coil__free(desk);
}

/*
 * Free an abandoned job that has ended. The desk's counts are decremented last, because
 * the desk may be freed when they no longer include the job.
 */
static void finish_abandoned_job(struct coil__job *job)
{
    struct coil__desk *desk = job->desk;
    bool last;

    if (job->discard != NULL)
        job->discard(job->arg);
    coil__lane_take_place_again(job->lane);
    coil__free(job);
    pthread_mutex_lock(&desk->lock);
    desk->abandoned--;
    uncount_job(desk);
    last = desk->closed && desk->working == 0;
    pthread_mutex_unlock(&desk->lock);
    if (last)
        free_desk(desk);
}

/* True if the thread need not post now. The caller holds the desk's lock. */
static bool may_hold_back(struct coil__desk *desk, const struct coil__lane *lane)
{
    return desk->holds && lane->queue_length > QUEUE_LOW && ++desk->held < HELD_MAX;
}

void coil__job_finish(struct coil__job *job)
{
    struct coil__desk *desk = job->desk;
    struct coil__wake wake = {NULL};
    bool abandoned;

    pthread_mutex_lock(&desk->lock);
    abandoned = job->abandoned;
    job->finished = true;
    if (!abandoned) {
        coil__list_push(&desk->done, &job->in_queue);
        if (!desk->posted && !may_hold_back(desk, job->lane))
            desk->posted = coil__loop_post_unwoken(desk->loop, &desk->post, &wake) == 0;
        uncount_job(desk);
    }
    coil__unlock_and_wake(&desk->lock, &wake);
    if (abandoned)
        finish_abandoned_job(job);
}

/* ---- enqueueing and giving up, on the loop's thread -------------------------------- */

/* Remove the job from the desk's counts, because no thread will run it. */
static void uncount_unstarted_job(struct coil__job *job)
{
    pthread_mutex_lock(&job->desk->lock);
    uncount_job(job->desk);
    pthread_mutex_unlock(&job->desk->lock);
    coil__bindings_release(job->bindings);
}

/*
 * Let threads hold back their posts, and start the timer, if the loop has several jobs.
 * The caller holds the desk's lock.
 */
static void start_holding(struct coil__desk *desk)
{
    coil_loop *loop = desk->loop;

    if (!desk->holds && desk->working > 1 && !loop->virtual_clock)
        desk->holds = coil__timer_start(loop, &desk->collect_timer,
                                        coil__loop_now(loop) + HELD_SPAN) == 0;
}

int coil__job_enqueue(struct coil__job *job)
{
    struct coil__desk *desk = job->desk;

    pthread_mutex_lock(&desk->lock);
    desk->working++;
    start_holding(desk);
    pthread_mutex_unlock(&desk->lock);
    if (!coil__lane_enqueue(job->lane, job)) {
        uncount_unstarted_job(job);
        return -EAGAIN;
    }
    coil__list_push(&desk->jobs, &job->in_desk);
    coil__loop_expect(desk->loop, 1);
    return 0;
}

/* Remove the job from its desk's list and from the loop's count of jobs on threads. */
static void leave_desk(struct coil__job *job)
{
    coil__list_remove(&job->in_desk);
    coil__loop_expect(job->desk->loop, -1);
}

bool coil__job_withdraw(struct coil__job *job)
{
    if (!coil__lane_withdraw(job->lane, job))
        return false;
    uncount_unstarted_job(job);
    leave_desk(job);
    return true;
}

/* Finish each job in the list as if its function had returned -EAGAIN on a thread. */
static void finish_unstarted_jobs(struct coil__list *undone)
{
    struct coil__list *link;

    while ((link = coil__list_pop(undone)) != NULL) {
        struct coil__job *job = COIL__CONTAINER(link, struct coil__job, in_queue);

        coil__bindings_release(job->bindings);
        job->rc = -EAGAIN;
        coil__job_finish(job);
    }
}

bool coil__job_abandon(struct coil__job *job)
{
    struct coil__desk *desk = job->desk;
    struct coil__list undone;
    bool finished;

    coil__list_init(&undone);
    pthread_mutex_lock(&desk->lock);
    finished = job->finished;
    if (!finished) {
        leave_desk(job);
        job->abandoned = true;
        desk->abandoned++;
        coil__lane_give_place_back(job->lane, &undone);
    }
    pthread_mutex_unlock(&desk->lock);
    finish_unstarted_jobs(&undone);
    return !finished;
}

/* ---- opening, collecting, closing -------------------------------------------------- */

static void complete_waits(struct coil__desk *desk, struct coil__list *done)
{
    struct coil__list *link;

    while ((link = coil__list_pop(done)) != NULL) {
        struct coil__job *job = COIL__CONTAINER(link, struct coil__job, in_queue);

        desk->has_collected = true;
        leave_desk(job);
        coil__wait_complete(job->wait, job->rc);
    }
}

/* Complete the waits of all finished jobs. Runs on the loop's thread. */
static void on_post(struct coil__runnable *runnable)
{
    struct coil__desk *desk = COIL__CONTAINER(runnable, struct coil__desk, post.runnable);
    struct coil__list done;

    coil__list_init(&done);
    pthread_mutex_lock(&desk->lock);
    coil__list_splice(&done, &desk->done);
    desk->held = 0;
    desk->posted = false;
    pthread_mutex_unlock(&desk->lock);
    complete_waits(desk, &done);
}

static void on_timer(struct coil__runnable *runnable)
{
    struct coil__desk *desk =
        COIL__CONTAINER(runnable, struct coil__desk, collect_timer.runnable);
    struct coil__list done;

    coil__list_init(&done);
    pthread_mutex_lock(&desk->lock);
    coil__list_splice(&done, &desk->done);
    desk->held = 0;
    desk->holds = false;
    if (desk->has_collected)
        start_holding(desk);
    desk->has_collected = false;
    pthread_mutex_unlock(&desk->lock);
    complete_waits(desk, &done);
}

/* Withdraw the job, abandon it, or drop its result, because the loop is closing. */
static void give_up_job(struct coil__desk *desk, struct coil__job *job)
{
    bool begun = !coil__job_withdraw(job);

    coil__job_forget_task(job);
    if (begun && job->abandonable && coil__job_abandon(job))
        return;
    if (begun) {
        leave_desk(job);
        pthread_mutex_lock(&desk->lock);
        /* if the job has finished, it is in desk.done */
        coil__list_remove(&job->in_queue);
        pthread_mutex_unlock(&desk->lock);
    }
    if (!job->abandonable)
        return;
    if (job->discard != NULL)
        job->discard(job->arg);
    coil__free(job);
}

/*
 * Called when the loop closes: wait until the threads have finished the desk's jobs.
 * Waits for abandoned jobs only until `deadline`, but for other jobs without a limit,
 * because they may use a task's stack. Returns the number of remaining jobs. If no jobs
 * remain, no thread uses the desk any more.
 */
static size_t drain(struct coil__desk *desk, int64_t deadline)
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
    struct coil__desk *desk = this_desk;
    size_t left;

    coil__timer_stop(loop, &desk->collect_timer);
    COIL__LIST_EACH (link, &desk->jobs)
        give_up_job(desk, COIL__CONTAINER(link, struct coil__job, in_desk));
    left = drain(desk, coil__time_add(coil__clock_monotonic(), loop->drain_ns));
    this_desk = NULL;
    if (left == 0)
        free_desk(desk);
    else
        report_left(left);
}

static struct coil__desk *create_desk(coil_loop *loop)
{
    struct coil__desk *desk = coil__alloc_zeroed(sizeof *desk);

    if (desk == NULL)
        return NULL;
    pthread_mutex_init(&desk->lock, NULL);
    coil__timed_condition_init(&desk->emptied);
    coil__list_init(&desk->jobs);
    coil__list_init(&desk->done);
    coil__runnable_init(&desk->post.runnable, on_post);
    coil__timer_init(&desk->collect_timer, on_timer);
    desk->loop = loop;
    coil__list_init(&desk->hook.link);
    desk->hook.closing = close_desk;
    coil__loop_add_close_hook(loop, &desk->hook);
    return desk;
}

struct coil__desk *coil__desk_open(coil_loop *loop)
{
    coil__lanes_set_up();
    if (this_desk == NULL)
        this_desk = create_desk(loop);
    return this_desk;
}
