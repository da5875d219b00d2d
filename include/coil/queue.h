/*
 * coil/queue.h - pass items between tasks.
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
 * The owner waits until the workers have processed all items:
 *
 *     rc = coil_queue_join(&q);
 *     coil_queue_shutdown(&q, false);         // the workers' gets return -ESHUTDOWN
 *
 * Items of `item_bytes` each are copied into and out of the queue. The queue's memory
 * grows as needed, up to maxsize items. The initialiser chooses the order: oldest first,
 * newest first, or smallest first. (asyncio: Queue, LifoQueue, PriorityQueue)
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
    COIL_QUEUE_PRIORITY /* smallest first */
} coil_queue_order;

/* Allocated by the caller; all members are private to coil. */
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

/* An empty queue for items of `item_bytes` each; a maxsize of 0 means no limit. */
#define COIL_QUEUE_INIT(item_bytes, maxsize)                                             \
    COIL__QUEUE_INIT(item_bytes, maxsize, COIL_QUEUE_FIFO, NULL)

/* A queue that returns the newest item first. (asyncio: LifoQueue) */
#define COIL_QUEUE_INIT_LIFO(item_bytes, maxsize)                                        \
    COIL__QUEUE_INIT(item_bytes, maxsize, COIL_QUEUE_LIFO, NULL)

/*
 * A queue that returns the smallest item first. (asyncio: PriorityQueue)
 *
 * compare(a, b) returns a negative number if a comes before b, as for qsort(3). Equal
 * items are returned in any order. The time for a put or a get is logarithmic in the
 * number of items. `compare` must not use the queue. The program aborts if `compare`
 * would suspend.
 */
#define COIL_QUEUE_INIT_PRIORITY(item_bytes, maxsize, compare)                           \
    COIL__QUEUE_INIT(item_bytes, maxsize, COIL_QUEUE_PRIORITY, compare)

/* Initialise a queue at run time, like the three macros above. */
COIL_API void coil_queue_init(coil_queue *queue, size_t item_bytes, size_t maxsize);
COIL_API void coil_queue_init_lifo(coil_queue *queue, size_t item_bytes, size_t maxsize);
COIL_API void coil_queue_init_priority(coil_queue *queue, size_t item_bytes,
                                       size_t maxsize,
                                       int (*compare)(const void *a, const void *b));

/*
 * Free the queue's memory and the remaining items.
 *
 * All calls on the queue must have returned. Note that coil_queue_shutdown() only makes
 * waiting tasks ready; their calls return later. NULL and a zeroed queue are accepted.
 */
COIL_API void coil_queue_finish(coil_queue *queue);

/*
 * Put a copy of *item into the queue, suspending while the queue is full. (asyncio: put)
 *
 * Putters are served in the order of their calls. Fails with -ECANCELED or -ENOMEM
 * (the item is not added), or -ESHUTDOWN once the queue is shut down.
 */
COIL_SUSPENDS int coil_queue_put(coil_queue *queue, const void *item);

/*
 * Put a copy of *item into the queue without waiting. Fails with -EAGAIN if the queue is
 * full. (asyncio: put_nowait)
 */
COIL_API int coil_queue_put_nowait(coil_queue *queue, const void *item);

/*
 * Take an item, suspending while the queue is empty. (asyncio: get)
 *
 * The item is copied to *item, which the caller owns. Getters are served in the order in
 * which they called. Fails with -ECANCELED if the task is cancelled (no item is taken),
 * or -ESHUTDOWN once the queue is shut down and empty.
 */
COIL_SUSPENDS COIL_CHECKED int coil_queue_get(coil_queue *queue, void *item);

/*
 * Take an item without waiting. Fails with -EAGAIN if the queue is empty. (asyncio:
 * get_nowait)
 */
COIL_API COIL_CHECKED int coil_queue_get_nowait(coil_queue *queue, void *item);

/*
 * Take an item from the first non-empty queue of an array, suspending while all are
 * empty. Returns the index of that queue. (Go: select)
 *
 *     switch (rc = coil_queue_get_any((coil_queue *[]){&stops, &orders}, 2, &item)) {
 *     case 0:
 *         return 0;
 *     case 1:
 *         serve(&item.order);
 *     }
 *
 * The buffer `item` must be large enough for the items of any of the queues. If several
 * queues have an item, the queue with the lowest index wins, so the order of the array is
 * a priority. The caller waits in line in each queue, as with coil_queue_get(). Queues
 * that are shut down and empty are skipped.
 *
 * Fails with -ECANCELED (no item is taken), or -ESHUTDOWN once all queues are shut down
 * and empty. Also fails with -EINVAL if n is 0. May fail with -ENOMEM, but only if n is
 * above 8.
 */
COIL_SUSPENDS COIL_CHECKED int coil_queue_get_any(coil_queue *const queues[], size_t n,
                                                  void *item);

/*
 * Report that an item that was taken from the queue has been processed. Fails with
 * -EINVAL if it is called more often than items were put into the queue. (asyncio:
 * task_done)
 */
COIL_API int coil_queue_task_done(coil_queue *queue);

/*
 * Wait until every item that was put into the queue has been processed. Returns 0 or
 * -ECANCELED. (asyncio: join)
 */
COIL_SUSPENDS int coil_queue_join(coil_queue *queue);

/*
 * Shut the queue down. (asyncio: shutdown)
 *
 * From now on puts fail, and gets fail once the queue is empty; waiting tasks wake up. If
 * `immediate` is true, the queue is emptied now, and each removed item counts as
 * processed.
 */
COIL_API void coil_queue_shutdown(coil_queue *queue, bool immediate);

/* Return the number of items in the queue. (asyncio: qsize) */
COIL_API size_t coil_queue_count(const coil_queue *queue);

/*
 * Return the maxsize with which the queue was initialised; 0 means no limit. (asyncio:
 * maxsize)
 */
COIL_API size_t coil_queue_maxsize(const coil_queue *queue);

/* Return whether the queue is empty, or full. (asyncio: empty, full) */
COIL_API bool coil_queue_empty(const coil_queue *queue);
COIL_API bool coil_queue_full(const coil_queue *queue);

#ifdef __cplusplus
}
#endif

#endif
