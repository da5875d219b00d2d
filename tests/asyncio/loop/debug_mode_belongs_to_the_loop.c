/*
 * debug_mode_belongs_to_the_loop.c
 */
#include "../scenario.h"

static int worker(void *name)
{
    for (int i = 0; i < 3; i++) {
        trace("%s: debug %d", (const char *)name, coil_debug());
        coil_yield();
    }
    return 0;
}

static void tell_mode(void *arg)
{
    (void)arg;
    trace("callback: debug %d", coil_debug());
}

static int run_both(void)
{
    coil_task *one, *two;
    int rc = coil_call_soon(tell_mode, NULL, NULL);

    if (rc == 0)
        rc = coil_spawn(worker, "one", NULL, &one);
    if (rc < 0)
        return rc;
    rc = coil_spawn(worker, "two", NULL, &two);
    if (rc == 0) {
        rc = coil_gather((coil_future *[]){coil_task_future(one), coil_task_future(two)},
                         2, 0, NULL);
        coil_task_release(two);
    }
    coil_task_release(one);
    return rc;
}

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
