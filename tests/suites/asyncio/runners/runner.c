/* runner.c - run(), runners, and the effect of SIGINT. */
#include "runners.h"

#include <signal.h>

static void interrupt(void *arg)
{
    (void)arg;
    raise(SIGINT);
}

static int interrupt_cancels_main_task(void *arg)
{
    coil_future *future = new_future();
    int rc;

    (void)arg;
    if (future == NULL || coil_call_later(COIL_SEC(2), interrupt, NULL, NULL) < 0)
        return -ENOMEM;
    rc = coil_await(future);
    if (rc == -ECANCELED)
        trace("main is cancelled, future: %s", state(future));
    return rc;
}

/* An interrupt cancels the main task, and the future that it awaits. */
PLAIN_SCENARIO(interrupt_cancels_what_main_awaits)
{
    signal(SIGINT, SIG_DFL);
    trace("run: %s", outcome(run(interrupt_cancels_main_task, NULL)));
    return 0;
}

static int interrupt_is_taken_main_task(void *interrupted)
{
    int rc = 0;

    if (interrupted != NULL)
        rc = coil_call_later(COIL_SEC(1), interrupt, NULL, NULL);
    if (rc == 0)
        rc = trace_outcome("main", coil_sleep(COIL_SEC(2)));
    return rc < 0 ? rc : 3;
}

/* Each run of a runner may be interrupted. Without an interrupt, a run ends as usual. */
PLAIN_SCENARIO(interrupt_is_taken_anew_in_each_run)
{
    coil_runner *runner;
    int rc = create_runner(&runner);

    if (rc < 0)
        return rc;
    signal(SIGINT, SIG_DFL);
    trace("run: %s",
          outcome(coil_runner_run(runner, interrupt_is_taken_main_task, "yes")));
    trace("run: %s",
          outcome(coil_runner_run(runner, interrupt_is_taken_main_task, "yes")));
    trace("run: %s",
          outcome(coil_runner_run(runner, interrupt_is_taken_main_task, NULL)));
    coil_runner_destroy(runner);
    return 0;
}

static int canceller(void *task)
{
    int rc = coil_sleep(COIL_SEC(1));

    if (rc < 0)
        return rc;
    trace("cancel: %d", coil_task_cancel(task, NULL));
    raise(SIGINT);
    return 0;
}

static int interrupt_of_a_main_main_task(void *arg)
{
    (void)arg;
    if (start(canceller, coil_task_current()) == NULL)
        return -ENOMEM;
    return trace_outcome("main", coil_sleep(COIL_SEC(10)));
}

/*
 * If another request has also cancelled the main task, the run ends with a cancellation
 * instead of an interrupt.
 */
PLAIN_SCENARIO(interrupt_of_a_main_that_is_cancelled_too)
{
    signal(SIGINT, SIG_DFL);
    trace("run: %s", outcome(run(interrupt_of_a_main_main_task, NULL)));
    return 0;
}

static int interrupt_reaches_main_task(void *arg)
{
    int rc = coil_call_soon(interrupt, NULL, NULL);

    (void)arg;
    while (rc == 0)
        rc = coil_yield();
    if (rc == -ECANCELED)
        trace("main is cancelled");
    return rc;
}

/* An interrupt cancels a main task that only yields and never waits. */
PLAIN_SCENARIO(interrupt_reaches_a_main_that_yields)
{
    signal(SIGINT, SIG_DFL);
    trace("run: %s", outcome(run(interrupt_reaches_main_task, NULL)));
    return 0;
}

static int interrupt_that_main_main_task(void *arg)
{
    int rc = coil_call_later(COIL_SEC(1), interrupt, NULL, NULL);

    (void)arg;
    if (rc < 0)
        return rc;
    trace_outcome("main", coil_sleep(COIL_SEC(10)));
    coil_cancel_caught();
    rc = coil_sleep(COIL_SEC(2));
    trace("main has cleaned up, requests: %d", coil_task_cancelling(coil_task_current()));
    return rc < 0 ? rc : 7;
}

/*
 * If the main task catches the cancellation that an interrupt caused, run() returns the
 * task's result.
 */
PLAIN_SCENARIO(interrupt_that_main_catches_is_its_affair)
{
    signal(SIGINT, SIG_DFL);
    trace("run: %s", outcome(run(interrupt_that_main_main_task, NULL)));
    return 0;
}

static int run_cancels_leftover(void *arg)
{
    int seconds = *(int *)arg, rc;

    trace_outcome("leftover", coil_sleep(COIL_SEC(10)));
    coil_cancel_caught();
    rc = coil_sleep(COIL_SEC(seconds));
    trace("leftover of %d s has cleaned up", seconds);
    return rc;
}

static int run_cancels_main_task(void *arg)
{
    static int one = 1, three = 3;
    int rc;

    (void)arg;
    if (start(run_cancels_leftover, &one) == NULL ||
        start(run_cancels_leftover, &three) == NULL)
        return -ENOMEM;
    rc = coil_sleep(COIL_SEC(2));
    trace("main ends");
    return rc < 0 ? rc : 123;
}

/* Tasks that have not ended when the main task ends are cancelled and awaited. */
PLAIN_SCENARIO(run_cancels_what_main_leaves_behind)
{
    trace("run: %s", outcome(run(run_cancels_main_task, NULL)));
    return 0;
}

static int run_fails_main_task(void *error)
{
    int rc = coil_sleep(COIL_SEC(1));

    trace("main fails");
    return rc < 0 ? rc : *(int *)error;
}

/* run() fails with the failure of the main task. */
PLAIN_SCENARIO(run_fails_with_mains_failure)
{
    int io = -EIO, perm = -EPERM;

    trace("run: %s", outcome(run(run_fails_main_task, &io)));
    trace("run: %s", outcome(run(run_fails_main_task, &perm)));
    return 0;
}

static void again(void *arg)
{
    int *count = arg;

    trace("call %d", ++*count);
    coil_call_soon(again, count, NULL);
}

static int run_lets_callbacks_main_task(void *arg)
{
    static int count;
    int rc = coil_call_soon(again, &count, NULL);

    (void)arg;
    if (rc == 0)
        rc = coil_yield();
    return rc < 0 ? rc : 123;
}

/*
 * If callbacks schedule each other endlessly, they are called only for a few more turns
 * after the main task has ended.
 */
PLAIN_SCENARIO(run_lets_callbacks_go_on_for_a_few_turns)
{
    trace("run: %s", outcome(run(run_lets_callbacks_main_task, NULL)));
    return 0;
}

static int later(void *arg)
{
    int rc = 0;

    (void)arg;
    for (int i = 1; i < 6 && rc == 0; i++) {
        rc = coil_yield();
        trace("later: %d", i);
    }
    return rc;
}

static int run_lets_what_is_spawned_leftover(void *arg)
{
    int rc = coil_sleep(COIL_SEC(10));

    (void)arg;
    trace("leftover spawns");
    return start(later, NULL) == NULL ? -ENOMEM : rc;
}

static int run_lets_what_is_spawned_main_task(void *arg)
{
    int rc;

    (void)arg;
    if (start(run_lets_what_is_spawned_leftover, NULL) == NULL)
        return -ENOMEM;
    rc = coil_sleep(COIL_SEC(1));
    return rc < 0 ? rc : 123;
}

/*
 * When a leftover task is cancelled at the end, it may spawn another task, which is not
 * cancelled but runs only for six turns.
 */
PLAIN_SCENARIO(run_lets_what_is_spawned_at_the_end_go_on_for_six_turns)
{
    trace("run: %s", outcome(run(run_lets_what_is_spawned_main_task, NULL)));
    return 0;
}

static int has_loop(void)
{
    return coil_loop_current() != NULL;
}

static int run_makes_main_task(void *arg)
{
    int rc;

    (void)arg;
    trace("main begins, loop: %d", has_loop());
    rc = coil_sleep(COIL_SEC(2));
    trace("main ends");
    return rc;
}

/* Each run creates a new loop with a new clock. A loop exists only during a run. */
PLAIN_SCENARIO(run_makes_a_loop_of_its_own_each_time)
{
    int rc = 0;

    for (int i = 0; i < 2 && rc == 0; i++) {
        trace("loop: %d", has_loop());
        rc = run(run_makes_main_task, NULL);
    }
    trace("loop: %d", has_loop());
    return rc;
}

static int run_of_a_main_main_task(void *arg)
{
    int rc;

    (void)arg;
    coil_task_cancel(coil_task_current(), NULL);
    trace("main waits");
    rc = coil_sleep(COIL_SEC(1));
    if (rc == 0)
        trace("never printed");
    return rc;
}

/*
 * If the main task cancels itself, run() ends with a cancellation, not with an interrupt.
 */
PLAIN_SCENARIO(run_of_a_main_that_cancels_itself)
{
    trace("run: %s", outcome(run(run_of_a_main_main_task, NULL)));
    return 0;
}

static int run_reports_leftover(void *arg)
{
    (void)arg;
    if (coil_sleep(COIL_SEC(10)) != -ECANCELED)
        return 0;
    trace("leftover fails");
    return -EIO;
}

static char reports[256];

static void handler(const coil_exception *exception, void *arg)
{
    size_t used = strlen(reports);

    (void)arg;
    if (exception->task != NULL)
        snprintf(reports + used, sizeof reports - used, "%s%s of %s",
                 used > 0 ? ", " : "", outcome(exception->rc),
                 coil_task_name(exception->task));
}

static int run_reports_main_task(void *arg)
{
    int rc;

    (void)arg;
    coil_set_exception_handler(handler, NULL);
    if (start_with(run_reports_leftover, NULL, &(coil_spawn_opts){.name = "leftover"}) ==
        NULL)
        return -ENOMEM;
    rc = coil_sleep(COIL_SEC(1));
    return rc < 0 ? rc : 123;
}

/*
 * If a leftover task fails when it is cancelled at the end, its failure is reported, but
 * run() returns the result of the main task.
 */
PLAIN_SCENARIO(run_reports_what_fails_as_it_is_cancelled)
{
    trace("run: %s", outcome(run(run_reports_main_task, NULL)));
    trace("reported: %s", reports);
    return 0;
}

static int run_returns_main_task(void *arg)
{
    int rc;

    (void)arg;
    rc = coil_sleep(COIL_SEC(1));
    trace("main ends");
    return rc < 0 ? rc : 42;
}

/* run() returns the result of the main task. */
PLAIN_SCENARIO(run_returns_what_main_returned)
{
    trace("run: %s", outcome(run(run_returns_main_task, NULL)));
    return 0;
}

static int fail(void *arg)
{
    int rc;

    (void)arg;
    rc = coil_sleep(COIL_SEC(1));
    trace("fails");
    return rc < 0 ? rc : -EIO;
}

static int cancel(void *arg)
{
    (void)arg;
    coil_task_cancel(coil_task_current(), NULL);
    return coil_sleep(COIL_SEC(1));
}

static int work(void *arg)
{
    int rc;

    (void)arg;
    rc = coil_sleep(COIL_SEC(1));
    return rc < 0 ? rc : 5;
}

/* After a failed or cancelled run, the runner can run again. */
PLAIN_SCENARIO(runner_goes_on_after_a_failed_run)
{
    coil_runner *runner;
    int rc = create_runner(&runner);

    if (rc < 0)
        return rc;
    trace("run: %s", outcome(coil_runner_run(runner, fail, NULL)));
    trace("run: %s", outcome(coil_runner_run(runner, cancel, NULL)));
    trace("run: %s", outcome(coil_runner_run(runner, work, NULL)));
    coil_runner_destroy(runner);
    return 0;
}

/* Closing a runner that never ran closes its loop. A second close has no effect. */
PLAIN_SCENARIO(runner_is_closed_twice)
{
    coil_runner *runner;
    int rc = create_runner(&runner);

    if (rc < 0)
        return rc;
    trace("loop: %d", coil_runner_loop(runner) != NULL);
    coil_runner_close(runner);
    trace("closed: %d", coil_runner_loop(runner) == NULL);
    coil_runner_close(runner);
    trace("closed again: %d", coil_loop_current() == NULL);
    coil_runner_destroy(runner);
    return 0;
}

static coil_var color = COIL_VAR_INIT("color", (void *)"none");

static int swap(void *value)
{
    char *old = coil_var_get(&color);
    int rc = coil_sleep(COIL_SEC(1));

    if (rc == 0)
        rc = coil_var_set(&color, value, NULL);
    trace("was %s, is %s", old, (char *)coil_var_get(&color));
    return rc;
}

static int run_three(void)
{
    coil_runner *runner;
    int rc = create_runner(&runner);

    if (rc < 0)
        return rc;
    rc = coil_runner_run(runner, swap, "red");
    if (rc == 0)
        rc = coil_runner_run(runner, swap, "green");
    trace("caller: %s", (char *)coil_var_get(&color));
    if (rc == 0)
        rc = coil_runner_run(runner, swap, "blue");
    coil_runner_destroy(runner);
    return rc;
}

/*
 * A context variable that is set during one run of a runner is visible in the next run,
 * but not in the caller.
 */
PLAIN_SCENARIO(runner_keeps_its_context)
{
    coil_var_token token;
    int rc = coil_var_set(&color, "white", &token);

    if (rc < 0)
        return rc;
    rc = run_three();
    coil_var_reset(&color, &token);
    return rc;
}

static int runner_keeps_tasks_leftover(void *arg)
{
    int rc = 0;

    (void)arg;
    for (int i = 0; i < 9 && rc == 0; i++) {
        trace("leftover: %d", i);
        rc = coil_sleep(COIL_SEC(3));
    }
    if (rc == -ECANCELED)
        trace("leftover is cancelled");
    return rc;
}

static int begin(void *arg)
{
    int rc;

    (void)arg;
    if (start(runner_keeps_tasks_leftover, NULL) == NULL)
        return -ENOMEM;
    rc = coil_sleep(COIL_SEC(2));
    trace("first run ends");
    return rc;
}

static int go_on(void *arg)
{
    (void)arg;
    trace("second run");
    return coil_sleep(COIL_SEC(5));
}

/*
 * Tasks that have not ended at the end of a run continue in the next run, and are
 * cancelled when the runner is closed.
 */
PLAIN_SCENARIO(runner_keeps_tasks_between_runs)
{
    coil_runner *runner;
    int rc = create_runner(&runner);

    if (rc < 0)
        return rc;
    rc = coil_runner_run(runner, begin, NULL);
    trace("between");
    if (rc == 0)
        rc = coil_runner_run(runner, go_on, NULL);
    trace("closing");
    coil_runner_destroy(runner);
    trace("closed");
    return rc;
}

static int trace_text(void *text)
{
    trace("%s", (char *)text);
    return coil_sleep(COIL_SEC(1));
}

/*
 * A runner runs several main tasks one after another on the same loop, without resetting
 * its clock.
 */
PLAIN_SCENARIO(runner_runs_again_and_again)
{
    coil_runner *runner;
    coil_loop *loop;
    int rc = create_runner(&runner);

    if (rc < 0)
        return rc;
    loop = coil_runner_loop(runner);
    rc = coil_runner_run(runner, trace_text, "first");
    if (rc == 0)
        rc = coil_runner_run(runner, trace_text, "second");
    trace("same loop: %d", coil_runner_loop(runner) == loop);
    if (rc == 0)
        rc = coil_runner_run(runner, trace_text, "third");
    coil_runner_close(runner);
    trace("closed: %d", coil_runner_loop(runner) == NULL);
    coil_runner_destroy(runner);
    return rc;
}

/* Running a closed runner is an error, and the main task does not begin. */
PLAIN_SCENARIO(runner_that_was_closed_runs_no_more)
{
    coil_runner *runner;
    int rc = create_runner(&runner);

    if (rc < 0)
        return rc;
    rc = coil_runner_run(runner, trace_text, "before");
    coil_runner_close(runner);
    if (coil_runner_run(runner, trace_text, "after") == -ESHUTDOWN)
        trace("refused");
    trace("at the end");
    coil_runner_destroy(runner);
    return rc;
}
