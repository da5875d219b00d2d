/*
 * exception_handler.c - debug mode, and what is reported to a loop's exception handler.
 */
#include "../scenario.h"

static int debug_mode_worker(void *name)
{
    for (int i = 0; i < 3; i++) {
        trace("%s: debug %d", (const char *)name, coil_debug());
        coil_yield();
    }
    return 0;
}

static void trace_mode(void *arg)
{
    (void)arg;
    trace("callback: debug %d", coil_debug());
}

static int run_both(void)
{
    coil_task *one, *two;
    int rc = coil_call_soon(trace_mode, NULL, NULL);

    if (rc == 0)
        rc = coil_spawn(debug_mode_worker, "one", NULL, &one);
    if (rc < 0)
        return rc;
    rc = coil_spawn(debug_mode_worker, "two", NULL, &two);
    if (rc == 0) {
        rc = coil_gather((coil_future *[]){coil_task_future(one), coil_task_future(two)},
                         2, 0, NULL);
        coil_task_release(two);
    }
    coil_task_release(one);
    return rc;
}

/*
 * Debug mode is a property of the loop, and is off at first. Tasks and callbacks see the
 * current mode.
 */
SCENARIO(debug_mode_belongs_to_the_loop)
{
    static const bool modes[] = {false, true, false};

    for (int i = 0; i < 3; i++) {
        int rc;

        trace("was %d", coil_debug());
        coil_set_debug(modes[i]);
        trace("is %d", coil_debug());
        rc = run_both();
        if (rc == 0)
            rc = coil_sleep(COIL_SEC(1));
        if (rc < 0)
            return rc;
    }
    return 0;
}

static void report(const coil_exception *exception, void *arg)
{
    char name[32];

    (void)arg;
    if (sscanf(exception->message, "Executing task '%31[^']'", name) == 1)
        trace("reported: a step of %s", name);
    else if (strncmp(exception->message, "Executing ", strlen("Executing ")) == 0)
        trace("reported: a callback");
}

static int debug_times_worker(void *arg)
{
    (void)arg;
    trace("worker begins");
    coil_yield();
    trace("worker goes on");
    coil_sleep(COIL_SEC(2));
    trace("worker ends");
    return 0;
}

static void trace_text(void *text)
{
    trace("%s", (const char *)text);
}

/*
 * In debug mode, each slow step of a task and each slow callback is reported with its
 * kind and name after it has ended. The limit is 0 in this scenario, so all of them are
 * slow.
 */
SCENARIO(debug_times_each_step_and_callback)
{
    coil_task *task = NULL;
    int rc;

    coil_set_exception_handler(report, NULL);
    coil_set_debug(true);
    coil_yield();
    coil_set_slow_callback_ns(0);
    rc =
        coil_spawn(debug_times_worker, NULL, &(coil_spawn_opts){.name = "worker"}, &task);
    if (rc == 0)
        rc = coil_call_soon(trace_text, "called soon", NULL);
    if (rc == 0)
        rc = coil_call_later(COIL_SEC(1), trace_text, "called later", NULL);
    if (rc == 0)
        coil_task_await(task);
    coil_task_release(task);
    if (rc < 0)
        return rc;
    coil_set_slow_callback_ns(COIL_SEC(1000));
    coil_yield();
    trace("what is fast is not reported");
    coil_sleep(COIL_SEC(1));
    coil_set_slow_callback_ns(0);
    coil_set_debug(false);
    coil_yield();
    trace("nothing is reported any more");
    return coil_sleep(COIL_SEC(1));
}

static void fail(void *name)
{
    bool none = coil_get_exception_handler(NULL) == NULL;

    trace("%s: %s", (char *)name, none ? "none" : "some");
    coil_call_exception_handler(&(coil_exception){.message = name});
}

static void stop(void *arg)
{
    (void)arg;
    coil_loop_stop(coil_loop_current());
}

/* An exception handler belongs to one loop. The next loop starts without a handler. */
PLAIN_SCENARIO(exception_handler_belongs_to_its_loop)
{
    static char names[][8] = {"first", "second", "third"};

    for (int i = 0; i < 3; i++) {
        coil_loop *loop;
        int rc = coil_loop_create(&(coil_loop_opts){.virtual_clock = true}, &loop);

        if (rc < 0)
            return rc;
        if (i != 1)
            coil_set_exception_handler(trace_exception, NULL);
        rc = coil_call_soon(fail, names[i], NULL);
        if (rc == 0)
            rc = coil_call_soon(stop, NULL, NULL);
        if (rc == 0)
            rc = coil_loop_run_forever(loop);
        coil_loop_close(loop);
        if (rc < 0)
            return rc;
    }
    return 0;
}

static void other(const coil_exception *exception, void *arg)
{
    (void)arg;
    trace("other: %s", exception->message);
}

static const char *exception_handler_is_asked_name(coil_exception_handler handler)
{
    return handler == NULL              ? "none"
           : handler == trace_exception ? "trace_exception"
                                        : "other";
}

/*
 * A new loop uses the default exception handler. A handler that is set on the loop is
 * called until it is replaced or removed.
 */
SCENARIO(exception_handler_is_asked_for_and_replaced)
{
    coil_exception_handler handlers[] = {NULL, trace_exception, other, NULL,
                                         trace_exception};

    for (int i = 0; i < 5; i++) {
        coil_set_exception_handler(handlers[i], NULL);
        trace("is: %s",
              exception_handler_is_asked_name(coil_get_exception_handler(NULL)));
        if (handlers[i] != NULL)
            coil_call_exception_handler(&(coil_exception){.message = "hello"});
    }
    return 0;
}

static void trace_handler_call(void *where)
{
    trace("%s: before", (const char *)where);
    coil_call_exception_handler(&(coil_exception){.message = "hello", .rc = -EIO});
    trace("%s: after", (const char *)where);
}

/*
 * If a task or callback reports an error, the handler is called at once, without a turn
 * of the loop.
 */
SCENARIO(exception_handler_is_called_at_once)
{
    int rc;

    coil_set_exception_handler(trace_exception, NULL);
    rc = coil_call_soon(trace_handler_call, "callback", NULL);
    if (rc < 0)
        return rc;
    trace_handler_call("task");
    turns(1);
    rc = coil_call_later(COIL_SEC(1), trace_handler_call, "timer", NULL);
    return rc < 0 ? rc : coil_sleep(COIL_SEC(2));
}

static void
exception_handler_is_told_of_leftovers_handler(const coil_exception *exception, void *arg)
{
    (void)arg;
    trace("%s: %s", coil_task_name(exception->task), outcome(exception->rc));
}

static int leftover(void *seconds)
{
    int rc = coil_sleep(COIL_SEC(9));

    coil_cancel_caught();
    if (rc == -ECANCELED)
        rc = coil_sleep(COIL_SEC((intptr_t)seconds));
    trace("%d fails", (int)(intptr_t)seconds);
    return -EIO;
}

static int asks(void *task)
{
    coil_sleep(COIL_SEC(9));
    coil_cancel_caught();
    return trace_outcome("asked", coil_task_await(task));
}

/*
 * Tasks that have not ended when the main task ends are cancelled. When all of them have
 * ended, their failures are reported in the order of creation, even those that another
 * task has retrieved.
 */
SCENARIO(exception_handler_is_told_of_leftovers_that_fail)
{
    coil_task *slow;
    int rc = coil_spawn(leftover, (void *)2, &(coil_spawn_opts){.name = "slow"}, &slow);

    if (rc < 0)
        return rc;
    coil_set_exception_handler(exception_handler_is_told_of_leftovers_handler, NULL);
    rc = coil_spawn(leftover, (void *)1, &(coil_spawn_opts){.name = "swift"}, NULL);
    if (rc == 0)
        rc = coil_spawn(asks, slow, &(coil_spawn_opts){.name = "task-asks"}, NULL);
    if (rc == 0)
        rc = coil_sleep(COIL_SEC(1));
    trace("the main task ends");
    coil_task_release(slow);
    return rc;
}

static int exception_handler_is_told_of_tasks_body(void *name)
{
    trace("%s begins", (const char *)name);
    return 0;
}

static int run_first(void)
{
    coil_task *task;
    int rc = coil_spawn(exception_handler_is_told_of_tasks_body, "first", NULL, &task);

    if (rc < 0)
        return rc;
    rc = coil_run_until_complete(coil_task_future(task));
    coil_task_release(task);
    return rc;
}

/*
 * If a task without references has not ended when its loop is destroyed, it is reported,
 * because it can never end.
 */
PLAIN_SCENARIO(exception_handler_is_told_of_tasks_that_never_began)
{
    coil_loop *loop;
    int rc = coil_loop_create(&(coil_loop_opts){.virtual_clock = true}, &loop);

    if (rc < 0)
        return rc;
    coil_set_exception_handler(trace_exception, NULL);
    rc = run_first();
    if (rc == 0)
        rc = coil_spawn(exception_handler_is_told_of_tasks_body, "second", NULL, NULL);
    if (rc == 0)
        rc = coil_spawn(exception_handler_is_told_of_tasks_body, "third", NULL, NULL);
    trace("closing");
    coil_loop_close(loop);
    trace("closed");
    return rc;
}

static void exception_handler_may_ask_handler(const coil_exception *exception, void *arg)
{
    trace_exception(exception, arg);
    coil_default_exception_handler(exception);
    trace("printed");
}

static int body(void *arg)
{
    (void)arg;
    return -EIO;
}

/* A handler may call the default handler, which prints the report and returns. */
SCENARIO(exception_handler_may_ask_the_default_one)
{
    int rc;

    coil_set_exception_handler(exception_handler_may_ask_handler, NULL);
    rc = coil_spawn(body, NULL, NULL, NULL);
    if (rc < 0)
        return rc;
    turns(3);
    trace("end");
    return 0;
}

static int clean_up(void *arg)
{
    int rc;

    (void)arg;
    trace("clean up: begin");
    rc = coil_sleep(COIL_SEC(1));
    trace("clean up: end");
    return rc;
}

static void exception_handler_may_start_handler(const coil_exception *exception,
                                                void *arg)
{
    trace_exception(exception, arg);
    if (coil_call_soon(trace_text, "called soon", NULL) < 0 ||
        start(clean_up, NULL) == NULL)
        trace("no memory");
}

/* A handler may start a task and schedule callbacks, which run in later turns. */
SCENARIO(exception_handler_may_start_a_task)
{
    int rc;

    coil_set_exception_handler(exception_handler_may_start_handler, NULL);
    rc = coil_spawn(body, NULL, NULL, NULL);
    if (rc < 0)
        return rc;
    ticker(TURNS(4));
    return coil_sleep(COIL_SEC(2));
}

static coil_var exception_handler_runs_name = COIL_VAR_INIT("name", "nobody");

static void exception_handler_runs_handler(const coil_exception *exception, void *arg)
{
    (void)arg;
    trace("%s in the context of %s", exception->message,
          (char *)coil_var_get(&exception_handler_runs_name));
}

static int exception_handler_runs_body(void *who)
{
    int rc = coil_var_set(&exception_handler_runs_name, who, NULL);

    return rc < 0 ? rc : -EIO;
}

/*
 * A handler that is called for a task runs in the task's context, even if the report is
 * caused by other code that releases the task.
 */
SCENARIO(exception_handler_runs_in_the_context_of_the_task)
{
    coil_task *held;
    int rc = coil_spawn(exception_handler_runs_body, "Ada", NULL, &held);

    if (rc < 0)
        return rc;
    coil_set_exception_handler(exception_handler_runs_handler, NULL);
    rc = coil_spawn(exception_handler_runs_body, "Grace", NULL, NULL);
    turns(2);
    if (rc == 0)
        rc = coil_var_set(&exception_handler_runs_name, "main", NULL);
    coil_task_release(held);
    coil_call_exception_handler(&(coil_exception){.message = "hello"});
    trace("here: %s", (char *)coil_var_get(&exception_handler_runs_name));
    return rc;
}
