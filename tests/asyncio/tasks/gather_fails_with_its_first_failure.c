/* gather fails as soon as one of its futures has; what becomes of the others is theirs.
 */
#include "../scenario.h"

static coil_future *futures[5];

static int body(void *arg)
{
    (void)arg;
    return tell("gather", coil_gather(futures, 5, 0, NULL));
}

static void look(coil_task *task)
{
    trace("task: %s", state(coil_task_future(task)));
    trace("futures: %s %s %s %s %s", state(futures[0]), state(futures[1]),
          state(futures[2]), state(futures[3]), state(futures[4]));
}

SCENARIO(gather_fails_with_its_first_failure)
{
    coil_task *task;

    for (int i = 0; i < 5; i++)
        futures[i] = new_future();
    task = start(body, NULL);
    if (task == NULL)
        return -ENOMEM;
    turns(1);
    coil_future_set(futures[0], 1, NULL, NULL);
    coil_future_set(futures[1], -EIO, NULL, NULL);
    turns(3);
    look(task);
    coil_future_set(futures[2], 3, NULL, NULL);
    coil_future_cancel(futures[3], NULL);
    coil_future_set(futures[4], -ENOENT, NULL, NULL);
    turns(3);
    look(task);
    return 0;
}
