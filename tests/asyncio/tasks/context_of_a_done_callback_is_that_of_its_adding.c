/* A done callback runs in a copy of the context in which it was added; what it sets is
 * seen by nobody else. */
#include "../scenario.h"

static coil_var color = COIL_VAR_INIT("color", (void *)"none");

static const char *get(void)
{
    return coil_var_get(&color);
}

static int set(const char *value)
{
    return coil_var_set(&color, (void *)(uintptr_t)value, NULL);
}

static void on_done(coil_future *future, void *arg)
{
    (void)future;
    (void)arg;
    trace("callback: %s", get());
    set("gone");
}

static int child(void *future)
{
    int rc = set("green");

    if (rc == 0)
        rc = coil_future_add_callback(future, on_done, NULL);
    if (rc == 0)
        rc = coil_await(future);
    trace("child: %s", get());
    return rc;
}

SCENARIO(context_of_a_done_callback_is_that_of_its_adding)
{
    coil_future *future = new_future();
    coil_task *task;

    if (future == NULL || set("red") < 0 ||
        coil_future_add_callback(future, on_done, NULL) < 0)
        return -ENOMEM;
    task = start(child, future);
    set("blue");
    coil_sleep(COIL_SEC(1));
    coil_future_set(future, 0, NULL, NULL);
    if (task != NULL)
        coil_task_await(task);
    trace("main: %s", get());
    coil_future_add_callback(future, on_done, NULL);
    set("black");
    turns(1);
    trace("main: %s", get());
    return 0;
}
