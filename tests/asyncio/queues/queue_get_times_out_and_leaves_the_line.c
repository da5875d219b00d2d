/*
 * A getter that gave up after two seconds is forgotten: the next item is for the one
 * behind it.
 */
#include "queues.h"

static int get_within_two_seconds(void)
{
    coil_scope scope;
    int rc = coil_scope_enter(&scope, coil_in(COIL_SEC(2)));

    return rc < 0 ? rc : coil_scope_exit(&scope, get());
}

static int patient(void *arg)
{
    int item = get();

    (void)arg;
    if (item < 0)
        return item;
    trace("the other has %d", item);
    return 0;
}

SCENARIO(queue_get_times_out_and_leaves_the_line)
{
    use_queue(COIL_QUEUE_FIFO, 5);
    if (start(patient, NULL) == NULL)
        return -ENOMEM;
    trace("get: %s", outcome(get_within_two_seconds()));
    put(1);
    put(2);
    turns(1);
    trace("get: %s", outcome(get_within_two_seconds()));
    trace("get: %s", outcome(get_within_two_seconds()));
    return 0;
}
