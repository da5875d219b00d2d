/*
 * Joining a queue into which nothing was put lets no turn pass, and does not the second
 * time; with an item in it, it waits.
 */
#include "queues.h"

static int check(void)
{
    coil_task *task;

    if (start(ticker, TURNS(2)) == NULL)
        return -ENOMEM;
    coil_queue_join(q);
    trace("joined");
    coil_queue_join(q);
    trace("joined again");
    put_nowait(1);
    task = start(joiner, NULL);
    if (task == NULL)
        return -ENOMEM;
    turns(1);
    trace("with an item: %s", state(coil_task_future(task)));
    coil_queue_task_done(q);
    turns(1);
    trace("it is done: %s", state(coil_task_future(task)));
    return 0;
}

SCENARIO(queue_join_of_nothing_does_not_wait)
{
    return each_kind(0, check);
}
