/* A task that waits behind a shield, behind another: cancelling the outermost stops only
 * that. */
#include "../scenario.h"

static coil_task *middle, *outer;
static coil_future *future;

static int first(void *arg)
{
    (void)arg;
    return tell("middle", coil_shield(future));
}

static int second(void *arg)
{
    (void)arg;
    return tell("outer", coil_shield(coil_task_future(middle)));
}

static void look(void)
{
    trace("outer %s, middle %s, future %s", state(coil_task_future(outer)),
          state(coil_task_future(middle)), state(future));
}

SCENARIO(shields_around_shields_protect_twice)
{
    future = new_future();
    middle = start(first, NULL);
    outer = start(second, NULL);
    if (outer == NULL)
        return -ENOMEM;
    turns(1);
    coil_task_cancel(outer, NULL);
    turns(1);
    look();
    coil_task_cancel(middle, NULL);
    turns(1);
    look();
    coil_future_cancel(future, NULL);
    turns(1);
    look();
    return 0;
}
