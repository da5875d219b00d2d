/* One loop after the other: each runs its own task, whose result outlives the loop. */
#include "../scenario.h"

static int body(void *delay)
{
    int seconds = (int)(intptr_t)delay, rc;

    trace("begins");
    rc = coil_sleep(COIL_SEC(seconds));
    trace("ends");
    return rc < 0 ? rc : seconds;
}

PLAIN_SCENARIO(task_runs_on_the_loop_it_was_made_for)
{
    coil_loop_opts opts = {.virtual_clock = true};
    coil_task *tasks[2];

    for (int i = 0; i < 2; i++) {
        coil_loop *loop;
        int rc = coil_loop_create(&opts, &loop);

        if (rc < 0)
            return rc;
        tasks[i] = start(body, (void *)(intptr_t)(i + 2));
        if (tasks[i] != NULL)
            trace("result: %d", coil_run_until_complete(coil_task_future(tasks[i])));
        coil_loop_close(loop);
        if (tasks[i] == NULL)
            return -ENOMEM;
    }
    trace("kept: %s %s", state(coil_task_future(tasks[0])),
          state(coil_task_future(tasks[1])));
    return 0;
}
