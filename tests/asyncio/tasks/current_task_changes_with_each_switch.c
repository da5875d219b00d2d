/* Two tasks wake each other by futures; each is the current one whenever it runs. */
#include "../scenario.h"

static coil_future *first, *second;

static int one(void *arg)
{
    (void)arg;
    trace("one: %s", coil_task_name(coil_task_current()));
    coil_await(first);
    trace("one: %s", coil_task_name(coil_task_current()));
    return coil_future_set(second, 1, NULL, NULL);
}

static int two(void *arg)
{
    (void)arg;
    trace("two: %s", coil_task_name(coil_task_current()));
    coil_future_set(first, 1, NULL, NULL);
    coil_await(second);
    trace("two: %s", coil_task_name(coil_task_current()));
    return 0;
}

SCENARIO(current_task_changes_with_each_switch)
{
    coil_task *a, *b;

    first = new_future();
    second = new_future();
    a = start(one, NULL);
    b = start(two, NULL);
    if (b == NULL)
        return -ENOMEM;
    coil_task_set_name(a, "a");
    coil_task_set_name(b, "b");
    coil_future *futures[] = {coil_task_future(a), coil_task_future(b)};
    trace("done: %d", coil_wait(futures, 2, COIL_WAIT_ALL, COIL_NEVER));
    return 0;
}
