/* queue.c - queues: order of items, size, join and shutdown. */
#include "queues.h"

static int taker(void *name)
{
    int item = get();

    if (item < 0)
        return item;
    trace("%s has %d", (char *)name, item);
    return 0;
}

/* A LIFO queue returns its newest item, but serves its getters in FIFO order. */
SCENARIO(lifo_queue_gives_the_newest_first)
{
    use_queue(COIL_QUEUE_LIFO, 3);
    for (int i = 0; i < 3; i++)
        put((const int[]){1, 3, 2}[i]);
    trace("full %d", coil_queue_full(q));
    trace("get: %d", get());
    put(4);
    for (int i = 0; i < 3; i++)
        trace("get: %d", get());
    if (start(taker, "a") == NULL || start(taker, "b") == NULL)
        return -ENOMEM;
    turns(1);
    put(5);
    put(6);
    turns(1);
    trace("%d in it", qsize());
    return 0;
}

/*
 * A priority queue returns its smallest item, whenever that item was put, but serves its
 * getters in FIFO order.
 */
SCENARIO(priority_queue_gives_the_least_first)
{
    use_queue(COIL_QUEUE_PRIORITY, 5);
    for (int i = 0; i < 5; i++)
        put((const int[]){4, 1, 5, 3, 2}[i]);
    trace("full %d", coil_queue_full(q));
    for (int i = 0; i < 2; i++)
        trace("get: %d", get());
    put(1);
    put(9);
    for (int i = 0; i < 5; i++)
        trace("get: %d", get());
    if (start(taker, "a") == NULL || start(taker, "b") == NULL)
        return -ENOMEM;
    turns(1);
    put(6);
    put(5);
    turns(1);
    trace("%d in it", qsize());
    return 0;
}

static coil_queue *first, *second;

static int produce(void *arg)
{
    int rc = 0;

    (void)arg;
    for (int item = 1; item <= 4 && rc == 0; item++) {
        rc = coil_queue_put(first, &item);
        if (rc == 0)
            trace("produced %d", item);
    }
    coil_queue_shutdown(first, false);
    return rc;
}

static int double_all(void *arg)
{
    int item, rc;

    (void)arg;
    while ((rc = coil_queue_get(first, &item)) == 0) {
        item *= 2;
        rc = coil_queue_put(second, &item);
        if (rc < 0)
            break;
    }
    coil_queue_shutdown(second, false);
    if (rc == -ESHUTDOWN)
        trace("doubled all");
    return 0;
}

/*
 * In a pipeline of three tasks with bounded queues between them, a slow third task slows
 * down the first.
 */
SCENARIO(queue_between_three_stages)
{
    int item;

    use_queue(COIL_QUEUE_FIFO, 1);
    first = q;
    use_queue(COIL_QUEUE_FIFO, 1);
    second = q;
    if (start(produce, NULL) == NULL || start(double_all, NULL) == NULL)
        return -ENOMEM;
    while (coil_queue_get(second, &item) == 0) {
        trace("got %d", item);
        coil_sleep(COIL_SEC(1));
    }
    trace("end");
    return 0;
}

static int queue_emptied_put_and_say(void *item)
{
    int rc = putter(item);

    if (rc == 0)
        trace("put %d", (int)(intptr_t)item);
    return rc;
}

static int queue_emptied_taker(void *arg)
{
    int count;

    (void)arg;
    turns(1);
    count = qsize();
    trace("takes %d", count);
    while (count-- > 0)
        get_nowait();
    return 0;
}

/*
 * Each item that is taken from a full queue lets one waiting putter continue, even if all
 * items are taken in one turn.
 */
SCENARIO(queue_emptied_at_once_lets_all_putters_in)
{
    coil_group group;
    int rc;

    use_queue(COIL_QUEUE_FIFO, 2);
    coil_group_enter(&group);
    rc = coil_group_spawn(&group, queue_emptied_taker, NULL, NULL, NULL);
    for (int item = 1; item <= 4 && rc == 0; item++)
        rc = coil_group_spawn(&group, queue_emptied_put_and_say, ITEM(item), NULL, NULL);
    rc = coil_group_exit(&group, rc);
    trace("%d in it", qsize());
    return rc;
}

/*
 * Items come out in the order in which they went in, even if the queue is filled and
 * emptied alternately.
 */
SCENARIO(queue_gives_items_in_order)
{
    use_queue(COIL_QUEUE_FIFO, 0);
    for (int i = 0; i < 3; i++)
        put((const int[]){1, 3, 2}[i]);
    trace("get: %d", get_nowait());
    for (int i = 0; i < 2; i++)
        put((const int[]){9, 4}[i]);
    for (int i = 0; i < 4; i++)
        trace("get: %d", get_nowait());
    return 0;
}

static void look(void)
{
    trace("empty %d, %d in it", coil_queue_empty(q), qsize());
}

/* A queue is empty before the first item and after the last. */
SCENARIO(queue_is_empty_again_when_all_is_taken)
{
    use_queue(COIL_QUEUE_FIFO, 0);
    look();
    put(1);
    put(2);
    look();
    trace("get: %d", get());
    look();
    trace("get: %d", get());
    look();
    return 0;
}

static void fill(size_t maxsize)
{
    int rc;

    use_queue(COIL_QUEUE_FIFO, maxsize);
    trace("maxsize %zu", coil_queue_maxsize(q));
    for (int item = 1; item <= 3; item++) {
        rc = put_nowait(item);
        trace("put: %s; full %d", outcome(rc), coil_queue_full(q));
    }
    rc = get_nowait();
    trace("get: %d; full %d", rc, coil_queue_full(q));
}

/*
 * A queue without a limit is never full. A queue with a limit is full when it holds as
 * many items as the limit.
 */
SCENARIO(queue_is_full_at_its_maxsize)
{
    fill(0);
    fill(2);
    return 0;
}

/*
 * If a task is cancelled while it waits in join(), its join() returns the cancellation.
 * Other tasks continue to wait until the work is done.
 */
SCENARIO(queue_join_cancelled_waits_no_more)
{
    coil_task *a, *b;

    use_queue(COIL_QUEUE_FIFO, 0);
    put_nowait(1);
    a = start(joiner, NULL);
    b = start(joiner, NULL);
    if (a == NULL || b == NULL)
        return -ENOMEM;
    turns(1);
    coil_task_cancel(a, NULL);
    turns(1);
    trace("a %s, b %s", state(coil_task_future(a)), state(coil_task_future(b)));
    trace("get: %d", get());
    turns(1);
    trace("b %s", state(coil_task_future(b)));
    coil_queue_task_done(q);
    turns(1);
    trace("b %s", state(coil_task_future(b)));
    return 0;
}

static int queue_join_of_nothing_check(void)
{
    coil_task *task;

    if (start(ticker, TURNS(2)) == NULL)
        return -ENOMEM;
    coil_queue_join(q);
    trace("joined");
    coil_queue_join(q);
    trace("joined again");
    put_nowait(1);
    task = start(joiner, NULL);
    if (task == NULL)
        return -ENOMEM;
    turns(1);
    trace("with an item: %s", state(coil_task_future(task)));
    coil_queue_task_done(q);
    turns(1);
    trace("it is done: %s", state(coil_task_future(task)));
    return 0;
}

/*
 * join() on a queue that never had an item takes no turn, however often it is called. If
 * the queue has an item, join() waits.
 */
SCENARIO(queue_join_of_nothing_does_not_wait)
{
    return each_kind(0, queue_join_of_nothing_check);
}

static bool running;

static int worker(void *name)
{
    while (running) {
        int item = get(), rc;

        if (item < 0)
            return item;
        trace("%s begins %d", (char *)name, item);
        rc = coil_sleep(COIL_SEC(item));
        coil_queue_task_done(q);
        if (rc < 0)
            return rc;
    }
    return 0;
}

static int queue_join_waits_check(void)
{
    coil_group group;
    int rc = 0;

    running = true;
    coil_group_enter(&group);
    for (int i = 0; i < 4 && rc == 0; i++)
        rc = put_nowait((const int[]){2, 1, 3, 1}[i]);
    if (rc == 0)
        rc = coil_group_spawn(&group, worker, "a", NULL, NULL);
    if (rc == 0)
        rc = coil_group_spawn(&group, worker, "b", NULL, NULL);
    if (rc == 0)
        rc = coil_queue_join(q);
    trace("all is done");
    running = false;
    put_nowait(1);
    put_nowait(1);
    return coil_group_exit(&group, rc);
}

/*
 * join() on a queue of any kind waits until its two workers have finished all items, not
 * only taken them.
 */
SCENARIO(queue_join_waits_until_all_work_is_done)
{
    return each_kind(0, queue_join_waits_check);
}

static int producer(void *arg)
{
    (void)arg;
    for (int item = 1; item < 6; item++) {
        int rc = put(item);

        if (rc < 0)
            return rc;
        trace("put %d", item);
    }
    return 0;
}

static int consumer(void *arg)
{
    (void)arg;
    for (int i = 0; i < 5; i++) {
        int item = get();

        if (item < 0)
            return item;
        trace("got %d", item);
    }
    return 0;
}

/*
 * If a producer and a consumer share a queue for one item, neither task waits
 * unnecessarily.
 */
SCENARIO(queue_of_one_alternates)
{
    coil_group group;
    int rc;

    use_queue(COIL_QUEUE_FIFO, 1);
    coil_group_enter(&group);
    rc = coil_group_spawn(&group, producer, NULL, NULL, NULL);
    if (rc == 0)
        rc = coil_group_spawn(&group, consumer, NULL, NULL, NULL);
    rc = coil_group_exit(&group, rc);
    trace("end");
    return rc;
}

static int queue_shut_down_at_once_awaits_check(void)
{
    coil_task *join;

    put_nowait(1);
    put_nowait(2);
    join = start(joiner, NULL);
    if (join == NULL)
        return -ENOMEM;
    trace("get: %d", get());
    coil_queue_shutdown(q, true);
    turns(1);
    trace("%d in it, joiner %s", qsize(), state(coil_task_future(join)));
    trace("get: %s", outcome(get()));
    trace("task_done: %s", outcome(coil_queue_task_done(q)));
    trace("task_done: %s", outcome(coil_queue_task_done(q)));
    turns(1);
    trace("joiner %s", state(coil_task_future(join)));
    return 0;
}

/*
 * After an immediate shutdown, join() still waits for an item that was taken before and
 * is not done yet.
 */
SCENARIO(queue_shut_down_at_once_awaits_what_was_taken)
{
    return each_kind(0, queue_shut_down_at_once_awaits_check);
}

static int queue_shut_down_at_once_is_empty_check(void)
{
    coil_task *join;

    put_nowait(1);
    put_nowait(2);
    join = start(joiner, NULL);
    if (join == NULL)
        return -ENOMEM;
    turns(1);
    coil_queue_shutdown(q, true);
    trace("%d in it, joiner %s", qsize(), state(coil_task_future(join)));
    turns(1);
    trace("joiner %s", state(coil_task_future(join)));
    trace("put: %s", outcome(put(3)));
    trace("get: %s", outcome(get()));
    trace("task_done: %s", outcome(coil_queue_task_done(q)));
    return 0;
}

/*
 * An immediate shutdown of a queue of any kind empties it, and its items count as done.
 */
SCENARIO(queue_shut_down_at_once_is_empty)
{
    return each_kind(0, queue_shut_down_at_once_is_empty_check);
}

static int queue_shut_down_wakes_taker(void *name)
{
    int rc = get();

    trace("%s: %s", (char *)name, outcome(rc));
    return rc < 0 ? 0 : rc;
}

/*
 * A shutdown ends the waits of all getters in one turn, in order. A getter that was woken
 * for an item before the shutdown still gets the item.
 */
SCENARIO(queue_shut_down_wakes_everybody_in_line)
{
    use_queue(COIL_QUEUE_FIFO, 0);
    if (start(queue_shut_down_wakes_taker, "a") == NULL ||
        start(queue_shut_down_wakes_taker, "b") == NULL ||
        start(queue_shut_down_wakes_taker, "c") == NULL)
        return -ENOMEM;
    turns(1);
    put_nowait(5);
    coil_queue_shutdown(q, false);
    trace("shut down: %d in it", qsize());
    turns(1);
    trace("%d in it", qsize());
    return 0;
}

static int queue_shut_down_while_empty_check(void)
{
    coil_task *task = start(getter, NULL);

    if (task == NULL)
        return -ENOMEM;
    turns(1);
    coil_queue_shutdown(q, false);
    trace("%d in it, the getter: %s", qsize(), state(coil_task_future(task)));
    trace("join: %s", outcome(coil_queue_join(q)));
    turns(1);
    trace("the getter: %s", state(coil_task_future(task)));
    trace("put: %s", outcome(put(1)));
    trace("put_nowait: %s", outcome(put_nowait(1)));
    trace("get: %s", outcome(get()));
    trace("get_nowait: %s", outcome(get_nowait()));
    return 0;
}

/*
 * A shutdown of an empty queue of any kind ends a getter's wait in the next turn. Later
 * calls of get() fail, and join() returns without waiting.
 */
SCENARIO(queue_shut_down_while_empty)
{
    return each_kind(0, queue_shut_down_while_empty_check);
}

static int queue_shut_down_while_full_is_emptied_check(void)
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

/*
 * A shutdown of a full queue of any kind ends a putter's wait. The items can still be
 * taken, and join() waits for them.
 */
SCENARIO(queue_shut_down_while_full_is_emptied_first)
{
    return each_kind(2, queue_shut_down_while_full_is_emptied_check);
}

static int queue_shut_down_while_full_never_put_and_say(void *item)
{
    int rc = putter(item);

    trace("%d: %s", (int)(intptr_t)item, outcome(rc));
    return 0;
}

/*
 * Putters that are waiting when the queue is shut down fail without putting their items,
 * even if the queue is not full when they continue.
 */
SCENARIO(queue_shut_down_while_full_never_lets_putters_in)
{
    use_queue(COIL_QUEUE_FIFO, 1);
    for (int item = 1; item <= 3; item++)
        if (start(queue_shut_down_while_full_never_put_and_say, ITEM(item)) == NULL)
            return -ENOMEM;
    turns(1);
    coil_queue_shutdown(q, false);
    trace("get: %s", outcome(get_nowait()));
    turns(1);
    trace("%d in it", qsize());
    return 0;
}

static void task_done(const char *when)
{
    trace("%s: %s", when, outcome(coil_queue_task_done(q)));
}

static int queue_task_check(void)
{
    int rc;

    task_done("nothing was put");
    rc = put(1);
    if (rc < 0)
        return rc;
    task_done("one was put");
    task_done("again");
    trace("get: %d", get());
    task_done("got");
    return 0;
}

/*
 * Calling task_done more often than items were put is an error, for each kind of queue.
 */
SCENARIO(queue_task_done_too_often_is_an_error)
{
    return each_kind(0, queue_task_check);
}
