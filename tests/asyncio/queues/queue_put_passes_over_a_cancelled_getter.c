/* An item that is put after the first getter was cancelled is for the second. */
#include "queues.h"

SCENARIO(queue_put_passes_over_a_cancelled_getter)
{
    coil_task *a, *b;

    use_queue(COIL_QUEUE_FIFO, 0);
    a = start(getter, NULL);
    b = start(getter, NULL);
    if (a == NULL || b == NULL)
        return -ENOMEM;
    turns(1);
    coil_task_cancel(a, NULL);
    turns(1);
    trace("a %s, b %s", state(coil_task_future(a)), state(coil_task_future(b)));
    put(5);
    turns(1);
    trace("a %s, b %s", state(coil_task_future(a)), state(coil_task_future(b)));
    return 0;
}
