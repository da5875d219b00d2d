/*
 * Two items for three getters, the first of whom is cancelled in the turn in which it was
 * woken: the other two have them.
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

SCENARIO(queue_items_of_cancelled_getters_go_to_the_next)
{
    coil_task *a, *b, *c;

    use_queue(COIL_QUEUE_FIFO, 0);
    a = start(taker, "a");
    b = start(taker, "b");
    c = start(taker, "c");
    if (a == NULL || b == NULL || c == NULL)
        return -ENOMEM;
    turns(1);
    put_nowait(1);
    put_nowait(2);
    coil_task_cancel(a, NULL);
    trace("a: %s", outcome(coil_task_await(a)));
    turns(2);
    trace("b %s, c %s, %d in it", state(coil_task_future(b)), state(coil_task_future(c)),
          qsize());
    return 0;
}
