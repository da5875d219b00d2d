/*
 * queue_get.c - getting items from a queue: getters that wait, are woken, or are
 * cancelled.
 */
#include "queues.h"

static int queue_get_lets_put_and_say(void *item)
{
    int rc;

    trace("puts %d", (int)(intptr_t)item);
    rc = putter(item);
    if (rc == 0)
        trace("has put %d", (int)(intptr_t)item);
    return rc;
}

/* If two putters use a queue of size one, two gets return their items in order. */
SCENARIO(queue_get_lets_waiting_putters_in)
{
    use_queue(COIL_QUEUE_FIFO, 1);
    if (start(queue_get_lets_put_and_say, ITEM(1)) == NULL ||
        start(queue_get_lets_put_and_say, ITEM(2)) == NULL)
        return -ENOMEM;
    trace("get: %s", outcome(get()));
    trace("get: %s", outcome(get()));
    trace("empty %d", coil_queue_empty(q));
    return 0;
}

static int taker(void *name)
{
    int item = get();

    if (item < 0)
        return item;
    trace("%s has %d", (char *)name, item);
    return 0;
}

/*
 * get_nowait on an empty queue is an error, and does not change the order of the getters.
 */
SCENARIO(queue_get_nowait_of_nothing_is_an_error)
{
    use_queue(COIL_QUEUE_FIFO, 0);
    trace("get: %s", outcome(get_nowait()));
    if (start(taker, "a") == NULL)
        return -ENOMEM;
    turns(1);
    trace("get: %s", outcome(get_nowait()));
    put(1);
    put(2);
    for (int i = 0; i < 3; i++)
        trace("get: %s", outcome(get_nowait()));
    put(3);
    turns(1);
    return 0;
}

/* get_nowait and put_nowait get and put items at once, without a turn of the loop. */
SCENARIO(queue_get_nowait_takes_an_item)
{
    int rc;

    use_queue(COIL_QUEUE_FIFO, 0);
    if (start(ticker, TURNS(1)) == NULL)
        return -ENOMEM;
    for (int i = 0; i < 2; i++) {
        rc = put_nowait((const int[]){7, 5}[i]);
        trace("put: %s, %d in it", outcome(rc), qsize());
    }
    for (int i = 0; i < 2; i++) {
        rc = get_nowait();
        trace("get: %s, %d in it", outcome(rc), qsize());
    }
    return 0;
}

static void put_three(void *arg)
{
    (void)arg;
    put_nowait(3);
}

/*
 * Getting an item that is already in the queue takes no turn. Getting an item that is put
 * later takes one turn.
 */
SCENARIO(queue_get_of_what_is_there_does_not_wait)
{
    int rc;

    use_queue(COIL_QUEUE_FIFO, 0);
    if (start(ticker, TURNS(3)) == NULL)
        return -ENOMEM;
    put_nowait(1);
    put_nowait(2);
    trace("get: %d", get_nowait());
    trace("get: %d", get_nowait());
    rc = coil_call_soon(put_three, NULL, NULL);
    if (rc < 0)
        return rc;
    trace("get: %d", get());
    return 0;
}

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

/*
 * A getter that has timed out no longer waits in the queue. The next item goes to the
 * getter behind it.
 */
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

static coil_event started = COIL_EVENT_INIT;

static int queue_get_waits_taker(void *arg)
{
    int item;

    (void)arg;
    coil_event_set(&started);
    trace("wants one");
    item = get();
    if (item > 0)
        trace("has %d", item);
    return item;
}

static void put_one(void *arg)
{
    (void)arg;
    put_nowait(1);
}

/* A task that gets from an empty queue continues when a timer puts an item. */
SCENARIO(queue_get_waits_for_an_item)
{
    coil_task *task;
    int rc;

    use_queue(COIL_QUEUE_FIFO, 0);
    task = start(queue_get_waits_taker, NULL);
    if (task == NULL)
        return -ENOMEM;
    coil_event_wait(&started);
    trace("it waits");
    rc = coil_call_later(COIL_SEC(3), put_one, NULL, NULL);
    if (rc < 0)
        return rc;
    if (allocation_failed())
        return -ENOMEM;
    trace("taker: %s", outcome(coil_task_await(task)));
    return 0;
}

static int queue_get_wakes_put_and_say(void *item)
{
    int rc = putter(item);

    if (rc == 0)
        trace("put %d", (int)(intptr_t)item);
    return rc;
}

/* Taking an item wakes only the putter that has waited longest. */
SCENARIO(queue_get_wakes_a_putter)
{
    use_queue(COIL_QUEUE_FIFO, 1);
    for (int item = 1; item <= 3; item++)
        if (start(queue_get_wakes_put_and_say, ITEM(item)) == NULL)
            return -ENOMEM;
    turns(1);
    for (int i = 0; i < 3; i++) {
        trace("get: %d", get());
        turns(2);
    }
    return 0;
}

/*
 * If a woken getter is cancelled after another task has taken its item, it does not wake
 * the next getter, because no item is left.
 */
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

/*
 * If get_nowait takes the item for which a getter was woken, that getter goes to the end
 * of the queue of getters.
 */
SCENARIO(queue_getter_that_was_woken_may_be_overtaken)
{
    use_queue(COIL_QUEUE_FIFO, 0);
    if (start(taker, "a") == NULL || start(taker, "b") == NULL)
        return -ENOMEM;
    turns(1);
    put_nowait(1);
    trace("we have %s", outcome(get_nowait()));
    turns(1);
    put_nowait(2);
    put_nowait(3);
    turns(1);
    trace("%d in it", qsize());
    return 0;
}

static void await_it(const char *name, coil_task *task)
{
    const char *end = outcome(coil_task_await(task));

    trace("%s: %s, %d in it", name, end, qsize());
}

/*
 * A getter that is cancelled in the turn in which it was woken leaves its item in the
 * queue, so the next getter gets the first item.
 */
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

/*
 * If three getters wait for two items, and the first is cancelled in the turn in which it
 * was woken, the other two get the items.
 */
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
