/*
 * A getter that was woken, and cancelled when its item was taken by another, wakes
 * nobody: there is nothing to go on with.
 */
#include "queues.h"

static int taker(void *name)
{
    int item = get();

    if (item < 0)
        return item;
    trace("%s has %d", (char *)name, item);
    return 0;
}

SCENARIO(queue_getter_that_is_woken_in_vain_is_cancelled_in_peace)
{
    coil_task *a, *b;

    use_queue(COIL_QUEUE_FIFO, 0);
    a = start(taker, "a");
    b = start(taker, "b");
    if (a == NULL || b == NULL)
        return -ENOMEM;
    turns(1);
    put_nowait(1);
    trace("we have %s", outcome(get_nowait()));
    coil_task_cancel(a, NULL);
    turns(2);
    trace("a %s, b %s", state(coil_task_future(a)), state(coil_task_future(b)));
    put_nowait(2);
    turns(1);
    trace("a %s, b %s", state(coil_task_future(a)), state(coil_task_future(b)));
    return 0;
}
