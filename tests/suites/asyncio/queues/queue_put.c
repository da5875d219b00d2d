/*
 * queue_put.c - putting items into a queue: putters that wait, are woken, or are
 * cancelled.
 */
#include "queues.h"

static int put_one(void *arg)
{
    int rc = put(1);

    (void)arg;
    if (rc < 0)
        return rc;
    trace("put");
    return 7;
}

/*
 * Putting an item into a queue that is not full takes no turn: the putting task ends
 * before the waiting getter has the item.
 */
SCENARIO(queue_put_by_a_task_ends_it_at_once)
{
    coil_task *task;

    use_queue(COIL_QUEUE_FIFO, 0);
    task = start(put_one, NULL);
    if (task == NULL)
        return -ENOMEM;
    trace("get: %d", get());
    trace("putter: %s", state(coil_task_future(task)));
    return 0;
}

/*
 * A putter that is cancelled while the queue is full no longer waits. The next free slot
 * goes to another putter.
 */
SCENARIO(queue_put_cancelled_leaves_the_line)
{
    coil_task *a, *b;

    use_queue(COIL_QUEUE_FIFO, 1);
    put_nowait(1);
    a = start(putter, ITEM(2));
    b = start(putter, ITEM(3));
    if (a == NULL || b == NULL)
        return -ENOMEM;
    turns(1);
    trace("a %s, b %s", state(coil_task_future(a)), state(coil_task_future(b)));
    coil_task_cancel(a, NULL);
    trace("a: %s", outcome(coil_task_await(a)));
    trace("get: %s", outcome(get_nowait()));
    turns(1);
    trace("a %s, b %s", state(coil_task_future(a)), state(coil_task_future(b)));
    trace("get: %s", outcome(get_nowait()));
    return 0;
}

static int queue_put_nowait_wakes_taker(void *arg)
{
    int item = get();

    (void)arg;
    if (item < 0)
        return item;
    trace("has %d", item);
    return 0;
}

/*
 * put_nowait returns at once, and wakes a waiting getter, which gets the item in the next
 * turn.
 */
SCENARIO(queue_put_nowait_wakes_a_getter)
{
    use_queue(COIL_QUEUE_FIFO, 0);
    if (start(queue_put_nowait_wakes_taker, NULL) == NULL)
        return -ENOMEM;
    turns(1);
    put_nowait(1);
    trace("put: %d in it", qsize());
    put_nowait(2);
    turns(1);
    trace("%d in it", qsize());
    trace("get: %s", outcome(get_nowait()));
    return 0;
}

/* put_nowait on a full queue is an error and puts nothing. */
SCENARIO(queue_put_nowait_when_full_is_an_error)
{
    int rc;

    use_queue(COIL_QUEUE_FIFO, 1);
    if (start(ticker, TURNS(1)) == NULL)
        return -ENOMEM;
    trace("put: %s", outcome(put_nowait(1)));
    rc = put_nowait(2);
    trace("put: %s, %d in it", outcome(rc), qsize());
    trace("get: %s", outcome(get_nowait()));
    trace("put: %s", outcome(put_nowait(3)));
    trace("get: %s", outcome(get_nowait()));
    return 0;
}

/* An item that is put after the first getter was cancelled goes to the second getter. */
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

static int put_three(void *arg)
{
    int rc = 0;

    (void)arg;
    for (int item = 1; item <= 3 && rc == 0; item++) {
        rc = put(item);
        if (rc == 0)
            trace("put %d", item);
    }
    return rc;
}

/*
 * A task that puts three items into a queue of size two waits before the third item, and
 * continues in the turn after an item was taken.
 */
SCENARIO(queue_put_waits_for_room)
{
    coil_task *task;

    use_queue(COIL_QUEUE_FIFO, 2);
    task = start(put_three, NULL);
    if (task == NULL)
        return -ENOMEM;
    turns(2);
    trace("%d in it", qsize());
    trace("get: %d", get_nowait());
    trace("%d in it", qsize());
    turns(1);
    trace("%d in it, the task: %s", qsize(), state(coil_task_future(task)));
    trace("get: %d", get_nowait());
    trace("get: %d", get_nowait());
    return 0;
}

static coil_event started = COIL_EVENT_INIT;

static int giver(void *arg)
{
    (void)arg;
    coil_event_set(&started);
    for (int item = 1; item <= 2; item++) {
        int rc = put(item);

        if (rc < 0)
            return rc;
        trace("put %d", item);
    }
    return 0;
}

static void take(void *arg)
{
    (void)arg;
    trace("took %s", outcome(get_nowait()));
}

/* A task that puts into a full queue continues when a timer takes an item out. */
SCENARIO(queue_put_waits_until_a_timer_takes_one)
{
    coil_task *task;
    int rc;

    use_queue(COIL_QUEUE_FIFO, 1);
    rc = coil_call_later(COIL_SEC(4), take, NULL, NULL);
    if (rc < 0)
        return rc;
    task = start(giver, NULL);
    if (task == NULL)
        return -ENOMEM;
    coil_event_wait(&started);
    trace("giver: %s", state(coil_task_future(task)));
    trace("giver: %s", outcome(coil_task_await(task)));
    trace("%d in it", qsize());
    return 0;
}

static int queue_put_wakes_taker(void *name)
{
    int item = get();

    if (item < 0)
        return item;
    trace("%s has %d", (char *)name, item);
    return 0;
}

/*
 * Putting an item wakes the getter that has waited longest. The put itself takes no turn.
 */
SCENARIO(queue_put_wakes_a_getter)
{
    use_queue(COIL_QUEUE_FIFO, 0);
    if (start(queue_put_wakes_taker, "a") == NULL ||
        start(queue_put_wakes_taker, "b") == NULL)
        return -ENOMEM;
    turns(1);
    put(5);
    trace("put");
    turns(1);
    put(6);
    trace("put");
    turns(1);
    trace("%d in it", qsize());
    return 0;
}

/* Putting into a queue without a limit takes no turn, however many items are in it. */
SCENARIO(queue_put_without_limit_does_not_wait)
{
    use_queue(COIL_QUEUE_FIFO, 0);
    if (start(ticker, TURNS(1)) == NULL)
        return -ENOMEM;
    for (int item = 1; item <= 100; item++)
        put(item);
    trace("%d in it", qsize());
    trace("get: %d", get());
    return 0;
}

/*
 * If three tasks put items into a queue of size one, and the third task is cancelled, the
 * second item is put when the first is taken, and the third item is never put.
 */
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

static void trace_item(const char *what, const char *end)
{
    trace("%s: %s, %d in it", what, end, qsize());
}

/*
 * A putter that is cancelled in the turn in which it was woken does not put its item. A
 * later put succeeds.
 */
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
    trace_item("first", outcome(coil_task_await(first)));
    second = start(putter, ITEM(3));
    if (second == NULL)
        return -ENOMEM;
    trace_item("second", outcome(coil_task_await(second)));
    trace_item("get", outcome(get_nowait()));
    return 0;
}

static int put_and_say(void *item)
{
    int rc = putter(item);

    if (rc == 0)
        trace("put %d", (int)(intptr_t)item);
    return rc;
}

/*
 * If put_nowait takes the slot for which a putter was woken, that putter goes to the end
 * of the queue of putters.
 */
SCENARIO(queue_putter_that_was_woken_may_be_overtaken)
{
    use_queue(COIL_QUEUE_FIFO, 1);
    put_nowait(1);
    if (start(put_and_say, ITEM(2)) == NULL || start(put_and_say, ITEM(3)) == NULL)
        return -ENOMEM;
    turns(1);
    trace("get: %s", outcome(get_nowait()));
    trace("put: %s", outcome(put_nowait(4)));
    turns(1);
    for (int i = 0; i < 3; i++) {
        trace("get: %s", outcome(get_nowait()));
        turns(1);
    }
    return 0;
}

/*
 * A putter that is cancelled after it was woken leaves the free slot to the next putter.
 */
SCENARIO(queue_woken_putter_cancelled_wakes_the_next)
{
    coil_task *a, *b;

    use_queue(COIL_QUEUE_FIFO, 1);
    put_nowait(1);
    a = start(putter, ITEM(2));
    b = start(putter, ITEM(3));
    if (a == NULL || b == NULL)
        return -ENOMEM;
    turns(1);
    trace("get: %s", outcome(get_nowait()));
    coil_task_cancel(a, NULL);
    trace("a: %s", outcome(coil_task_await(a)));
    turns(1);
    trace("b %s, %d in it", state(coil_task_future(b)), qsize());
    trace("get: %s", outcome(get_nowait()));
    return 0;
}
