/*
 * A putter that is cancelled in the turn in which room was made puts nothing; trying
 * again does.
 */
#include "queues.h"

static void say(const char *what, const char *end)
{
    trace("%s: %s, %d in it", what, end, qsize());
}

SCENARIO(queue_putter_cancelled_when_there_is_room_puts_nothing)
{
    coil_task *first, *second;

    use_queue(COIL_QUEUE_FIFO, 1);
    put_nowait(1);
    first = start(putter, ITEM(2));
    if (first == NULL)
        return -ENOMEM;
    turns(1);
    trace("get: %s", outcome(get_nowait()));
    coil_task_cancel(first, NULL);
    say("first", outcome(coil_task_await(first)));
    second = start(putter, ITEM(3));
    if (second == NULL)
        return -ENOMEM;
    say("second", outcome(coil_task_await(second)));
    say("get", outcome(get_nowait()));
    return 0;
}
