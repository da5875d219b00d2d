/* A handler that is told of a task sees the variables as that task has left them, whoever
 * lets go of it. */
#include "../scenario.h"

static coil_var name = COIL_VAR_INIT("name", "nobody");

static void handler(const coil_exception *exception, void *arg)
{
    (void)arg;
    trace("%s in the context of %s", exception->message, (char *)coil_var_get(&name));
}

static int body(void *who)
{
    int rc = coil_var_set(&name, who, NULL);

    return rc < 0 ? rc : -EIO;
}

SCENARIO(exception_handler_runs_in_the_context_of_the_task)
{
    coil_task *held;
    int rc = coil_spawn(body, "Ada", NULL, &held);

    if (rc < 0)
        return rc;
    coil_set_exception_handler(handler, NULL);
    rc = coil_spawn(body, "Grace", NULL, NULL);
    turns(2);
    if (rc == 0)
        rc = coil_var_set(&name, "main", NULL);
    coil_task_release(held);
    coil_call_exception_handler(&(coil_exception){.message = "hello"});
    trace("here: %s", (char *)coil_var_get(&name));
    return rc;
}
