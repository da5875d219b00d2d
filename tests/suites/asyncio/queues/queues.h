/*
 * queues.h - functions for a queue of numbers, with calls that are as short as in Python.
 *
 *     use_queue(COIL_QUEUE_FIFO, 2);           q = asyncio.Queue(2)
 *     rc = put(5);                             await q.put(5)
 *     number = get();                          number = await q.get()
 *
 * All items are positive, because get() returns either an item or a negative error.
 */
#ifndef TESTS_ASYNCIO_QUEUES_H
#define TESTS_ASYNCIO_QUEUES_H

#include "../scenario.h"

static coil_queue *q;

static inline int compare_numbers(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

static inline void finish_queue(void *queue)
{
    coil_queue_finish(queue);
}

/* Create the queue q. A scenario may use up to three queues. */
static inline void use_queue(coil_queue_order order, size_t maxsize)
{
    static coil_queue queues[3];
    static size_t used;

    q = &queues[used++];
    if (order == COIL_QUEUE_PRIORITY)
        coil_queue_init_priority(q, sizeof(int), maxsize, compare_numbers);
    else if (order == COIL_QUEUE_LIFO)
        coil_queue_init_lifo(q, sizeof(int), maxsize);
    else
        coil_queue_init(q, sizeof(int), maxsize);
    at_end(finish_queue, q);
}

/*
 * Return rc. After -ENOMEM, shut the queue down, because a task might wait forever for
 * the missing item.
 */
static inline int checked(int rc)
{
    if (rc == -ENOMEM)
        coil_queue_shutdown(q, false);
    return rc;
}

static inline int put(int item)
{
    return checked(coil_queue_put(q, &item));
}

static inline int put_nowait(int item)
{
    return checked(coil_queue_put_nowait(q, &item));
}

static inline int get(void)
{
    int item, rc = coil_queue_get(q, &item);

    return rc < 0 ? rc : item;
}

static inline int get_nowait(void)
{
    int item, rc = coil_queue_get_nowait(q, &item);

    return rc < 0 ? rc : item;
}

static inline int qsize(void)
{
    return (int)coil_queue_count(q);
}

/* Functions for tasks: create_task(q.put(5)) in Python is start(putter, ITEM(5)) in C. */
#define ITEM(number) ((void *)(intptr_t)(number))

static inline int putter(void *item)
{
    return put((int)(intptr_t)item);
}

static inline int getter(void *arg)
{
    (void)arg;
    return get();
}

static inline int joiner(void *arg)
{
    (void)arg;
    return coil_queue_join(q);
}

/* Call check() with a queue of each kind. */
static inline int each_kind(size_t maxsize, int (*check)(void))
{
    static const char *const kinds[] = {"Queue", "LifoQueue", "PriorityQueue"};
    int rc = 0;

    for (int order = COIL_QUEUE_FIFO; rc >= 0 && order <= COIL_QUEUE_PRIORITY; order++) {
        trace("%s", kinds[order]);
        use_queue((coil_queue_order)order, maxsize);
        rc = check();
    }
    return rc;
}

#endif
