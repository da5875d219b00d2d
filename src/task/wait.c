/*
 * wait.c - how a task is suspended, goes on, and learns that it was cancelled.
 *
 * The states of a task, and what moves it:
 *
 *              spawn                 the loop runs step
 *     (new) ----------> READY ---------------------------> RUNNING ----> ended
 *                         ^                                   |   body returns
 *                         |   what it waits for completes     | coil__wait_park()
 *                         +------------- WAITING <------------+ coil_yield()
 *
 * Cancelling a WAITING task is handed to what it waits for (class->cancel), and arrives
 * as the result of that wait; if that has completed already, or does not want to be
 * cancelled, or the task is not waiting, must_cancel remembers it. It is delivered here,
 * where the task goes on: see deliver(). What asyncio throws once, C code might overlook;
 * so a delivery stands, and every later wait is refused, until coil_cancel_caught().
 */
#include "task.h"
#include "budget.h"
#include "failure.h"

/* So many refused waits in a row are no cleanup any more. */
#define DEAF 1000

void coil__wait_init(struct coil__wait *wait, const struct coil__wait_class *class)
{
    wait->task = coil__task_require("a call that waits");
    wait->class = class;
    wait->rc = -EINPROGRESS;
    wait->source = NULL;
    wait->done = wait->parked = wait->cancelled = wait->keeps_result = false;
}

bool coil__wait_complete(struct coil__wait *wait, int rc)
{
    coil_task *task = wait->task;

    if (wait->done)
        return false;
    wait->done = true;
    wait->rc = rc;
    if (wait->parked)
        coil__loop_add_ready(task->future.loop, &task->step);
    return true;
}

bool coil__wait_cancel(struct coil__wait *wait)
{
    if (wait->done)
        return false;
    if (wait->class->cancel != NULL)
        return wait->class->cancel(wait);
    wait->cancelled = true;
    return coil__wait_complete(wait, -ECANCELED);
}

static void count_refusal(coil_task *task)
{
    if (++task->deaf_count == DEAF)
        coil__failure_report("Task was cancelled and goes on waiting: it should return, "
                             "or call coil_cancel_caught()",
                             task, -ECANCELED);
}

bool coil__task_refuses(coil_task *task)
{
    if (COIL__LIKELY(!task->delivered))
        return false;
    count_refusal(task);
    coil__loop_add_ready(task->future.loop, &task->step);
    coil__task_switch_out(task);
    return true;
}

const struct coil__wait *coil__task_waits(const coil_task *task)
{
    const struct coil__wait *wait = task->wait;

    if (wait == NULL || wait->done ||
        (wait->source != NULL && *wait->source != -EINPROGRESS))
        return NULL;
    return wait;
}

/* The task goes on: is there a cancellation to tell it of? */
static int deliver(coil_task *task, int rc, bool keeps_result)
{
    if (COIL__UNLIKELY(task->must_cancel && !keeps_result)) {
        task->must_cancel = false;
        task->delivered = true;
        rc = -ECANCELED;
    } else if (COIL__UNLIKELY(task->passed_on)) {
        if (rc == -ECANCELED)
            task->delivered = true;
        else if (keeps_result)
            task->must_cancel = true; /* it took effect first: the next wait is told */
    }
    task->passed_on = false;
    return rc;
}

int coil__wait_park(struct coil__wait *wait)
{
    coil_task *task = wait->task;

    if (wait->done)
        return wait->rc;
    wait->parked = true;
    wait->since = task->future.loop->clock_read;
    task->wait = wait;
    if (COIL__UNLIKELY(task->must_cancel) && coil__task_cancel_wait(task, wait)) {
        task->must_cancel = false;
        task->passed_on = true;
    } else if (COIL__UNLIKELY(task->delivered)) {
        count_refusal(task);
        coil__task_cancel_wait(task, wait);
    }
    coil__task_switch_out(task);
    task->wait = NULL;
    return deliver(task, wait->source != NULL ? *wait->source : wait->rc,
                   wait->keeps_result);
}

int coil_yield(void)
{
    coil_task *task = coil__task_require("coil_yield");

    if (coil__task_refuses(task))
        return -ECANCELED;
    coil__loop_add_ready(task->future.loop, &task->step);
    coil__task_switch_out(task);
    return deliver(task, 0, false);
}

int coil__task_spend_last(void)
{
    coil__task_require("a call that does I/O");
    return coil_yield(); /* which fills it again */
}

/* ---- parking ----------------------------------------------------------------------- */

int coil_park(void)
{
    static const struct coil__wait_class class = {.what = "park"};
    struct coil__wait wait;
    coil_task *task;
    int rc;

    coil__wait_init(&wait, &class);
    task = wait.task;
    task->parking = &wait;
    rc = coil__wait_park(&wait);
    task->parking = NULL;
    return rc;
}

int coil_unpark(coil_task *task, int rc)
{
    if (task->parking == NULL || !coil__wait_complete(task->parking, rc))
        return -EALREADY;
    return 0;
}

/* ---- sleeping ---------------------------------------------------------------------- */

struct sleeping {
    struct coil__wait wait;
    struct coil__timer timer;
    int64_t deadline;
};

static void wake_sleeper(struct coil__runnable *runnable)
{
    struct sleeping *s = COIL__CONTAINER(runnable, struct sleeping, timer.runnable);

    coil__wait_complete(&s->wait, 0);
}

static void describe_sleep(const struct coil__wait *wait, struct coil__waited *out)
{
    out->deadline = COIL__CONTAINER(wait, const struct sleeping, wait)->deadline;
}

int coil_sleep_until(int64_t deadline)
{
    static const struct coil__wait_class class = {.what = "sleep",
                                                  .describe = describe_sleep};
    struct sleeping s;
    coil_loop *loop;
    int rc;

    coil__wait_init(&s.wait, &class);
    s.deadline = deadline;
    loop = s.wait.task->future.loop;
    coil__timer_init(&s.timer, wake_sleeper);
    rc = coil__timer_start(loop, &s.timer, deadline);
    if (rc < 0)
        return rc;
    rc = coil__wait_park(&s.wait);
    coil__timer_stop(loop, &s.timer);
    return rc;
}

int coil_sleep(int64_t delay_ns)
{
    return delay_ns > 0 ? coil_sleep_until(coil_in(delay_ns)) : coil_yield();
}
