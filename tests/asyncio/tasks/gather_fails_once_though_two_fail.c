/* Of two failures one turn apart the gathering task sees the first; the second is its
 * task's. */
#include "../scenario.h"

static coil_future *futures[2], *inner_tasks[2];

static int inner(void *future)
{
    int rc = coil_await(future);

    if (rc < 0)
        return rc;
    return future == futures[0] ? -EIO : -ENOENT;
}

static int outer(void *arg)
{
    (void)arg;
    return tell("outer", coil_gather(inner_tasks, 2, 0, NULL));
}

static void look(coil_task *task)
{
    trace("inner %s %s, outer %s", state(inner_tasks[0]), state(inner_tasks[1]),
          state(coil_task_future(task)));
}

SCENARIO(gather_fails_once_though_two_fail)
{
    coil_task *task;

    for (int i = 0; i < 2; i++)
        futures[i] = new_future();
    for (int i = 0; i < 2; i++) {
        task = start(inner, futures[i]);
        if (task == NULL)
            return -ENOMEM;
        inner_tasks[i] = coil_task_future(task);
    }
    task = start(outer, NULL);
    if (task == NULL)
        return -ENOMEM;
    turns(1);
    for (int i = 0; i < 2; i++) {
        coil_future_set(futures[i], 0, NULL, NULL);
        turns(1);
        look(task);
    }
    turns(2);
    look(task);
    return 0;
}
