/*
 * queue.c - passes items from one task to another. (asyncio: queues.Queue, LifoQueue,
 * PriorityQueue)
 *
 * This file decides which tasks wait and which are woken. queue_items.c stores the items
 * and defines their order.
 *
 * A getter that finds the queue empty waits in a line of getters, and checks the queue
 * again when it is woken. A put wakes the first getter and removes it from the line, but
 * does not hand the item over. So no item is lost if that getter is cancelled before it
 * runs: it then wakes the next getter. Putters wait in the same way while the queue is
 * full.
 */
#include "queue_items.h"
#include "waiters.h"

#include <coil/queue.h>

void coil_queue_init(coil_queue *queue, size_t item_bytes, size_t maxsize)
{
    COIL__REQUIRE(queue, "a queue");
    *queue = (coil_queue)COIL_QUEUE_INIT(item_bytes, maxsize);
    coil__queue_be_careful(queue);
}

void coil_queue_init_lifo(coil_queue *queue, size_t item_bytes, size_t maxsize)
{
    COIL__REQUIRE(queue, "a queue");
    *queue = (coil_queue)COIL_QUEUE_INIT_LIFO(item_bytes, maxsize);
    coil__queue_be_careful(queue);
}

void coil_queue_init_priority(coil_queue *queue, size_t item_bytes, size_t maxsize,
                              int (*compare)(const void *a, const void *b))
{
    COIL__REQUIRE(queue, "a queue");
    COIL__REQUIRE(compare, "a function");
    *queue = (coil_queue)COIL_QUEUE_INIT_PRIORITY(item_bytes, maxsize, compare);
    coil__queue_be_careful(queue);
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
    COIL__REQUIRE(queue, "a queue");
    return queue->count;
}

size_t coil_queue_maxsize(const coil_queue *queue)
{
    COIL__REQUIRE(queue, "a queue");
    return queue->maxsize;
}

bool coil_queue_empty(const coil_queue *queue)
{
    COIL__REQUIRE(queue, "a queue");
    return queue->count == 0;
}

bool coil_queue_full(const coil_queue *queue)
{
    COIL__REQUIRE(queue, "a queue");
    return queue->maxsize > 0 && queue->count >= queue->maxsize;
}

/* ---- waking ------------------------------------------------------------------------ */

/*
 * Remove waiters from the front of the line until one is woken. A cancelled waiter cannot
 * be woken.
 */
static inline void wake_next(coil_waiters *line, const char *caller)
{
    struct coil__waiter *waiter;

    do
        waiter = coil__waiters_pop(line);
    while (waiter != NULL && !coil__waiter_wake_for(waiter, caller));
}

void coil__queue_wake_getter(coil_queue *queue)
{
    wake_next(&queue->getters, "coil_queue_get_any");
}

static void wake_all_in(coil_waiters *line)
{
    while (line->first != NULL)
        wake_next(line, "coil_queue_shutdown");
}

/* ---- without waiting --------------------------------------------------------------- */

/*
 * Put the item if there is room. Not inlined, so that coil_queue_put() needs no stack
 * frame.
 */
COIL__HOT static COIL__NOINLINE int put_now(coil_queue *queue, const void *item)
{
    int rc;

    if (queue->is_shutdown)
        return coil__failed(-ESHUTDOWN);
    if (queue->maxsize > 0 && queue->count >= queue->maxsize)
        return -EAGAIN; /* an expected result, not recorded as a failure */
    rc = coil__queue_items_push(queue, item);
    if (rc < 0)
        return rc;
    if (queue->unfinished++ == 0)
        coil_event_clear(&queue->finished);
    wake_next(&queue->getters, "coil_queue_put");
    return 0;
}

/*
 * Put the item. If memory runs out, wake the next putter, because this one does not use
 * the free place for which it was woken.
 */
static int put_or_wake_next(coil_queue *queue, const void *item)
{
    int rc = put_now(queue, item);

    if (rc == -ENOMEM)
        wake_next(&queue->putters, "coil_queue_put");
    return rc;
}

static inline int get_now(coil_queue *queue, void *item, const char *caller)
{
    /* the thread is checked only here, because a check in each get would cost 5 % */
    if (queue->count == 0) {
        coil__waiters_check(&queue->getters, caller);
        return queue->is_shutdown ? coil__failed(-ESHUTDOWN) : -EAGAIN;
    }
    coil__queue_items_pop(queue, item);
    wake_next(&queue->putters, caller);
    return 0;
}

int coil_queue_put_nowait(coil_queue *queue, const void *item)
{
    COIL__REQUIRE(queue, "a queue");
    COIL__REQUIRE_IF(queue->item_bytes > 0, item, "an item");
    if (queue->getters.first != NULL || queue->order >= COIL__QUEUE_CAREFUL)
        coil__waiters_check(&queue->getters, "coil_queue_put_nowait");
    return put_now(queue, item);
}

int coil_queue_get_nowait(coil_queue *queue, void *item)
{
    COIL__REQUIRE(queue, "a queue");
    COIL__REQUIRE_IF(queue->item_bytes > 0, item, "an item");
    if (COIL__UNLIKELY(queue->order >= COIL__QUEUE_CAREFUL))
        coil__waiters_check(&queue->getters, "coil_queue_get_nowait");
    return get_now(queue, item, "coil_queue_get_nowait");
}

/* ---- waiting ----------------------------------------------------------------------- */

enum side { PUTS, GETS };

static const struct coil__wait_class classes[] = {
    [PUTS] = COIL__WAITER_CLASS("queue.put", NULL),
    [GETS] = COIL__WAITER_CLASS("queue.get", NULL)};

static inline bool must_wait(const coil_queue *queue, enum side side)
{
    return side == GETS ? queue->count == 0
                        : queue->maxsize > 0 && queue->count >= queue->maxsize;
}

/* The return address of the latest call to coil__queue_wait() that had to wait. */
static COIL__THREAD_LOCAL const void *last_caller;

/*
 * Wait in line until the operation is possible, and perform it. If the task is cancelled
 * after it was woken, and the operation is still possible, wake the next waiter instead.
 */
static inline int put_or_get(coil_queue *queue, void *item, enum side side,
                             const void *caller)
{
    coil_waiters *line = side == GETS ? &queue->getters : &queue->putters;

    while (must_wait(queue, side)) {
        int rc;

        /* keeps gcc from generating a separate loop and call for each side */
        COIL__FORGET(side);
        if (queue->is_shutdown)
            return coil__failed(-ESHUTDOWN);
        last_caller = caller;
        rc = coil__waiters_park(line, &coil__wait_in_room(&classes[side])->waiter, queue);
        if (rc < 0) {
            if (!must_wait(queue, side) && coil__waiter_was_woken())
                wake_next(line, side == GETS ? "coil_queue_get" : "coil_queue_put");
            return rc;
        }
    }
    return side == GETS ? get_now(queue, item, "coil_queue_get")
                        : put_or_wake_next(queue, item);
}

struct coil__queue_waited {
    intptr_t rc;
    bool is_alike;
};

__attribute__((used)) struct coil__queue_waited
coil__queue_put_or_get(coil_queue *queue, void *item, enum side side, const void *caller);

/*
 * Call coil__queue_put_or_get() and return its rc. Implemented in queue_wait_x86_64.S and
 * queue_wait_aarch64.S.
 *
 * If a putter and a getter take turns, the processor predicts that each returns to the
 * other's caller (see coil__switch_alike()). Both wait in the same call to
 * coil__waiters_wait(), so all predictions are right up to the return from
 * coil__queue_wait(). To avoid a wrong prediction there, this function ends with a jump
 * to its return address, which the processor predicts from the history of jumps. (On Zen
 * this saves 20 ns per item in a queue with a maxsize of 1.) If `is_alike` is set, all
 * tasks wait in the same call, as workers do. In that case this function returns
 * normally, because after a jump the processor would mispredict the returns from its
 * callers.
 */
int coil__queue_wait(coil_queue *queue, void *item, enum side side);

COIL__HOT struct coil__queue_waited
coil__queue_put_or_get(coil_queue *queue, void *item, enum side side, const void *caller)
{
    int rc = put_or_get(queue, item, side, caller);

    return (struct coil__queue_waited){.rc = rc, .is_alike = caller == last_caller};
}

COIL__HOT int coil_queue_put(coil_queue *queue, const void *item)
{
    COIL__REQUIRE(queue, "a queue");
    return must_wait(queue, PUTS) ? coil__queue_wait(queue, (void *)item, PUTS)
                                  : put_now(queue, item);
}

COIL__HOT int coil_queue_get(coil_queue *queue, void *item)
{
    COIL__REQUIRE(queue, "a queue");
    return must_wait(queue, GETS) ? coil__queue_wait(queue, item, GETS)
                                  : get_now(queue, item, "coil_queue_get");
}

/* ---- accounting -------------------------------------------------------------------- */

int coil_queue_task_done(coil_queue *queue)
{
    COIL__REQUIRE(queue, "a queue");
    coil__waiters_check(&queue->getters, "coil_queue_task_done");
    if (queue->unfinished == 0)
        return coil__failed(-EINVAL);
    if (--queue->unfinished == 0)
        coil_event_set(&queue->finished);
    return 0;
}

/* The event `finished` is set when `unfinished` becomes 0. */
int coil_queue_join(coil_queue *queue)
{
    COIL__REQUIRE(queue, "a queue");
    static const struct coil__wait_class class = COIL__WAITER_CLASS("queue.join", NULL);

    if (queue->unfinished == 0)
        return 0;
    return coil__waiters_wait(&queue->finished.waiters, &class, queue);
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
    COIL__REQUIRE(queue, "a queue");
    coil__waiters_check(&queue->getters, "coil_queue_shutdown");
    queue->is_shutdown = true;
    if (immediate)
        drop_items(queue);
    wake_all_in(&queue->getters);
    wake_all_in(&queue->putters);
}
