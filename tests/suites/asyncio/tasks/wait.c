/*
 * wait.c - wait(): its result, when it returns, and how it is cancelled.
 */
#include "tasks.h"

static coil_future *tasks[2];

static int inner(void *future)
{
    return trace_outcome("inner", coil_await(future));
}

static int outer(void *arg)
{
    (void)arg;
    return trace_outcome("outer", coil_wait(tasks, 2, COIL_WAIT_ALL, COIL_NEVER));
}

/*
 * If a task is cancelled in wait(), wait() returns at once, and the awaited tasks
 * continue.
 */
SCENARIO(cancelled_wait_leaves_its_tasks_running)
{
    coil_future *future = new_future();
    coil_task *first = start(inner, future), *second = start(sleeper, SECONDS(3));
    coil_task *task = start(outer, NULL);

    if (task == NULL)
        return -ENOMEM;
    tasks[0] = coil_task_future(first);
    tasks[1] = coil_task_future(second);
    coil_sleep(COIL_SEC(1));
    coil_task_cancel(task, NULL);
    trace("outer task: %s", outcome(coil_task_await(task)));
    trace("tasks: %s %s", state(tasks[0]), state(tasks[1]));
    coil_future_set(future, 1, NULL, NULL);
    coil_wait(tasks, 2, COIL_WAIT_ALL, COIL_NEVER);
    trace("tasks: %s %s", state(tasks[0]), state(tasks[1]));
    return 0;
}

static const struct mode {
    const char *name;
    coil_wait_mode mode;
} modes[] = {{"first", COIL_WAIT_FIRST},
             {"failure", COIL_WAIT_FIRST_EXCEPTION},
             {"all", COIL_WAIT_ALL}};

static int waiter(void *arg)
{
    const struct mode *mode = arg;

    trace("%s: %d done", mode->name, coil_wait(tasks, 2, mode->mode, COIL_NEVER));
    return 0;
}

/*
 * wait() counts a cancelled task as done: this ends a FIRST_COMPLETED wait, but not a
 * FIRST_EXCEPTION wait.
 */
SCENARIO(wait_counts_cancelled_tasks_as_done)
{
    coil_task *first = start(sleeper, SECONDS(3)), *second = start(sleeper, SECONDS(4));
    coil_future *waiters[3];

    if (second == NULL)
        return -ENOMEM;
    tasks[0] = coil_task_future(first);
    tasks[1] = coil_task_future(second);
    for (int i = 0; i < 3; i++) {
        coil_task *task = start(waiter, (void *)&modes[i]);

        if (task == NULL)
            return -ENOMEM;
        waiters[i] = coil_task_future(task);
    }
    coil_sleep(COIL_SEC(1));
    trace("cancel: %d", coil_task_cancel(second, NULL));
    coil_wait(waiters, 3, COIL_WAIT_ALL, COIL_NEVER);
    trace("tasks: %s %s", state(tasks[0]), state(tasks[1]));
    return 0;
}

static int wait_counts_what_ended_body(void *n)
{
    return turns((int)(intptr_t)n);
}

/*
 * Tasks that end after the first task, but before wait() continues, also count as done.
 */
SCENARIO(wait_counts_what_ended_before_it_woke)
{
    coil_task *one = start(wait_counts_what_ended_body, TURNS(1)),
              *two = start(wait_counts_what_ended_body, TURNS(2));
    coil_task *four = start(wait_counts_what_ended_body, TURNS(4)),
              *ticks = start(ticker, TURNS(5));
    coil_future *futures[3];
    int done;

    if (ticks == NULL)
        return -ENOMEM;
    futures[0] = coil_task_future(four);
    futures[1] = coil_task_future(two);
    futures[2] = coil_task_future(one);
    done = coil_wait(futures, 3, COIL_WAIT_FIRST, COIL_NEVER);
    trace("done %d: %s %s %s", done, state(futures[2]), state(futures[1]),
          state(futures[0]));
    return coil_task_await(ticks);
}

/*
 * If a task ends at the deadline of wait(), the order within the turn decides whether it
 * counts as done.
 */
SCENARIO(wait_deadline_meets_an_end)
{
    coil_task *early = start(sleeper, SECONDS(2)), *slow = start(sleeper, SECONDS(4));
    coil_future *futures[2];
    int done;

    if (slow == NULL)
        return -ENOMEM;
    futures[0] = coil_task_future(early);
    futures[1] = coil_task_future(slow);
    turns(1);
    done = coil_wait(futures, 2, COIL_WAIT_ALL, coil_in(COIL_SEC(2)));
    trace("done %d: %s %s", done, state(futures[0]), state(futures[1]));
    early = start(sleeper, SECONDS(2));
    if (early == NULL)
        return -ENOMEM;
    futures[0] = coil_task_future(early);
    done = coil_wait(futures, 2, COIL_WAIT_ALL, coil_in(COIL_SEC(2)));
    trace("done %d: %s %s", done, state(futures[0]), state(futures[1]));
    coil_wait(futures, 2, COIL_WAIT_ALL, COIL_NEVER);
    return 0;
}

static int wait_is_cancelled_body(void *arg)
{
    coil_future *future = arg;
    int rc = coil_wait(&future, 1, COIL_WAIT_ALL, COIL_NEVER);

    return trace_outcome("wait", rc < 0 ? rc : 0);
}

/*
 * A waiter can still be cancelled after the last task has ended, as long as wait() has
 * not returned.
 */
SCENARIO(wait_is_cancelled_as_its_task_ends)
{
    for (int delay = 0; delay < 3; delay++) {
        coil_future *future = new_future();
        coil_task *task = start(wait_is_cancelled_body, future);
        int rc;

        if (task == NULL)
            return -ENOMEM;
        turns(1);
        coil_future_set(future, 1, NULL, NULL);
        turns(delay);
        trace("after %d: task %s", delay, state(coil_task_future(task)));
        trace("cancel: %d", coil_task_cancel(task, NULL));
        rc = coil_task_await(task);
        trace("awaited: %s, future %s", outcome(rc), state(future));
    }
    return 0;
}

static int wait_for_failed(const char *name, coil_wait_mode mode, size_t n)
{
    coil_future *futures[2] = {NULL, NULL};
    int rc = 0, done;

    for (size_t i = 0; rc == 0 && i < n; i++)
        rc = coil_future_create(&futures[i]);
    if (rc == 0) {
        coil_future_set(futures[0], -EIO, NULL, NULL);
        done = coil_wait(futures, n, mode, coil_in(COIL_SEC(1)));
        trace("%s of %d: %d done", name, (int)n, done);
    }
    for (size_t i = 0; i < n; i++)
        coil_future_release(futures[i]);
    return rc;
}

/*
 * wait() retrieves a failure only with FIRST_EXCEPTION, and only while other futures are
 * pending. Any other failure is reported as never retrieved.
 */
SCENARIO(wait_looks_at_a_failure_only_where_that_decides)
{
    static const char *const names[] = {"all", "first", "failure"};
    int rc = 0;

    coil_set_exception_handler(trace_exception, NULL);
    for (int mode = COIL_WAIT_ALL; rc == 0 && mode <= COIL_WAIT_FIRST_EXCEPTION; mode++)
        for (size_t n = 1; rc == 0 && n <= 2; n++)
            rc = wait_for_failed(names[mode], (coil_wait_mode)mode, n);
    return rc;
}

static int wait_of_all_outlasts_body(void *arg)
{
    int rc = coil_sleep(COIL_SEC(1));

    (void)arg;
    if (rc < 0)
        return rc;
    trace("fails");
    return -EIO;
}

/*
 * With ALL_COMPLETED, wait() neither returns early because of a failure nor fails itself.
 */
SCENARIO(wait_of_all_outlasts_a_failure)
{
    coil_task *bad = start(wait_of_all_outlasts_body, NULL),
              *good = start(sleeper, SECONDS(2));

    if (good == NULL)
        return -ENOMEM;
    for (int i = 0; i < 2; i++) {
        coil_future *futures[] = {coil_task_future(bad), coil_task_future(good)};
        int done = coil_wait(futures, 2, COIL_WAIT_ALL, COIL_NEVER);

        trace("done %d, pending %d: %s %s", done, 2 - done, state(futures[0]),
              state(futures[1]));
    }
    return 0;
}

static const char *try_wait(coil_future *futures[], size_t n, int mode, int64_t deadline)
{
    return outcome(coil_wait(futures, n, (coil_wait_mode)mode, deadline));
}

/* wait() requires at least one future, and one of its three modes. */
SCENARIO(wait_of_nothing_is_refused)
{
    coil_future *future = new_future();

    if (future == NULL)
        return -ENOMEM;
    trace("nothing: %s", try_wait(NULL, 0, COIL_WAIT_ALL, COIL_NEVER));
    trace("nothing, until 1: %s", try_wait(NULL, 0, COIL_WAIT_ALL, coil_in(COIL_SEC(1))));
    trace("no such mode: %s", try_wait(&future, 1, -1, coil_in(COIL_SEC(1))));
    trace("until 1: %s", try_wait(&future, 1, COIL_WAIT_ALL, coil_in(COIL_SEC(1))));
    trace("the future: %s", state(future));
    return 0;
}

/*
 * wait() returns when the last of its tasks has ended. If all tasks are already done,
 * wait() takes turns of the loop, but no time.
 */
SCENARIO(wait_returns_when_all_are_done)
{
    coil_task *two = start(sleeper, SECONDS(2)), *three = start(sleeper, SECONDS(3));

    if (three == NULL)
        return -ENOMEM;
    for (int i = 0; i < 2; i++) {
        coil_future *futures[] = {coil_task_future(two), coil_task_future(three)};
        coil_task *ticks = start(ticker, TURNS(3));
        int done = coil_wait(futures, 2, COIL_WAIT_ALL, COIL_NEVER);

        if (done < 0 || ticks == NULL)
            return -ENOMEM;
        trace("done %d, pending %d", done, 2 - done);
        coil_task_await(ticks);
    }
    return 0;
}

static int wait_returns_with_a_failure_body(void *arg)
{
    (void)arg;
    trace("fails");
    return -EIO;
}

/* With FIRST_EXCEPTION, wait() returns at once if one of its tasks has already failed. */
SCENARIO(wait_returns_with_a_failure_that_was_there)
{
    coil_task *slow = start(sleeper, SECONDS(10)),
              *bad = start(wait_returns_with_a_failure_body, NULL), *ticks;
    coil_future *futures[3];
    int done;

    if (bad == NULL)
        return -ENOMEM;
    turns(2);
    ticks = start(ticker, TURNS(3));
    if (ticks == NULL)
        return -ENOMEM;
    futures[0] = coil_task_future(slow);
    futures[1] = coil_task_future(bad);
    futures[2] = coil_task_future(ticks);
    done = coil_wait(futures, 2, COIL_WAIT_FIRST_EXCEPTION, COIL_NEVER);
    trace("done %d: slow %s, bad %s", done, state(futures[0]), state(futures[1]));
    coil_wait(futures, 3, COIL_WAIT_ALL, COIL_NEVER);
    trace("slow %s", state(futures[0]));
    return 0;
}

/*
 * With FIRST_COMPLETED, wait() returns when one task is done. The other task continues
 * and is not cancelled.
 */
SCENARIO(wait_returns_with_the_first)
{
    coil_task *slow = start(sleeper, SECONDS(10)), *quick = start(sleeper, SECONDS(1));
    coil_future *futures[2];
    int done;

    if (quick == NULL)
        return -ENOMEM;
    futures[0] = coil_task_future(slow);
    futures[1] = coil_task_future(quick);
    done = coil_wait(futures, 2, COIL_WAIT_FIRST, COIL_NEVER);
    trace("done %d: slow %s, quick %s", done, state(futures[0]), state(futures[1]));
    done = coil_wait(futures, 2, COIL_WAIT_ALL, COIL_NEVER);
    trace("done %d: slow %s, quick %s", done, state(futures[0]), state(futures[1]));
    return 0;
}

static void cancel(void *future)
{
    coil_future_cancel(future, NULL);
}

/*
 * With FIRST_EXCEPTION, wait() ignores results and cancellations, and returns when a task
 * fails.
 */
SCENARIO(wait_returns_with_the_first_failure)
{
    coil_task *slow = start(sleeper, SECONDS(10)), *quick = start(sleeper, SECONDS(1));
    coil_task *bad = start(failer, SECONDS(3));
    coil_future *future = new_future();
    int rc, done;

    if (future == NULL)
        return -ENOMEM;
    coil_future *futures[] = {coil_task_future(slow), coil_task_future(quick),
                              coil_task_future(bad), future};
    rc = coil_call_later(COIL_SEC(2), cancel, future, NULL);
    if (rc < 0)
        return rc;
    done = coil_wait(futures, 4, COIL_WAIT_FIRST_EXCEPTION, COIL_NEVER);
    trace("done %d: %s %s %s %s", done, state(futures[0]), state(futures[1]),
          state(futures[2]), state(future));
    coil_task_await(slow);
    return 0;
}

/*
 * When its deadline passes, wait() returns without an error and does not cancel any task.
 */
SCENARIO(wait_stops_at_its_deadline)
{
    static const int seconds[] = {1, 4, 4};
    coil_future *futures[3];
    int done, cancelled = 0;

    for (int i = 0; i < 3; i++) {
        coil_task *task = start(sleeper, SECONDS(seconds[i]));

        if (task == NULL)
            return -ENOMEM;
        futures[i] = coil_task_future(task);
    }
    done = coil_wait(futures, 3, COIL_WAIT_ALL, coil_in(COIL_SEC(2)));
    trace("done %d, pending %d", done, 3 - done);
    for (int i = 0; i < 3; i++)
        cancelled += coil_future_cancelled(futures[i]);
    trace("cancelled: %d", cancelled);
    done = coil_wait(futures, 3, COIL_WAIT_ALL, coil_in(COIL_SEC(5)));
    trace("done %d, pending %d", done, 3 - done);
    return 0;
}

static int wait_takes_results_body(void *arg)
{
    int delay = (int)(intptr_t)arg, rc = coil_sleep(COIL_SEC(delay));

    return rc < 0 ? rc : delay;
}

/*
 * Print the futures that are done, and remove them from the array. Returns the number of
 * remaining futures.
 */
static size_t take_done(coil_future *futures[], size_t n)
{
    char text[64] = "";
    size_t left = 0;

    for (size_t i = 0; i < n; i++)
        if (!coil_future_done(futures[i]))
            futures[left++] = futures[i];
        else
            sprintf(text + strlen(text), " %s", state(futures[i]));
    trace("done:%s", text);
    return left;
}

/*
 * If wait() with FIRST_COMPLETED is repeated with the remaining tasks, it returns the
 * tasks in the order in which they end.
 */
SCENARIO(wait_takes_results_as_they_come)
{
    static const int delays[] = {3, 1, 2, 1};
    coil_future *futures[4];
    size_t n = 4;

    for (int i = 0; i < 4; i++) {
        coil_task *task = start(wait_takes_results_body, (void *)(intptr_t)delays[i]);

        if (task == NULL)
            return -ENOMEM;
        futures[i] = coil_task_future(task);
    }
    while (n > 0) {
        int rc = coil_wait(futures, n, COIL_WAIT_FIRST, COIL_NEVER);

        if (rc < 0)
            return rc;
        n = take_done(futures, n);
    }
    return 0;
}

static int wait_takes_ten_body(void *value)
{
    return (int)(intptr_t)value;
}

/* Waiting for ten tasks that return at once takes as many turns as waiting for one. */
SCENARIO(wait_takes_ten_tasks)
{
    coil_future *futures[10];
    coil_task *ticks;
    int done, sum = 0;

    for (int i = 0; i < 10; i++) {
        coil_task *task = start(wait_takes_ten_body, (void *)(intptr_t)i);

        if (task == NULL)
            return -ENOMEM;
        futures[i] = coil_task_future(task);
    }
    ticks = start(ticker, TURNS(4));
    if (ticks == NULL)
        return -ENOMEM;
    done = coil_wait(futures, 10, COIL_WAIT_ALL, COIL_NEVER);
    trace("done %d, pending %d", done, 10 - done);
    for (int i = 0; i < 10; i++)
        sum += coil_future_result(futures[i]);
    trace("sum %d", sum);
    return coil_task_await(ticks);
}

static int yielder(void *arg)
{
    (void)arg;
    return turns(1);
}

/*
 * If its deadline is the current time, wait() does not wait for the tasks, and returns in
 * the turn after its timer has fired.
 */
SCENARIO(wait_until_now_lets_turns_pass)
{
    coil_task *first = start(yielder, NULL), *second = start(sleeper, SECONDS(1));
    coil_future *futures[2];

    if (second == NULL)
        return -ENOMEM;
    futures[0] = coil_task_future(first);
    futures[1] = coil_task_future(second);
    for (int seconds = 0; seconds >= -1; seconds--) {
        coil_task *ticks = start(ticker, TURNS(4));
        int done = coil_wait(futures, 2, COIL_WAIT_ALL, coil_in(COIL_SEC(seconds)));

        if (done < 0 || ticks == NULL)
            return -ENOMEM;
        trace("done %d, pending %d", done, 2 - done);
        coil_task_await(ticks);
    }
    coil_wait(futures, 2, COIL_WAIT_ALL, COIL_NEVER);
    return 0;
}
