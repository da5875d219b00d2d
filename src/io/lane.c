/*
 * lane.c - lanes and their threads.
 *
 * If no thread is idle when a job is enqueued, the lane starts a thread, unless its limit
 * is reached. A thread exits after IDLE_SECONDS without a job. lane.h describes how
 * lanes, desks and jobs work together.
 *
 * Most jobs of the file lane find their data in memory and take microseconds. More
 * threads than processors would only wake and wait for each other. But jobs that read
 * from a disk block, and then more threads are faster. So the file lane is sparing:
 *
 * - Usually it runs as many jobs at once as there are processors.
 * - After a job that has read from a disk, the lane runs as many jobs as its limit allows,
 *   until READ_JOBS jobs were quick. After a job that took LONG_JOB, it does so until
 *   LONG_JOBS jobs were quick. That number is small, because such a job may only have
 *   waited for a processor.
 * - While jobs have to wait, one more thread is idle and watches the queue. If no job
 *   leaves the queue for LONG_JOB, all running jobs block.
 */
#include "lane.h"

#include "../base/fault.h"
#include "../base/timed_condition.h"
#include "../kernel/processors.h"
#include "../kernel/thread.h"

#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>

/*
 * The default limit of threads is at least this number, because more threads than
 * processors are useful: jobs may sleep.
 */
#define LEAST_THREADS 4
/*
 * The maximum number of threads of one lane that are replaced while they run abandoned
 * jobs.
 */
#define MAX_REPLACED 64
#define IDLE_SECONDS 10
#define READING_JOB COIL_USEC(30) /* no disk reads a block in less time */
#define LONG_JOB COIL_MSEC(1)
#define READ_JOBS 64
#define LONG_JOBS 8
/*
 * The number of times that a thread still watches the queue when the queue is empty. This
 * takes less time than waking the thread for the next jobs.
 */
#define WATCH_EMPTY 4

enum job_speed { NO_JOB, QUICK, LONG, READ_DISK };

#define STACK_BYTES ((size_t)1024 * 1024)

/* clang-format off */
#define CLASS(text)                                                                      \
    {                                                                                    \
        .what = (text), .call = "coil_blocking", COIL__JOB_CLASS                         \
    }
#define LANE(name, text, max) {.thread_name = (name), .class = CLASS(text), \
                               .exists = true, .limit = (max)}
#define SPARING_LANE(name, text, max) {.thread_name = (name), .class = CLASS(text), \
                                       .exists = true, .limit = (max), .is_sparing = true}
/* clang-format on */

struct coil__lane coil__lanes[COIL__LANE_COUNT] = {
    [COIL_LANE_DNS] = LANE("coil-dns", "blocking.dns", 8),
    [COIL_LANE_FILE] = SPARING_LANE("coil-file", "blocking.file", 8),
    [COIL_LANE_CPU] = LANE("coil-cpu", "blocking.cpu", 0),
};

/* ---- setting up, once and after a fork --------------------------------------------- */

static void init_lane(struct coil__lane *lane)
{
    pthread_mutex_init(&lane->lock, NULL);
    coil__timed_condition_init(&lane->work);
    pthread_cond_init(&lane->left, NULL);
    coil__list_init(&lane->queue);
    lane->queue_length = 0;
    lane->threads = lane->idle = lane->busy = lane->waking = lane->abandoned = 0;
    lane->quick_left = 0;
    lane->watched = false;
}

static void lock_lanes(void)
{
    for (size_t i = 0; i < COIL__LANE_COUNT; i++)
        pthread_mutex_lock(&coil__lanes[i].lock);
}

static void unlock_lanes(void)
{
    for (size_t i = COIL__LANE_COUNT; i-- > 0;)
        pthread_mutex_unlock(&coil__lanes[i].lock);
}

/*
 * Called in a child of fork(2), which has neither the threads nor the jobs of its parent.
 */
static void empty_lanes_in_child(void)
{
    for (size_t i = 0; i < COIL__LANE_COUNT; i++)
        init_lane(&coil__lanes[i]);
    coil__desk_leave_to_parent();
}

static void set_up_lanes(void)
{
    for (size_t i = 0; i < COIL__LANE_COUNT; i++)
        init_lane(&coil__lanes[i]);
    pthread_atfork(lock_lanes, unlock_lanes, empty_lanes_in_child);
}

void coil__lanes_set_up(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, set_up_lanes);
}

/* ---- the threads ------------------------------------------------------------------- */

/*
 * Return the number of threads that count towards the limit. A thread that runs an
 * abandoned job may hang, so up to MAX_REPLACED such threads do not count. The caller
 * holds the lane's lock.
 */
static unsigned counted_threads(const struct coil__lane *lane)
{
    unsigned replaced = lane->abandoned;

    if (replaced > MAX_REPLACED)
        replaced = MAX_REPLACED;
    return lane->threads - replaced;
}

/*
 * Return how many more jobs may run at once, apart from the limit of threads. The caller
 * holds the lane's lock.
 */
static unsigned room_for_jobs(const struct coil__lane *lane)
{
    unsigned running = lane->busy - lane->abandoned;

    if (!lane->is_sparing || lane->quick_left > 0)
        return UINT_MAX;
    return running < lane->processors ? lane->processors - running : 0;
}

static void *run_lane_thread(void *arg);

/* Fill the set with all signals except those that a thread's own instructions cause. */
static void fill_foreign_signals(sigset_t *set)
{
    static const int own[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS};

    sigfillset(set);
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
        sigdelset(set, own[i]);
}

/*
 * Start a thread with signals blocked, because only the program's own threads should
 * handle them. Returns 0 or an errno.
 */
static int start_thread(struct coil__lane *lane)
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
                : pthread_create(&thread, &attributes, run_lane_thread, lane);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return error;
}

static unsigned usual_limit(void)
{
    unsigned processors = coil__processor_count();

    return processors > LEAST_THREADS ? processors : LEAST_THREADS;
}

static void set_limits(struct coil__lane *lane)
{
    if (lane->limit == 0)
        lane->limit = usual_limit();
    if (lane->is_sparing && lane->processors == 0)
        lane->processors = coil__processor_count();
}

/* Return how many idle threads the queue needs, including one that watches it. */
static size_t needed_threads(const struct coil__lane *lane)
{
    size_t room = room_for_jobs(lane);

    if (lane->queue_length <= room)
        return lane->queue_length;
    return room + !lane->watched;
}

/*
 * Find a thread for a new job: choose an idle thread, or start one if too few are idle.
 * Sets *wake if the caller must wake an idle thread after releasing the lane's lock.
 * Returns false if all of the lane's threads run abandoned jobs and no other thread can
 * be started.
 */
static bool start_or_choose_thread(struct coil__lane *lane, bool *wake)
{
    size_t needed;

    set_limits(lane);
    needed = needed_threads(lane);
    *wake = lane->waking < lane->idle && lane->waking < needed;
    lane->waking += *wake;
    if (lane->idle < needed && counted_threads(lane) < lane->limit) {
        /*
         * count the thread before it starts, because it decrements the count when it ends
         */
        lane->threads++;
        atomic_fetch_add(&coil__pool_threads, 1);
        if (start_thread(lane) != 0) {
            lane->threads--;
            atomic_fetch_sub(&coil__pool_threads, 1);
        }
    }
    return lane->threads > lane->abandoned;
}

static struct timespec time_after(int64_t span_ns)
{
    int64_t when = coil__clock_monotonic() + span_ns;

    return (struct timespec){when / COIL_SEC(1), (long)(when % COIL_SEC(1))};
}

/* Returns false if the time-out has passed. */
static bool wait_for_work(struct coil__lane *lane, int64_t timeout_ns)
{
    struct timespec until = time_after(timeout_ns);
    bool in_time;

    lane->idle++;
    atomic_fetch_add(&coil__pool_idle, 1);
    in_time = pthread_cond_timedwait(&lane->work, &lane->lock, &until) == 0;
    if (lane->waking > 0)
        lane->waking--;
    atomic_fetch_sub(&coil__pool_idle, 1);
    lane->idle--;
    return in_time;
}

/*
 * Run as many jobs as the limit allows, because all running jobs block. The caller is one
 * of the threads.
 */
static void stop_sparing(struct coil__lane *lane)
{
    bool wake;

    lane->quick_left = READ_JOBS;
    for (size_t n = lane->queue_length; n > 1; n--)
        start_or_choose_thread(lane, &wake);
    pthread_cond_broadcast(&lane->work);
}

/* Watch the queue for LONG_JOB. */
static void watch_queue(struct coil__lane *lane)
{
    uint64_t taken = lane->taken;

    lane->watched = true;
    if (!wait_for_work(lane, LONG_JOB) && lane->queue_length > 0 && lane->taken == taken)
        stop_sparing(lane);
    lane->watched = false;
}

static bool may_take_job(const struct coil__lane *lane)
{
    return lane->queue_length > 0 && room_for_jobs(lane) > 0;
}

/*
 * Wait until the thread may take a job, for at most IDLE_SECONDS. Returns false if the
 * thread must exit.
 */
static bool await_job(struct coil__lane *lane)
{
    unsigned watches = 0;
    bool in_time = true;

    while (counted_threads(lane) <= lane->limit && !may_take_job(lane) && in_time) {
        if (lane->queue_length > 0)
            watches = WATCH_EMPTY;
        if (watches > 0 && !lane->watched) {
            watches--;
            watch_queue(lane);
        } else {
            in_time = wait_for_work(lane, COIL_SEC(IDLE_SECONDS));
        }
    }
    return counted_threads(lane) <= lane->limit && may_take_job(lane);
}

/* Take a job from the queue, and find a thread for the jobs that remain there. */
static struct coil__job *take_first_job(struct coil__lane *lane, bool *wake)
{
    struct coil__job *job =
        COIL__CONTAINER(coil__list_pop(&lane->queue), struct coil__job, in_queue);

    lane->queue_length--;
    lane->taken++;
    lane->busy++;
    job->queued = false;
    if (lane->is_sparing && lane->queue_length > 0)
        start_or_choose_thread(lane, wake);
    return job;
}

/* Called when a thread has finished a job. The lane's lock is held. */
static void count_finished_job(struct coil__lane *lane, enum job_speed speed)
{
    lane->busy--;
    if (speed == READ_DISK)
        lane->quick_left = READ_JOBS;
    else if (speed == LONG && lane->quick_left < LONG_JOBS)
        lane->quick_left = LONG_JOBS;
    else if (speed < LONG && lane->quick_left > 0)
        lane->quick_left--;
}

/*
 * Take the next job from the queue, waiting up to IDLE_SECONDS for one. If the thread
 * must exit, stop counting it and return NULL. `last` is the thread's last job.
 */
static struct coil__job *take_job(struct coil__lane *lane, enum job_speed last)
{
    struct coil__job *job = NULL;
    bool wake = false;

    pthread_mutex_lock(&lane->lock);
    if (last != NO_JOB)
        count_finished_job(lane, last);
    if (await_job(lane)) {
        job = take_first_job(lane, &wake);
    } else {
        lane->threads--;
        atomic_fetch_sub(&coil__pool_threads, 1);
        pthread_cond_broadcast(&lane->left);
    }
    pthread_mutex_unlock(&lane->lock);
    if (wake)
        pthread_cond_signal(&lane->work);
    return job;
}

/* Return the number of blocks that this thread has read from disks. */
static long blocks_read(void)
{
    struct rusage usage;

    return getrusage(RUSAGE_THREAD, &usage) == 0 ? usage.ru_inblock : 0;
}

/*
 * Return the speed of a job that took the given time. *blocks is the number of blocks
 * that this thread has read.
 */
static enum job_speed speed_of_job(int64_t took_ns, long *blocks)
{
    long before = *blocks;

    if (took_ns < READING_JOB)
        return QUICK;
    *blocks = blocks_read();
    if (*blocks > before)
        return READ_DISK;
    return took_ns < LONG_JOB ? QUICK : LONG;
}

/* Do the job. In a lane that is not sparing, all jobs count as quick. */
static enum job_speed do_job(struct coil__job *job, pid_t thread, long *blocks)
{
    struct coil__context_slot slot, *outer;
    bool is_timed = job->lane->is_sparing;
    int64_t begun = is_timed ? coil__clock_monotonic() : 0;
    enum job_speed speed = QUICK;

    job->thread = thread;
    outer = coil__context_enter(&slot, job->bindings);
    job->rc = job->fn(job->arg);
    coil__context_leave(&slot, outer);
    if (is_timed)
        speed = speed_of_job(coil__clock_monotonic() - begun, blocks);
    coil__job_finish(job);
    return speed;
}

static void *run_lane_thread(void *arg)
{
    struct coil__lane *lane = arg;
    pid_t thread = coil__thread_id();
    enum job_speed last = NO_JOB;
    struct coil__job *job;
    long blocks = 0;

    coil__thread_set_name(lane->thread_name);
    while ((job = take_job(lane, last)) != NULL)
        last = do_job(job, thread, &blocks);
    return NULL;
}

/* ---- the queue --------------------------------------------------------------------- */

bool coil__lane_enqueue(struct coil__lane *lane, struct coil__job *job)
{
    bool taken, wake;

    pthread_mutex_lock(&lane->lock);
    if (!lane->exists)
        coil__misuse("coil_blocking: lane '%s' is being destroyed", lane->thread_name);
    job->queued = true;
    coil__list_push(&lane->queue, &job->in_queue);
    lane->queue_length++;
    taken = start_or_choose_thread(lane, &wake);
    if (!taken) {
        coil__list_remove(&job->in_queue);
        lane->queue_length--;
    }
    pthread_mutex_unlock(&lane->lock);
    if (wake)
        pthread_cond_signal(&lane->work);
    return taken;
}

bool coil__lane_withdraw(struct coil__lane *lane, struct coil__job *job)
{
    bool queued;

    pthread_mutex_lock(&lane->lock);
    queued = job->queued;
    if (queued) {
        coil__list_remove(&job->in_queue);
        lane->queue_length--;
        job->queued = false;
    }
    pthread_mutex_unlock(&lane->lock);
    return queued;
}

void coil__lane_give_place_back(struct coil__lane *lane, struct coil__list *undone)
{
    bool wake;

    pthread_mutex_lock(&lane->lock);
    lane->abandoned++;
    if (!start_or_choose_thread(lane, &wake)) {
        COIL__LIST_EACH (link, &lane->queue)
            COIL__CONTAINER(link, struct coil__job, in_queue)->queued = false;
        coil__list_splice(undone, &lane->queue);
        lane->queue_length = 0;
    }
    pthread_mutex_unlock(&lane->lock);
    if (wake)
        pthread_cond_signal(&lane->work);
}

void coil__lane_take_place_again(struct coil__lane *lane)
{
    pthread_mutex_lock(&lane->lock);
    lane->abandoned--;
    pthread_mutex_unlock(&lane->lock);
}

/* ---- lanes of the program ---------------------------------------------------------- */

bool coil__lane_set_limit(struct coil__lane *lane, unsigned max_threads)
{
    bool exists, wake;

    pthread_mutex_lock(&lane->lock);
    exists = lane->exists;
    if (exists) { /* if not, the limit stays 0, which exiting threads still read */
        lane->limit = max_threads;
        for (size_t n = lane->queue_length; n > 0; n--)
            start_or_choose_thread(lane, &wake);
        pthread_cond_broadcast(&lane->work);
    }
    pthread_mutex_unlock(&lane->lock);
    return exists;
}

static void name_lane(struct coil__lane *lane, const char *name)
{
    snprintf(lane->own_name, sizeof lane->own_name, "%s", name);
    snprintf(lane->own_what, sizeof lane->own_what, "blocking.%.15s", name);
    lane->thread_name = lane->own_name;
    lane->class = (struct coil__wait_class)CLASS(lane->own_what);
}

bool coil__lane_claim(struct coil__lane *lane, const char *name, unsigned max_threads)
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

void coil__lane_end(struct coil__lane *lane)
{
    pthread_mutex_lock(&lane->lock);
    if (lane->queue_length > 0)
        coil__misuse("coil_executor_destroy: there is work in lane '%s'", lane->own_name);
    lane->exists = false;
    lane->limit = 0;
    pthread_cond_broadcast(&lane->work);
    while (lane->threads > 0)
        pthread_cond_wait(&lane->left, &lane->lock);
    pthread_mutex_unlock(&lane->lock);
}
