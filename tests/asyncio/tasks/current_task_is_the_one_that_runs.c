/* In a task the current one is itself; in a callback and outside the loop there is none.
 */
#include "../scenario.h"

static const char *name_of_current(void)
{
    coil_task *task = coil_task_current();

    return task != NULL ? coil_task_name(task) : "none";
}

static void callback(void *arg)
{
    (void)arg;
    trace("in a callback: %s", name_of_current());
}

static int body(void *arg)
{
    int rc;

    (void)arg;
    trace("in a task: %s", name_of_current());
    rc = coil_call_soon(callback, NULL, NULL);
    if (rc == 0)
        rc = coil_yield();
    trace("in a task: %s", name_of_current());
    return rc < 0 ? rc : 3;
}

PLAIN_SCENARIO(current_task_is_the_one_that_runs)
{
    coil_loop_opts opts = {.virtual_clock = true};
    coil_loop *loop;
    coil_task *task;
    int rc = coil_loop_create(&opts, &loop);

    if (rc < 0)
        return rc;
    trace("outside: %s", name_of_current());
    task = start(body, NULL);
    if (task != NULL) {
        coil_task_set_name(task, "worker");
        trace("outside: %s", name_of_current());
        trace("result: %d", coil_run_until_complete(coil_task_future(task)));
        trace("outside: %s", name_of_current());
    }
    coil_loop_close(loop);
    return task != NULL ? 0 : -ENOMEM;
}
