/*
 * wait.c - suspends tasks, resumes them, and delivers cancellations.
 *
 * The states of a task, and the transitions:
 *
 *              spawn                 the loop runs step
 *     (new) ----------> READY ---------------------------> RUNNING ----> ended
 *                         ^                                   |   fn returns
 *                         |      its wait is completed        | coil__wait_park()
 *                         +------------- WAITING <------------+ coil_yield()
 *
 * Cancelling a WAITING task cancels its wait (class->cancel), which then returns
 * -ECANCELED. If the task is not waiting, or if its wait is already complete or cannot be
 * cancelled, must_cancel is set, and deliver_cancellation() delivers the cancellation
 * when a wait returns. asyncio throws an exception once, but C code might overlook an
 * error code. So a delivered cancellation persists: every later wait is refused until the
 * task calls coil_cancel_caught().
 */
#include "task.h"
#include "budget.h"
#include "failure.h"

#include "../base/probe.h"

#include <stdio.h>

/* report a task after this many refused waits, more than any cleanup needs */
#define MANY_REFUSALS 1000

const char *coil__wait_call(const struct coil__wait_class *class,
                            char text[COIL__WAIT_CALL_BYTES])
{
    if (class->call != NULL)
        return class->call;
    snprintf(text, COIL__WAIT_CALL_BYTES, "coil_%s", class->what);
    for (char *c = text; *c != '\0'; c++)
        if (*c == '.')
            *c = '_';
    return text;
}

void coil__wait_without_task(const struct coil__wait_class *class)
{
    char text[COIL__WAIT_CALL_BYTES];

    coil__task_missing(coil__wait_call(class, text));
}

void coil__wait_init(struct coil__wait *wait, const struct coil__wait_class *class)
{
    coil__wait_begin(wait, coil__task_that_waits(class), class);
}

static inline void record_wake(const coil_task *task)
{
    COIL__PROBE1(task_wake, task->coro.number);
    if (COIL__UNLIKELY(task->future.loop->trace != NULL))
        coil__trace_put(task->future.loop->trace, COIL__TRACE_WAKE, 0, task->coro.number,
                        0);
}

COIL__HOT bool coil__wait_complete_for(struct coil__wait *wait, int rc,
                                       const char *caller)
{
    coil_task *task = wait->task;

    if (wait->done)
        return false;
    wait->done = true;
    wait->rc = rc;
    if (wait->parked) {
        coil__loop_check_thread(task->future.loop, caller);
        coil__list_push(&task->future.loop->ready, &task->step.link);
        record_wake(task);
    }
    return true;
}

COIL__HOT void coil__wait_complete_by(struct coil__op *op)
{
    struct coil__wait *wait = op->owner;

    wait->done = true;
    coil__loop_add_ready(wait->task->future.loop, &wait->task->step);
    record_wake(wait->task);
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
    if (task->refused_waits < MANY_REFUSALS && ++task->refused_waits == MANY_REFUSALS)
        coil__failure_report(
            "Task was cancelled and continues to wait: it should return, "
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

/* ---- the data of a class ----------------------------------------------------------- */

/*
 * Return the address of the value at the end of the path, or NULL if the path is empty.
 */
static const void *follow(const struct coil__wait *wait,
                          const struct coil__wait_path *path)
{
    const char *place = (const char *)wait + path->at[0];

    if (path->steps == 0)
        return NULL;
    if (path->steps == 1)
        return place;
    place = *(const char *const *)place;
    return place != NULL ? place + path->at[1] : NULL;
}

void *coil__wait_pointer(const struct coil__wait *wait,
                         const struct coil__wait_path *path)
{
    const void *place = follow(wait, path);

    return place != NULL ? *(void *const *)place : NULL;
}

struct coil__waited coil__wait_describe(const struct coil__wait *wait)
{
    const struct coil__wait_class *class = wait->class;
    const int *fd = follow(wait, &class->fd);
    const int64_t *deadline = follow(wait, &class->deadline);
    const struct coil__timer *timer = follow(wait, &class->timer);
    struct coil__waited waited = {.what = class->what,
                                  .object = coil__wait_pointer(wait, &class->object),
                                  .deadline = deadline != NULL ? *deadline : COIL_NEVER,
                                  .fd = fd != NULL ? *fd : -1};

    if (waited.what == NULL)
        waited.what = coil__wait_pointer(wait, &class->what_at);
    if (timer != NULL)
        waited.deadline = coil__timer_deadline(wait->task->future.loop, timer);
    return waited;
}

/* Return the i-th item of an array or a list, or NULL. */
static const char *find_item(const struct coil__wait *wait, size_t i)
{
    const struct coil__wait_futures *futures = &wait->class->futures;
    const struct coil__list *head, *link;
    const size_t *count;

    if (futures->kind == COIL__WAIT_ARRAY) {
        count = follow(wait, &futures->count);
        return count != NULL && i < *count
                   ? (const char *)coil__wait_pointer(wait, &futures->first) +
                         i * futures->item_bytes
                   : NULL;
    }
    head = follow(wait, &futures->first);
    for (link = head->next; link != head && i > 0; i--)
        link = link->next;
    return link != head ? (const char *)link : NULL;
}

coil_future *coil__wait_future(const struct coil__wait *wait, size_t i)
{
    const struct coil__wait_futures *futures = &wait->class->futures;
    const char *item;
    char *pointer = NULL;

    if (futures->kind == COIL__WAIT_ONE && i == 0)
        pointer = coil__wait_pointer(wait, &futures->first);
    if (futures->kind == COIL__WAIT_ARRAY || futures->kind == COIL__WAIT_LIST) {
        item = find_item(wait, i);
        pointer = item != NULL ? *(char *const *)(item + futures->pointer) : NULL;
    }
    return pointer != NULL ? (coil_future *)(pointer + futures->future) : NULL;
}

const struct coil__wait *coil__task_waits(const coil_task *task)
{
    const struct coil__wait *wait = task->wait;

    if (wait == NULL || wait->done ||
        (wait->source != NULL && *wait->source != -EINPROGRESS))
        return NULL;
    return wait;
}

/*
 * Return the result of a wait: -ECANCELED if the task was cancelled. If `keeps_result` is
 * set and the wait completed before the cancellation, return the wait's own result and
 * deliver the cancellation at the next wait.
 */
static ssize_t deliver_cancellation(coil_task *task, ssize_t result, bool keeps_result)
{
    if (COIL__UNLIKELY(task->must_cancel && !keeps_result)) {
        task->must_cancel = false;
        task->delivered = true;
        task->refused_waits = 0;
        result = -ECANCELED;
    } else if (COIL__UNLIKELY(task->passed_on)) {
        if (result == -ECANCELED) {
            task->delivered = true;
            task->refused_waits = 0;
            /* a request made after the wait was completed may have set it */
            task->must_cancel = false;
        } else if (keeps_result) {
            task->must_cancel = true;
        }
    }
    task->passed_on = false;
    return result;
}

static void suspend(struct coil__wait *wait)
{
    coil_task *task = wait->task;

    wait->parked = true;
    wait->since = task->future.loop->clock_read;
    task->wait = wait;
    COIL__PROBE2(task_wait, task->coro.number, wait->class->what);
    if (COIL__UNLIKELY(task->must_cancel) && coil__task_cancel_wait(task, wait)) {
        task->must_cancel = false;
        task->passed_on = true;
    } else if (COIL__UNLIKELY(task->delivered)) {
        count_refusal(task);
        coil__task_cancel_wait(task, wait);
    }
    coil__task_switch_out(task);
    task->wait = NULL;
}

/*
 * NOINLINE also prevents the compiler from splitting this function, which backtraces
 * recognise by its address.
 */
COIL__HOT COIL__NOINLINE int coil__wait_park(struct coil__wait *wait)
{
    if (wait->done)
        return wait->rc;
    suspend(wait);
    return (int)coil__result(deliver_cancellation(
        wait->task, wait->source != NULL ? *wait->source : wait->rc, wait->keeps_result));
}

COIL__HOT ssize_t coil__wait_park_for(struct coil__wait *wait, const struct coil__op *op)
{
    suspend(wait);
    return coil__result(deliver_cancellation(wait->task, op->result, true));
}

COIL__HOT int coil_yield(void)
{
    coil_task *task = coil__task_require("coil_yield");

    if (coil__task_refuses(task))
        return -ECANCELED;
    coil__loop_add_ready(task->future.loop, &task->step);
    coil__task_switch_out(task);
    return (int)deliver_cancellation(task, 0, false);
}

int coil__task_refuse_wait(void)
{
    const coil_task *task = coil__scheduler.current;

    if (task == NULL || !coil__task_is_cancelled(task))
        return 0;
    return (int)coil__result(coil_yield());
}

int coil__task_spend(const char *caller)
{
    coil__task_require(caller);
    if (COIL__LIKELY(coil__scheduler.budget > 0)) {
        coil__scheduler.budget--;
        return 0;
    }
    coil__loop_poll_next(coil__loop_of_thread);
    return coil_yield(); /* the task gets a new budget when it is resumed */
}

void coil__task_spend_bytes(size_t n)
{
    unsigned *budget = &coil__scheduler.budget;
    size_t operations = n / (COIL__BYTES_PER_BUDGET / COIL__BUDGET);

    *budget -= operations < *budget ? (unsigned)operations : *budget;
}

/* ---- parking ----------------------------------------------------------------------- */

static const struct coil__wait_class park_class = {.what = "park"};

int coil_park(void)
{
    return coil__wait_park(&coil__wait_in_room(&park_class)->wait);
}

int coil_unpark(coil_task *task, int rc)
{
    COIL__REQUIRE(task, "a task");
    struct coil__wait *wait;

    coil__loop_check_stack("coil_unpark");
    coil__future_check(&task->future, "coil_unpark");
    wait = task->wait;
    if (wait == NULL || wait->class != &park_class || !coil__wait_complete(wait, rc))
        return coil__failed(-EALREADY);
    return 0;
}

/* ---- sleeping ---------------------------------------------------------------------- */

static void wake_sleeper(struct coil__runnable *runnable)
{
    struct coil__sleeper *s =
        COIL__CONTAINER(runnable, struct coil__sleeper, timer.runnable);

    coil__wait_complete(&s->wait, 0);
}

int coil_sleep_until(int64_t deadline)
{
    static const struct coil__wait_class class = {
        .what = "sleep", .timer = COIL__WAIT_AT(struct coil__sleeper, timer)};
    struct coil__sleeper *s;
    coil_loop *loop;
    int rc;

    coil__task_require("coil_sleep_until");
    s = &coil__wait_in_room(&class)->sleeper;
    loop = s->wait.task->future.loop;
    coil__timer_init(&s->timer, wake_sleeper);
    coil__timer_start_reserved(loop, &s->timer, deadline);
    rc = coil__wait_park(&s->wait);
    coil__timer_stop(loop, &s->timer);
    return rc;
}

int coil_sleep(int64_t delay_ns)
{
    coil__task_require("coil_sleep");
    return delay_ns > 0 ? coil_sleep_until(coil_in(delay_ns)) : coil_yield();
}
