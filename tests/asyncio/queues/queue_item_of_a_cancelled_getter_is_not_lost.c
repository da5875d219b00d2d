/*
 * A getter that is cancelled in the turn in which it was woken leaves the item: who gets
 * next has the first, not the second.
 */
#include "queues.h"

static void await_it(const char *name, coil_task *task)
{
    const char *end = outcome(coil_task_await(task));

    trace("%s: %s, %d in it", name, end, qsize());
}

SCENARIO(queue_item_of_a_cancelled_getter_is_not_lost)
{
    coil_task *first, *second;

    use_queue(COIL_QUEUE_FIFO, 0);
    first = start(getter, NULL);
    if (first == NULL)
        return -ENOMEM;
    turns(1);
    put_nowait(1);
    put_nowait(2);
    coil_task_cancel(first, NULL);
    await_it("first", first);
    second = start(getter, NULL);
    if (second == NULL)
        return -ENOMEM;
    await_it("second", second);
    return 0;
}
