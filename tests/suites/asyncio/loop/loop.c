/* loop.c - running, stopping and closing a loop. */
#include "calls.h"

static coil_handle *ready;

static int close_with_calls(coil_loop *loop)
{
    int rc;

    later(4, stop, NULL);
    rc = run_loop(loop);
    trace("stopped at %d", (int)(coil_now() / COIL_SEC(1)));
    if (rc == 0)
        rc = coil_call_soon(trace_text, "never printed", &ready);
    later(1, trace_text, "never printed either");
    return rc;
}

static int begin_anew(coil_loop *loop)
{
    later(1, trace_text, "another loop");
    later(2, stop, NULL);
    return run_loop(loop);
}

/*
 * Callbacks that are ready or scheduled when the loop closes never run, not even in the
 * next loop.
 */
PLAIN_SCENARIO(loop_closed_calls_nothing_any_more)
{
    int rc = call_with_loop(close_with_calls);

    if (ready != NULL)
        trace("closed: %d", coil_handle_cancelled(ready));
    coil_handle_release(ready);
    return rc < 0 ? rc : call_with_loop(begin_anew);
}

static void soon_again(void *text)
{
    soon(trace_text, text);
}

/*
 * A loop that is stopped before it runs takes one turn, in which only the ready callbacks
 * run.
 */
LOOP_SCENARIO(loop_stopped_before_it_runs_takes_one_turn)
{
    int rc;

    soon(soon_again, "in the second turn");
    soon(trace_text, "in the first turn");
    later(1, trace_text, "never printed");
    coil_loop_stop(loop);
    rc = run_loop(loop);
    trace("returned");
    if (rc < 0)
        return rc;
    coil_loop_stop(loop);
    rc = run_loop(loop);
    trace("returned again, at %d", (int)(coil_now() / COIL_SEC(1)));
    return rc;
}

static void stop_and_go_on(void *loop)
{
    trace("stops, twice");
    coil_loop_stop(loop);
    coil_loop_stop(loop);
    soon(trace_text, "in the next run");
    soon(stop, NULL);
}

/*
 * A stopped loop completes its current turn. Callbacks that became ready in that turn
 * wait until the loop runs again.
 */
LOOP_SCENARIO(loop_stopped_finishes_its_turn)
{
    int rc;

    soon(stop_and_go_on, loop);
    soon(trace_text, "still in this turn");
    rc = run_loop(loop);
    trace("returned");
    if (rc == 0)
        rc = run_loop(loop);
    trace("returned again");
    return rc;
}

static void run_again(void *loop)
{
    trace("running: %d", coil_loop_running(loop));
    if (coil_loop_run_forever(loop) == -EBUSY)
        trace("refused");
    soon(trace_text, "goes on");
    later(1, stop, NULL);
}

/*
 * A loop cannot be run from its own callbacks. Such an attempt fails, and the loop
 * continues.
 */
LOOP_SCENARIO(loop_that_runs_cannot_be_run)
{
    int rc;

    trace("running: %d", coil_loop_running(loop));
    soon(run_again, loop);
    rc = run_loop(loop);
    trace("running: %d", coil_loop_running(loop));
    return rc;
}

/* While a loop runs, its thread cannot run another loop. */
SCENARIO(loop_within_a_loop_is_refused)
{
    coil_loop *other;
    int rc = coil_loop_create(NULL, &other);

    if (rc == -EBUSY)
        trace("refused");
    rc = coil_sleep(COIL_SEC(1));
    trace("the first goes on");
    return rc;
}

static int sleep_for(void *seconds)
{
    int rc = coil_sleep(COIL_SEC((intptr_t)seconds));

    trace("slept %d", (int)(intptr_t)seconds);
    return rc;
}

/*
 * If stop() ends a run_until_complete(), the loop is not stopped again when the awaited
 * task ends in a later run.
 */
LOOP_SCENARIO(run_until_complete_cut_short_leaves_no_callback)
{
    coil_task *one = start(sleep_for, (void *)(intptr_t)1);
    coil_task *two = start(sleep_for, (void *)(intptr_t)2);

    (void)loop;
    if (two == NULL || soon(stop, NULL) == NULL)
        return -ENOMEM;
    if (coil_run_until_complete(coil_task_future(one)) == -EDEADLK)
        trace("cut short: %s", state(coil_task_future(one)));
    coil_run_until_complete(coil_task_future(two));
    trace("the first: %s", state(coil_task_future(one)));
    return 0;
}

static coil_future *run_until_complete_leaves_future;

static void inner(void *unused)
{
    (void)unused;
    trace("in the last turn");
    soon(trace_text, "in another run");
}

static void set_future(void *unused)
{
    coil_future_set(run_until_complete_leaves_future, 1, NULL, NULL);
    soon(inner, unused);
    trace("set");
}

/*
 * Callbacks that are scheduled when the awaited future is set still run before
 * run_until_complete() returns. If these callbacks schedule further callbacks, those wait
 * for the next run.
 */
LOOP_SCENARIO(run_until_complete_leaves_ready_what_its_last_turn_made)
{
    run_until_complete_leaves_future = new_future();
    if (run_until_complete_leaves_future == NULL || later(2, set_future, NULL) == NULL)
        return -ENOMEM;
    coil_run_until_complete(run_until_complete_leaves_future);
    trace("complete");
    if (soon(stop, NULL) == NULL)
        return -ENOMEM;
    return run_loop(loop);
}

static int fail(void *unused)
{
    (void)unused;
    return -EIO;
}

static void last(void *unused)
{
    trace("reached");
    stop(unused);
}

static void call_last(void *unused)
{
    soon(last, unused);
}

/*
 * If a task fails in its first step, run_until_complete() returns the failure, and the
 * next run of the loop is not stopped.
 */
LOOP_SCENARIO(run_until_complete_of_a_failure_leaves_no_stop)
{
    coil_task *task = start(fail, NULL);

    if (task == NULL)
        return -ENOMEM;
    trace("run: %s", outcome(coil_run_until_complete(coil_task_future(task))));
    if (soon(call_last, NULL) == NULL)
        return -ENOMEM;
    return run_loop(loop);
}

/*
 * run_until_complete() with a completed future takes one turn, in which the ready
 * callbacks run.
 */
LOOP_SCENARIO(run_until_complete_of_what_is_done_takes_a_turn)
{
    coil_future *future = new_future();

    (void)loop;
    if (future == NULL)
        return -ENOMEM;
    coil_future_set(future, 7, NULL, NULL);
    soon(soon_again, "in the next run");
    soon(trace_text, "in the first run");
    trace("first: %d", coil_run_until_complete(future));
    trace("second: %d", coil_run_until_complete(future));
    return 0;
}

static int body(void *loop)
{
    int rc;

    coil_loop_stop(loop);
    trace("still runs");
    rc = coil_yield();
    trace("runs again");
    if (rc == 0)
        rc = coil_sleep(COIL_SEC(1));
    return rc < 0 ? rc : 5;
}

/*
 * A task that stops its loop continues until it waits. The task resumes when the loop
 * runs again.
 */
LOOP_SCENARIO(stop_from_a_task_lets_it_go_on_until_it_waits)
{
    coil_task *task = start(body, loop);

    if (task == NULL)
        return -ENOMEM;
    if (coil_run_until_complete(coil_task_future(task)) == -EDEADLK)
        trace("stopped: %s", state(coil_task_future(task)));
    trace("ends: %d", coil_run_until_complete(coil_task_future(task)));
    return 0;
}
