/* A task that is pending when its loop goes, and nobody holds it, is reported; it can
 * never end. */
#include "../scenario.h"

static int body(void *name)
{
    trace("%s begins", (const char *)name);
    return 0;
}

static int run_first(void)
{
    coil_task *task;
    int rc = coil_spawn(body, "first", NULL, &task);

    if (rc < 0)
        return rc;
    rc = coil_run_until_complete(coil_task_future(task));
    coil_task_release(task);
    return rc;
}

PLAIN_SCENARIO(exception_handler_is_told_of_tasks_that_never_began)
{
    coil_loop *loop;
    int rc = coil_loop_create(&(coil_loop_opts){.virtual_clock = true}, &loop);

    if (rc < 0)
        return rc;
    coil_set_exception_handler(tell_exception, NULL);
    rc = run_first();
    if (rc == 0)
        rc = coil_spawn(body, "second", NULL, NULL);
    if (rc == 0)
        rc = coil_spawn(body, "third", NULL, NULL);
    trace("closing");
    coil_loop_close(loop);
    trace("closed");
    return rc;
}
