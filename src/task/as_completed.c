/*
 * as_completed.c - returns several futures one by one, as they complete. (asyncio:
 * as_completed)
 *
 * Each future gets a runnable as a callback, and all the runnables are allocated
 * together. When a future completes, its runnable appends itself to `done` and wakes one
 * waiting task. The cost of this step does not depend on the number of futures. The woken
 * task checks `done` again, because another task may already have taken the future.
 */
#include "task.h"

#include <coil/gather.h>

struct iteration;

struct item {
    /*
     * In the list of the future's callbacks until the future completes, then in `done`.
     */
    struct coil__runnable runnable;
    struct iteration *whole;
    coil_future *future;
};

struct iteration {
    struct item *items;
    size_t n;
    size_t unclaimed; /* futures not yet returned or claimed by a waiting call */
    size_t pending;
    struct coil__list done;    /* completed, but not yet returned (item.runnable.link) */
    struct coil__list waiters; /* waiter.link */
    struct coil__timer timer;
    coil_loop *loop; /* NULL if n is 0 or the iteration is finished */
    int64_t deadline;
    bool expired;
};

_Static_assert(sizeof(struct iteration) <= sizeof(coil_as_completed),
               "coil_as_completed is too small");

struct waiter {
    struct coil__wait wait;
    struct coil__list link;
    const struct iteration *whole;
};

static struct iteration *iteration_inside(coil_as_completed *iteration)
{
    return (struct iteration *)iteration;
}

static bool wake_one(struct iteration *it)
{
    struct coil__list *link;

    while ((link = coil__list_pop(&it->waiters)) != NULL)
        if (coil__wait_complete(&COIL__CONTAINER(link, struct waiter, link)->wait, 0))
            return true;
    return false;
}

static void item_done(struct coil__runnable *runnable)
{
    struct iteration *it = COIL__CONTAINER(runnable, struct item, runnable)->whole;

    if (it->expired)
        return;
    coil__list_push(&it->done, &runnable->link);
    if (--it->pending == 0)
        coil__timer_stop(it->loop, &it->timer);
    wake_one(it);
}

static void expire_iteration(struct coil__runnable *runnable)
{
    struct iteration *it = COIL__CONTAINER(runnable, struct iteration, timer.runnable);

    it->expired = true;
    while (wake_one(it))
        ;
}

int coil_as_completed_init(coil_as_completed *iteration, coil_future *const futures[],
                           size_t n, int64_t deadline)
{
    COIL__REQUIRE(iteration, "an iteration");
    COIL__REQUIRE_IF(n > 0, futures, "an array");
    struct iteration *it = iteration_inside(iteration);
    coil_loop *loop = coil__task_require("coil_as_completed_init")->future.loop;
    int rc = 0;

    *it = (struct iteration){.n = n, .unclaimed = n, .pending = n, .deadline = deadline};
    coil__list_init(&it->done);
    coil__list_init(&it->waiters);
    coil__timer_init(&it->timer, expire_iteration);
    if (n == 0)
        return 0;
    for (size_t i = 0; i < n; i++)
        coil__future_check_awaiter(futures[i], "coil_as_completed_init");
    it->items =
        n <= SIZE_MAX / sizeof *it->items ? coil__alloc(n * sizeof *it->items) : NULL;
    if (it->items == NULL)
        return coil__failed(-ENOMEM);
    if (deadline != COIL_NEVER)
        rc = coil__timer_start(loop, &it->timer, deadline);
    if (rc < 0) {
        coil__free(it->items);
        return rc;
    }
    it->loop = loop;
    for (size_t i = 0; i < n; i++) {
        coil__runnable_init(&it->items[i].runnable, item_done);
        it->items[i].whole = it;
        it->items[i].future = coil_future_retain(futures[i]);
        coil__future_subscribe(futures[i], &it->items[i].runnable);
    }
    return 0;
}

/*
 * Suspend until a future completes or the deadline passes. Returns 1, or a negative errno
 * such as -ETIMEDOUT.
 */
static int wait_for_one(struct iteration *it)
{
    static const struct coil__wait_class class = {
        .what = "as_completed",
        .object = COIL__WAIT_AT(struct waiter, whole),
        .deadline = COIL__WAIT_BEHIND(struct waiter, whole, struct iteration, deadline),
        .futures = {.kind = COIL__WAIT_ARRAY,
                    .first =
                        COIL__WAIT_BEHIND(struct waiter, whole, struct iteration, items),
                    .count = COIL__WAIT_BEHIND(struct waiter, whole, struct iteration, n),
                    .item_bytes = sizeof(struct item),
                    .pointer = offsetof(struct item, future)}};

    while (coil__list_empty(&it->done) && !it->expired) {
        struct waiter waiter = {.whole = it};
        int rc;

        coil__wait_init(&waiter.wait, &class);
        coil__list_push(&it->waiters, &waiter.link);
        rc = coil__wait_park(&waiter.wait);
        coil__list_remove(&waiter.link);
        if (rc < 0 && !waiter.wait.cancelled && !coil__list_empty(&it->done))
            /*
             * this task was cancelled after it was woken, so another task must be woken
             */
            wake_one(it);
        if (rc < 0)
            return rc;
    }
    return coil__list_empty(&it->done) ? coil__failed(-ETIMEDOUT) : 1;
}

int coil_as_completed_next(coil_as_completed *iteration, coil_future **out)
{
    COIL__REQUIRE(iteration, "an iteration");
    COIL__REQUIRE(out, "an output pointer");
    struct iteration *it = iteration_inside(iteration);
    struct coil__list *link;
    int rc;

    *out = NULL;
    if (it->unclaimed == 0)
        return 0;
    it->unclaimed--;
    rc = wait_for_one(it);
    if (rc == 1) {
        link = coil__list_pop(&it->done);
        *out = COIL__CONTAINER(link, struct item, runnable.link)->future;
    } else if (rc != -ETIMEDOUT) {
        it->unclaimed++;
    }
    return rc;
}

void coil_as_completed_finish(coil_as_completed *iteration)
{
    struct iteration *it = iteration_inside(iteration);

    if (it == NULL || it->loop == NULL)
        return;
    if (!coil__list_empty(&it->waiters))
        coil__misuse(
            "coil_as_completed_finish: task '%s' still waits for it",
            coil_task_name(
                COIL__CONTAINER(it->waiters.next, struct waiter, link)->wait.task));
    coil__timer_stop(it->loop, &it->timer);
    for (size_t i = 0; i < it->n; i++) {
        coil__list_remove(&it->items[i].runnable.link);
        coil_future_release(it->items[i].future);
    }
    coil__free(it->items);
    it->loop = NULL;
    it->unclaimed = 0;
}
