/*
 * debug_times_each_step_and_callback.c
 */
#include "../scenario.h"

static void report(const coil_exception *exception, void *arg)
{
    char name[32];

    (void)arg;
    if (sscanf(exception->message, "Executing task '%31[^']'", name) == 1)
        trace("reported: a step of %s", name);
    else if (strncmp(exception->message, "Executing ", strlen("Executing ")) == 0)
        trace("reported: a callback");
}

static int worker(void *arg)
{
    (void)arg;
    trace("worker begins");
    coil_yield();
    trace("worker goes on");
    coil_sleep(COIL_SEC(2));
    trace("worker ends");
    return 0;
}

static void say(void *text)
{
    trace("%s", (const char *)text);
}

SCENARIO(debug_times_each_step_and_callback)
{
    coil_task *task = NULL;
    int rc;

    coil_set_exception_handler(report, NULL);
    coil_set_debug(true);
    coil_yield();
    coil_set_slow_callback_ns(0);
    rc = coil_spawn(worker, NULL, &(coil_spawn_opts){.name = "worker"}, &task);
    if (rc == 0)
        rc = coil_call_soon(say, "called soon", NULL);
    if (rc == 0)
        rc = coil_call_later(COIL_SEC(1), say, "called later", NULL);
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
