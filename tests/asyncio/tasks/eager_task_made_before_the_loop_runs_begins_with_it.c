/* Before the loop runs there is nobody to hand back to: an eager task begins with the
 * first turn. */
#include "../scenario.h"

static int child(void *arg)
{
    (void)arg;
    trace("child");
    return 9;
}

PLAIN_SCENARIO(eager_task_made_before_the_loop_runs_begins_with_it)
{
    coil_loop *loop;
    coil_task *task;
    int rc = coil_loop_create(&(coil_loop_opts){.virtual_clock = true}, &loop);

    if (rc < 0)
        return rc;
    task = start_with(child, NULL, &(coil_spawn_opts){.eager = true});
    if (task != NULL) {
        trace("made: %s", state(coil_task_future(task)));
        trace("result: %s", outcome(coil_run_until_complete(coil_task_future(task))));
    }
    coil_loop_close(loop);
    return task != NULL ? 0 : -ENOMEM;
}
