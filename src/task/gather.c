/*
 * gather.c - coil_gather() and coil_wait(): one wait for many futures.
 *
 * Each future gets a runnable as a callback. The runnables are allocated together, before
 * the wait begins. When a future completes, its runnable counts the future, and completes
 * the wait if the result is now decided. So the result takes two trips through the ready
 * queue, as in asyncio. After the wait, the remaining runnables are removed from their
 * futures.
 */
#include "failure.h"
#include "task.h"

#include <coil/gather.h>

struct gathering;

struct part {
    struct coil__runnable runnable;
    struct gathering *whole;
    coil_future *future;
};

struct gathering {
    struct coil__wait wait;
    struct part *parts;
    size_t n;
    size_t left; /* futures not yet counted as done */
    unsigned flags;
    coil_wait_mode mode;
    bool cancel_requested;
    struct coil__branch branch;
    struct coil__timer timer; /* coil_wait()'s timer, due at `deadline` */
    int64_t deadline;
    coil_future *failed; /* the first failed future, whose error the caller gets */
};

static int allocate_parts(struct gathering *w, coil_future *const futures[], size_t n,
                          void (*run)(struct coil__runnable *), const char *caller)
{
    for (size_t i = 0; i < n; i++)
        coil__future_check_awaiter(futures[i], caller);
    if (n > SIZE_MAX / sizeof *w->parts)
        return coil__failed(-ENOMEM);
    w->parts = coil__alloc(n * sizeof *w->parts);
    if (w->parts == NULL)
        return coil__failed(-ENOMEM);
    w->n = n;
    for (size_t i = 0; i < n; i++) {
        coil__runnable_init(&w->parts[i].runnable, run);
        w->parts[i].whole = w;
        coil__future_retain(futures[i]);
        w->parts[i].future = futures[i];
    }
    return 0;
}

static void free_parts(struct gathering *w)
{
    for (size_t i = 0; i < w->n; i++) {
        coil__list_remove(&w->parts[i].runnable.link);
        coil__future_release(w->parts[i].future);
    }
    coil__free(w->parts);
}

#define PARTS                                                                            \
    {                                                                                    \
        .kind = COIL__WAIT_ARRAY, .first = COIL__WAIT_AT(struct gathering, parts),       \
        .count = COIL__WAIT_AT(struct gathering, n), .item_bytes = sizeof(struct part),  \
        .pointer = offsetof(struct part, future)                                         \
    }

/* ---- gather ------------------------------------------------------------------------ */

static void count_part(struct part *part)
{
    struct gathering *w = part->whole;
    int rc = coil__future_retrieve(part->future);

    w->left--;
    if (rc < 0 && (w->flags & COIL_GATHER_ALL) == 0) {
        if (coil__wait_complete(&w->wait, rc))
            w->failed = part->future;
    } else if (w->left == 0)
        coil__wait_complete(&w->wait, w->cancel_requested ? -ECANCELED : 0);
}

static void part_done(struct coil__runnable *runnable)
{
    count_part(COIL__CONTAINER(runnable, struct part, runnable));
}

/*
 * Pass the cancellation on to the futures. Returns false if all of them are already done.
 */
static bool cancel_gathered(struct coil__wait *wait)
{
    struct gathering *w = COIL__CONTAINER(wait, struct gathering, wait);
    size_t i = 0;

    while (i < w->n && !coil__future_pending(w->parts[i].future))
        i++;
    if (i == w->n)
        return false;
    coil__wait_branch(wait, &w->branch);
    w->cancel_requested = true;
    return true;
}

/*
 * True if the array contains the future twice, and the first occurrence has already added
 * a callback. No other code has run since then, so that callback is the future's last
 * one.
 */
static bool has_callback(const struct gathering *w, const coil_future *future)
{
    const struct coil__list *last = future->callbacks.prev;

    return (const char *)last >= (const char *)w->parts &&
           (const char *)last < (const char *)(w->parts + w->n);
}

/* Subscribe to all pending futures, then count the completed futures, in order. */
static void subscribe_all(struct gathering *w)
{
    for (size_t i = 0; i < w->n; i++) {
        struct part *part = &w->parts[i];
        bool pending = coil__future_pending(part->future);

        if (pending && has_callback(w, part->future))
            continue;
        w->left++;
        if (pending)
            coil__future_subscribe(part->future, &part->runnable);
    }
    for (size_t i = 0; i < w->n; i++)
        if (!coil__future_pending(w->parts[i].future))
            count_part(&w->parts[i]);
}

static int wait_for_parts(struct gathering *w)
{
    if (w->wait.done)
        return w->wait.rc;
    if (coil__task_refuses(w->wait.task))
        return -ECANCELED;
    return coil__wait_park(&w->wait);
}

COIL__NOINLINE int coil_gather(coil_future *const futures[], size_t n, unsigned flags,
                               int rcs[])
{
    COIL__REQUIRE_IF(n > 0, futures, "an array");
    static const struct coil__wait_class class = {
        .what = "gather", .cancel = cancel_gathered, .futures = PARTS};
    struct gathering w = {.flags = flags};
    int rc;

    if ((flags & ~COIL_GATHER_ALL) != 0)
        return coil__failed(-EINVAL);
    if (n == 0)
        return 0;
    coil__wait_init(&w.wait, &class);
    rc = allocate_parts(&w, futures, n, part_done, "coil_gather");
    if (rc < 0)
        return rc;
    subscribe_all(&w);
    rc = wait_for_parts(&w);
    for (size_t i = 0; i < n; i++) {
        int part_rc = coil__future_retrieve(w.parts[i].future);

        w.parts[i].future->quiet = true; /* do not report a later failure as unseen */
        if (rcs != NULL)
            rcs[i] = part_rc;
    }
    if (w.failed != NULL)
        coil__failure_hand_on(w.failed, rc, COIL__CALLER());
    free_parts(&w);
    return rc;
}

/* ---- wait -------------------------------------------------------------------------- */

/*
 * True if the completed future ends the wait. The result is read only in mode
 * COIL_WAIT_FIRST_EXCEPTION, because a failure that was read is no longer reported as
 * unseen.
 */
static bool is_decisive(const struct gathering *w, coil_future *future)
{
    if (w->left == 0 || w->mode == COIL_WAIT_FIRST)
        return true;
    return w->mode == COIL_WAIT_FIRST_EXCEPTION && !coil_future_cancelled(future) &&
           coil__future_retrieve(future) < 0;
}

static void count_done_future(struct coil__runnable *runnable)
{
    struct part *part = COIL__CONTAINER(runnable, struct part, runnable);
    struct gathering *w = part->whole;

    w->left--;
    if (!is_decisive(w, part->future))
        return;
    coil__timer_stop(w->wait.task->future.loop, &w->timer);
    coil__wait_complete(&w->wait, 0);
}

static void wait_is_over(struct coil__runnable *runnable)
{
    coil__wait_complete(
        &COIL__CONTAINER(runnable, struct gathering, timer.runnable)->wait, 0);
}

static int count_done(coil_future *const futures[], size_t n)
{
    int count = 0;

    for (size_t i = 0; i < n; i++)
        count += coil_future_done(futures[i]);
    return count;
}

int coil_wait(coil_future *const futures[], size_t n, coil_wait_mode mode,
              int64_t deadline)
{
    COIL__REQUIRE_IF(n > 0, futures, "an array");
    static const struct coil__wait_class class = {
        .what = "wait",
        .deadline = COIL__WAIT_AT(struct gathering, deadline),
        .futures = PARTS};
    struct gathering w = {.mode = mode, .left = n, .deadline = deadline};
    coil_loop *loop;
    int rc;

    if (n == 0 || n > INT32_MAX || (unsigned)mode > COIL_WAIT_FIRST_EXCEPTION)
        return coil__failed(-EINVAL);
    coil__wait_init(&w.wait, &class);
    loop = w.wait.task->future.loop;
    coil__timer_init(&w.timer, wait_is_over);
    if (deadline != COIL_NEVER)
        coil__timer_start_reserved(loop, &w.timer, deadline);
    rc = allocate_parts(&w, futures, n, count_done_future, "coil_wait");
    if (rc == 0) {
        for (size_t i = 0; i < n; i++)
            coil__future_subscribe(futures[i], &w.parts[i].runnable);
        rc = coil__wait_park(&w.wait);
        free_parts(&w);
    }
    coil__timer_stop(loop, &w.timer);
    return rc < 0 ? rc : count_done(futures, n);
}
