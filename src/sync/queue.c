/*
 * queue.c - items from task to task. (asyncio: queues.Queue, LifoQueue, PriorityQueue)
 *
 * This is who waits and who is woken; in which order the items come is queue_items.c's.
 *
 * A getter that finds nothing stands in line, and looks again when it is woken: whoever
 * puts an item wakes the first getter and takes it out of the line, but does not hand the
 * item over. So a getter that is cancelled after having been woken loses nothing: it
 * wakes the next. Putters of a full queue likewise.
 */
#include "queue_items.h"
#include "waiters.h"

#include <coil/queue.h>

void coil_queue_init(coil_queue *queue, size_t item_bytes, size_t maxsize)
{
    *queue = (coil_queue)COIL_QUEUE_INIT(item_bytes, maxsize);
}

void coil_queue_init_lifo(coil_queue *queue, size_t item_bytes, size_t maxsize)
{
    *queue = (coil_queue)COIL_QUEUE_INIT_LIFO(item_bytes, maxsize);
}

void coil_queue_init_priority(coil_queue *queue, size_t item_bytes, size_t maxsize,
                              int (*compare)(const void *a, const void *b))
{
    *queue = (coil_queue)COIL_QUEUE_INIT_PRIORITY(item_bytes, maxsize, compare);
}

void coil_queue_finish(coil_queue *queue)
{
    if (queue == NULL)
        return;
    coil__waiters_finish(&queue->getters, "coil_queue_finish");
    coil__waiters_finish(&queue->putters, "coil_queue_finish");
    coil_event_finish(&queue->finished);
    coil__queue_items_free(queue);
}

size_t coil_queue_count(const coil_queue *queue)
{
    return queue->count;
}

size_t coil_queue_maxsize(const coil_queue *queue)
{
    return queue->maxsize;
}

bool coil_queue_empty(const coil_queue *queue)
{
    return queue->count == 0;
}

bool coil_queue_full(const coil_queue *queue)
{
    return queue->maxsize > 0 && queue->count >= queue->maxsize;
}

/* ---- waiting ----------------------------------------------------------------------- */

/* Take waiters out of the line until one is found that can be woken. */
static void wake_next(coil_waiters *line)
{
    struct coil__waiter *waiter;
    bool woken = false;

    while (!woken && (waiter = coil__waiters_first(line)) != NULL) {
        coil__waiters_remove(line, waiter);
        woken = coil__waiter_wake(waiter);
    }
}

static void wake_everybody(coil_waiters *line)
{
    while (line->first != NULL)
        wake_next(line);
}

/* What putting and getting differ in, where they have to wait. */
struct side {
    struct coil__wait_class class;
    bool (*must_wait)(const coil_queue *queue);
    int (*perform)(coil_queue *queue, void *item);
};

/*
 * Stand in `line` until it can be done, and do it. Who is cancelled after having been
 * woken wakes the next, unless there is nothing for that one to go on with.
 *
 * One function for both sides, and called last by each: where a putter and a getter take
 * turns, the processor expects the one to return as the other was called (see
 * coil__switch_alike()), and is right until it leaves this function.
 */
static COIL__NOINLINE int put_or_get(coil_queue *queue, coil_waiters *line, void *item,
                                     const struct side *side)
{
    while (side->must_wait(queue)) {
        struct coil__waiter waiter;
        int rc;

        if (queue->is_shutdown)
            return -ESHUTDOWN;
        rc = coil__waiters_wait(line, &waiter, &side->class, queue);
        if (rc < 0) {
            if (!side->must_wait(queue) && coil__waiter_woken(&waiter))
                wake_next(line);
            return rc;
        }
    }
    return side->perform(queue, item);
}

/* ---- putting ----------------------------------------------------------------------- */

int coil_queue_put_nowait(coil_queue *queue, const void *item)
{
    int rc;

    if (queue->is_shutdown)
        return -ESHUTDOWN;
    if (coil_queue_full(queue))
        return -EAGAIN;
    rc = coil__queue_items_push(queue, item);
    if (rc < 0)
        return rc;
    if (queue->unfinished++ == 0)
        coil_event_clear(&queue->finished);
    wake_next(&queue->getters);
    return 0;
}

/* Without memory, the room for which we were woken is still there. */
static int put_or_wake_next(coil_queue *queue, void *item)
{
    int rc = coil_queue_put_nowait(queue, item);

    if (rc == -ENOMEM)
        wake_next(&queue->putters);
    return rc;
}

int coil_queue_put(coil_queue *queue, const void *item)
{
    static const struct side side = {COIL__WAITER_CLASS("queue.put"), coil_queue_full,
                                     put_or_wake_next};

    if (!coil_queue_full(queue))
        return coil_queue_put_nowait(queue, item);
    return put_or_get(queue, &queue->putters, (void *)item, &side);
}

/* ---- getting ----------------------------------------------------------------------- */

int coil_queue_get_nowait(coil_queue *queue, void *item)
{
    if (coil_queue_empty(queue))
        return queue->is_shutdown ? -ESHUTDOWN : -EAGAIN;
    coil__queue_items_pop(queue, item);
    wake_next(&queue->putters);
    return 0;
}

int coil_queue_get(coil_queue *queue, void *item)
{
    static const struct side side = {COIL__WAITER_CLASS("queue.get"), coil_queue_empty,
                                     coil_queue_get_nowait};

    if (!coil_queue_empty(queue))
        return coil_queue_get_nowait(queue, item);
    return put_or_get(queue, &queue->getters, item, &side);
}

/* ---- accounting -------------------------------------------------------------------- */

int coil_queue_task_done(coil_queue *queue)
{
    if (queue->unfinished == 0)
        return -EINVAL;
    if (--queue->unfinished == 0)
        coil_event_set(&queue->finished);
    return 0;
}

/* While something is unfinished the event is not set. */
int coil_queue_join(coil_queue *queue)
{
    static const struct coil__wait_class class = COIL__WAITER_CLASS("queue.join");
    struct coil__waiter waiter;

    if (queue->unfinished == 0)
        return 0;
    return coil__waiters_wait(&queue->finished.waiters, &waiter, &class, queue);
}

static void drop_items(coil_queue *queue)
{
    size_t dropped = queue->count;

    coil__queue_items_clear(queue);
    queue->unfinished -= dropped < queue->unfinished ? dropped : queue->unfinished;
    if (queue->unfinished == 0)
        coil_event_set(&queue->finished);
}

void coil_queue_shutdown(coil_queue *queue, bool immediate)
{
    queue->is_shutdown = true;
    if (immediate)
        drop_items(queue);
    wake_everybody(&queue->getters);
    wake_everybody(&queue->putters);
}
