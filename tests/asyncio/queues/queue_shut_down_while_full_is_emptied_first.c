/*
 * Shutting down a full queue of any kind sends a waiting putter away; the items in it can
 * still be taken, and joining it waits for them.
 */
#include "queues.h"

static int check(void)
{
    coil_task *join, *late;

    put_nowait(5);
    put_nowait(7);
    join = start(joiner, NULL);
    late = start(putter, ITEM(6));
    if (join == NULL || late == NULL)
        return -ENOMEM;
    turns(1);
    trace("putter %s", state(coil_task_future(late)));
    coil_queue_shutdown(q, false);
    turns(1);
    trace("putter %s, joiner %s, %d in it", state(coil_task_future(late)),
          state(coil_task_future(join)), qsize());
    trace("put: %s", outcome(put(8)));
    for (int i = 0; i < 3; i++)
        trace("get: %s", outcome(get()));
    trace("get_nowait: %s", outcome(get_nowait()));
    for (int i = 0; i < 2; i++) {
        coil_queue_task_done(q);
        turns(1);
        trace("joiner %s", state(coil_task_future(join)));
    }
    return 0;
}

SCENARIO(queue_shut_down_while_full_is_emptied_first)
{
    return each_kind(2, check);
}
