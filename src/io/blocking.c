/*
 * blocking.c - coil_blocking(): runs a function on another thread while the task waits.
 */
#include "lane.h"

#include "../coro/outside.h"
#include "../task/task.h"

COIL__OUTSIDE(COIL__OUTSIDE_AT(COIL__AT_JOB_THREAD, struct coil__job, thread));

static struct coil__job_waiting *waiting_of(struct coil__wait *wait)
{
    return COIL__CONTAINER(wait, struct coil__job_waiting, wait);
}

void coil__job_forget_task(struct coil__job *job)
{
    waiting_of(job->wait)->job = NULL;
}

bool coil__blocking_cancel(struct coil__wait *wait)
{
    struct coil__job_waiting *waiting = waiting_of(wait);
    struct coil__job *job = waiting->job;

    if (job == NULL) /* the loop is closing, so the task will not be resumed */
        return false;
    if (!coil__job_withdraw(job)) {
        if (!job->abandonable || !coil__job_abandon(job))
            return false;
        waiting->job = NULL;
    }
    coil__wait_complete(wait, -ECANCELED);
    return true;
}

static int init_job(struct coil__job *job, coil_lane lane, int (*fn)(void *), void *arg)
{
    *job = (struct coil__job){.fn = fn, .arg = arg, .lane = &coil__lanes[lane]};
    coil__list_init(&job->in_queue);
    coil__list_init(&job->in_desk);
    job->desk = coil__desk_open(coil__loop_require("coil_blocking"));
    if (job->desk == NULL)
        return coil__failed(-ENOMEM);
    job->bindings = coil__context_capture();
    return 0;
}

/*
 * Run the job on a thread, and wait for it. Returns fn's result, or -ECANCELED. Sets
 * waiting->job to NULL if the job was abandoned.
 */
static int run_job(struct coil__job_waiting *waiting, struct coil__job *job,
                   const struct coil__wait_class *class)
{
    int rc;

    waiting->job = job;
    coil__wait_init(&waiting->wait, class);
    waiting->wait.keeps_result = true;
    job->wait = &waiting->wait;
    rc = coil__job_enqueue(job);
    return rc < 0 ? rc : coil__wait_park(&waiting->wait);
}

static void require_lane(coil_lane lane, const char *caller)
{
    if ((size_t)lane >= COIL__LANE_COUNT || !coil__lanes[lane].exists)
        coil__misuse("%s: there is no lane %d", caller, (int)lane);
}

int coil__blocking(coil_lane lane, int (*fn)(void *arg), void *arg,
                   const struct coil__wait_class *class, const char *what, int fd)
{
    struct coil__job_waiting waiting = {.what = what, .fd = fd};
    struct coil__job job;
    int rc = coil__task_refuse_wait();

    if (rc == 0)
        rc = init_job(&job, lane, fn, arg);
    return rc < 0 ? rc : run_job(&waiting, &job, class);
}

int coil_blocking(coil_lane lane, int (*fn)(void *arg), void *arg)
{
    COIL__REQUIRE(fn, "a function");
    require_lane(lane, "coil_blocking");
    return (int)coil__result(
        coil__blocking(lane, fn, arg, &coil__lanes[lane].class, NULL, -1));
}

int coil_blocking_abandonable(coil_lane lane, int (*fn)(void *arg), void *arg,
                              void (*discard)(void *arg))
{
    COIL__REQUIRE(fn, "a function");
    struct coil__job *job;
    struct coil__job_waiting waiting;
    int rc;

    require_lane(lane, "coil_blocking_abandonable");
    if (coil__task_is_cancelled(coil__task_require("coil_blocking_abandonable"))) {
        if (discard != NULL)
            discard(arg); /* the caller no longer owns `arg`, as after abandoning a job */
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
    rc = (int)coil__result(run_job(&waiting, job, &coil__lanes[lane].class));
    if (waiting.job == NULL)
        return rc;
    /*
     * The job was withdrawn, so no thread will discard `arg`. Discard `arg` here, because
     * after a cancellation the caller no longer owns it.
     */
    if (rc == -ECANCELED && !job->finished && discard != NULL)
        discard(arg);
    coil__free(job);
    return rc;
}
