/*
 * queue_any.c - gets an item from whichever of several queues has one first.
 *
 * The task has a waiter in the line of each queue. All these waiters complete the same
 * wait, `any.wait`, so only one queue wakes the task. The put that wakes the task wakes
 * no other getter of its queue. So if the task then takes an item from a different queue,
 * or takes none, it wakes the next getter of the queue that woke it.
 */
#include "queue_items.h"
#include "waiters.h"

#include <coil/queue.h>

#define ON_STACK 8

struct any {
    struct coil__wait wait;
    coil_queue *const *queues;
    size_t n;
    struct coil__waiter *waiters;
    struct coil__waiter few[ON_STACK];
};

/*
 * Get an item from the first queue that has one. Returns the queue's index or a negative
 * errno.
 */
static int get_from_first(const struct any *any, void *item)
{
    bool open = false;

    for (size_t i = 0; i < any->n; i++) {
        if (coil_queue_get_nowait(any->queues[i], item) == 0)
            return (int)i;
        open |= !any->queues[i]->is_shutdown;
    }
    return open ? -EAGAIN : coil__failed(-ESHUTDOWN);
}

/* Wait until one of the queues wakes the task. Returns 0 or -ECANCELED. */
static int wait_in_all_lines(struct any *any)
{
    static const struct coil__wait_class class = {
        .what = "queue.get_any",
        /* the first queue */
        .object = {2, {offsetof(struct any, queues) - offsetof(struct any, wait), 0}}};
    int rc;

    coil__wait_init(&any->wait, &class);
    for (size_t i = 0; i < any->n; i++) {
        coil__waiter_init_for(&any->waiters[i], &any->wait);
        coil__waiters_push(&any->queues[i]->getters, &any->waiters[i]);
    }
    rc = coil__wait_park(&any->wait);
    for (size_t i = 0; i < any->n; i++)
        coil__waiters_remove(&any->queues[i]->getters, &any->waiters[i]);
    return rc;
}

/*
 * Wake the next getter of each queue that woke this task, except the queue with index
 * `taken`, from which the task got its item.
 */
static void pass_on_wakeups(const struct any *any, int taken)
{
    for (size_t i = 0; i < any->n; i++)
        if ((int)i != taken && coil__waiter_woken(&any->waiters[i]) &&
            !coil_queue_empty(any->queues[i]))
            coil__queue_wake_getter(any->queues[i]);
}

int coil_queue_get_any(coil_queue *const queues[], size_t n, void *item)
{
    COIL__REQUIRE_IF(n > 0, queues, "an array");
    struct any any = {.queues = queues, .n = n};
    int rc;

    for (size_t i = 0; i < n; i++) {
        COIL__REQUIRE(queues[i], "a queue");
        COIL__REQUIRE_IF(queues[i]->item_bytes > 0, item, "an item");
    }
    if (n == 0 || n > INT32_MAX)
        return coil__failed(-EINVAL);
    rc = get_from_first(&any, item);
    if (rc != -EAGAIN)
        return rc;
    any.waiters = n <= ON_STACK ? any.few : coil__alloc(n * sizeof *any.waiters);
    if (any.waiters == NULL)
        return coil__failed(-ENOMEM);
    do {
        rc = wait_in_all_lines(&any);
        if (rc == 0)
            rc = get_from_first(&any, item);
        pass_on_wakeups(&any, rc);
    } while (rc == -EAGAIN);
    if (any.waiters != any.few)
        coil__free(any.waiters);
    return rc;
}
