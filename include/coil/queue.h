/*
 * coil/queue.h - items from task to task.
 *
 *     coil_queue q = COIL_QUEUE_INIT(sizeof(struct job), 100);
 *
 * A producer puts items in:
 *
 *     rc = coil_queue_put(&q, &job);
 *
 * A worker takes them out:
 *
 *     while ((rc = coil_queue_get(&q, &job)) == 0) {
 *         work(&job);
 *         coil_queue_task_done(&q);
 *     }
 *
 * The owner waits until the workers are done with all items:
 *
 *     rc = coil_queue_join(&q);
 *     coil_queue_shutdown(&q, false);         // the workers' gets return -ESHUTDOWN
 *
 * Items are copied in and out, `item_bytes` each. The memory for them grows as needed, up
 * to maxsize items. The initialiser chooses the order: first in, first out; last in,
 * first out; or the least item first. (asyncio: Queue, LifoQueue, PriorityQueue)
 */
#ifndef COIL_QUEUE_H
#define COIL_QUEUE_H

#include <coil/event.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum coil_queue_order {
    COIL_QUEUE_FIFO,    /* first in, first out */
    COIL_QUEUE_LIFO,    /* last in, first out */
    COIL_QUEUE_PRIORITY /* the least first */
} coil_queue_order;

/* The caller's memory; the fields are coil's own. */
typedef struct coil_queue {
    coil_waiters getters, putters;
    coil_event finished;
    char *items;
    size_t item_bytes, maxsize;
    size_t capacity, first, count;
    size_t unfinished;
    int (*compare)(const void *a, const void *b);
    coil_queue_order order;
    bool is_shutdown;
} coil_queue;

/* clang-format off */
#define COIL__QUEUE_INIT(item_bytes, maxsize, order, compare)                           \
    {COIL_WAITERS_INIT, COIL_WAITERS_INIT, {COIL_WAITERS_INIT, true}, NULL,              \
     (item_bytes), (maxsize), 0, 0, 0, 0, (compare), (order), false}
/* clang-format on */

/* An empty queue of items of `item_bytes`; a maxsize of 0 means no limit. */
#define COIL_QUEUE_INIT(item_bytes, maxsize)                                             \
    COIL__QUEUE_INIT(item_bytes, maxsize, COIL_QUEUE_FIFO, NULL)

/* The same, the newest item first. (asyncio: LifoQueue) */
#define COIL_QUEUE_INIT_LIFO(item_bytes, maxsize)                                        \
    COIL__QUEUE_INIT(item_bytes, maxsize, COIL_QUEUE_LIFO, NULL)

/*
 * The same, the least item first: compare(a, b) is below zero where a comes before b, as
 * for qsort(3). Among equals no order is promised. A put and a get take time by the
 * logarithm of the count. `compare` must not use the queue, and
 * if it would suspend, the program stops. (asyncio: PriorityQueue)
 */
#define COIL_QUEUE_INIT_PRIORITY(item_bytes, maxsize, compare)                           \
    COIL__QUEUE_INIT(item_bytes, maxsize, COIL_QUEUE_PRIORITY, compare)

/* What the three initialisers are, at run time. */
COIL_API void coil_queue_init(coil_queue *queue, size_t item_bytes, size_t maxsize);
COIL_API void coil_queue_init_lifo(coil_queue *queue, size_t item_bytes, size_t maxsize);
COIL_API void coil_queue_init_priority(coil_queue *queue, size_t item_bytes,
                                       size_t maxsize,
                                       int (*compare)(const void *a, const void *b));

/*
 * Free the memory for items, with the items that are left. No task may be in a call on
 * the queue: coil_queue_shutdown() only makes waiting tasks ready, and they must have
 * returned. NULL and zeroes are accepted.
 */
COIL_API void coil_queue_finish(coil_queue *queue);

/*
 * Put a copy of *item in, suspending while the queue is full. (asyncio: put)
 *
 * Putters are served first come, first served. Fails with -ECANCELED or -ENOMEM (nothing
 * is put), or -ESHUTDOWN once the queue is shut down.
 */
COIL_SUSPENDS int coil_queue_put(coil_queue *queue, const void *item);

/* The same without waiting: -EAGAIN if it is full. (asyncio: put_nowait) */
COIL_API int coil_queue_put_nowait(coil_queue *queue, const void *item);

/*
 * Take an item, suspending while the queue is empty. (asyncio: get)
 *
 * It is copied to *item and the caller's. Getters are served first come, first served.
 * Fails with -ECANCELED if the task is cancelled (no item is taken), or -ESHUTDOWN once
 * the queue is shut down and empty.
 */
COIL_SUSPENDS int coil_queue_get(coil_queue *queue, void *item);

/* The same without waiting: -EAGAIN if it is empty. (asyncio: get_nowait) */
COIL_API int coil_queue_get_nowait(coil_queue *queue, void *item);

/*
 * Take an item from whichever of n queues has one, suspending while all are empty.
 * Returns the index of that queue.
 *
 *     switch (rc = coil_queue_get_any((coil_queue *[]){&stops, &orders}, 2, &item)) {
 *     case 0:
 *         return 0;
 *     case 1:
 *         serve(&item.order);
 *     }
 *
 * `item` has room for the largest of their items. If several have one, the first in the
 * array gives its own: the order is a priority. In the line of each queue the caller
 * stands as with coil_queue_get(). Queues that are shut down and empty are passed over.
 *
 * Fails with -ECANCELED (no item is taken), -ESHUTDOWN once all are shut down and empty,
 * -EINVAL for n of 0, and for n above 8 with -ENOMEM. (Go: select)
 */
COIL_SUSPENDS int coil_queue_get_any(coil_queue *const queues[], size_t n, void *item);

/*
 * One item that was taken is dealt with. -EINVAL if it is called more often than items
 * were put. (asyncio: task_done)
 */
COIL_API int coil_queue_task_done(coil_queue *queue);

/* Wait until every item that was put is dealt with. 0 or -ECANCELED. (asyncio: join) */
COIL_SUSPENDS int coil_queue_join(coil_queue *queue);

/*
 * Take nothing more: puts fail, and gets once it is empty; all that wait go on to see it.
 * `immediate` empties the queue now, each item counting as dealt with. (asyncio:
 * shutdown)
 */
COIL_API void coil_queue_shutdown(coil_queue *queue, bool immediate);

/* How many items are in it. (asyncio: qsize) */
COIL_API size_t coil_queue_count(const coil_queue *queue);

/* What it was made with; 0 for no limit. (asyncio: maxsize) */
COIL_API size_t coil_queue_maxsize(const coil_queue *queue);

/* True if there is no item in it; true if there is no room. (asyncio: empty, full) */
COIL_API bool coil_queue_empty(const coil_queue *queue);
COIL_API bool coil_queue_full(const coil_queue *queue);

#ifdef __cplusplus
}
#endif

#endif
