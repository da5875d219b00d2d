/*
 * Of three putters at a queue for one, the last is cancelled: the second puts when the
 * first's item is taken, and the third never.
 */
#include "queues.h"

SCENARIO(queue_putter_cancelled_in_line_lets_the_others_in)
{
    coil_future *all[3];

    use_queue(COIL_QUEUE_FIFO, 1);
    for (int i = 0; i < 3; i++) {
        coil_task *task = start(putter, ITEM(i + 1));

        if (task == NULL)
            return -ENOMEM;
        all[i] = coil_task_future(task);
    }
    turns(1);
    trace("a %s, b %s, c %s", state(all[0]), state(all[1]), state(all[2]));
    coil_future_cancel(all[2], NULL);
    turns(1);
    trace("a %s, b %s, c %s", state(all[0]), state(all[1]), state(all[2]));
    trace("get: %s", outcome(get_nowait()));
    turns(1);
    trace("get: %s", outcome(get_nowait()));
    turns(1);
    trace("get: %s", outcome(get_nowait()));
    trace("b: %s", state(all[1]));
    return 0;
}
