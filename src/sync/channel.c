/*
 * channel.c - a queue that tasks and threads of several loops can share.
 *
 * One mutex guards the whole channel, and is held only for a few instructions at a time.
 * Items are handed over: a put copies its item to the memory of the first waiting getter,
 * and a get moves the item of the first waiting putter to the slot that it has freed. So
 * waiters are served in order, and a waiter already has its result when it is woken.
 *
 *     a task     is suspended until a post to its loop wakes it; the post is on its stack
 *     a thread   blocks on its own condition variable
 *
 * Invariants
 * 1. Getters wait only while the ring buffer is empty, putters only while it is full.
 * 2. A waiter that is in no queue is complete, and its rc is final. If the rc is 0, its
 *    item was handed over. If the waiter is a task, a post was sent to the task's loop. A
 *    later cancellation or deadline does not change the rc; the cancellation is delivered
 *    to the task's next wait.
 * 3. A task's waiter has a reference to the task's loop while it is in a queue. If the
 *    loop has closed, the post is refused, and the item goes to the next waiter.
 * 4. Lock order: the channel's mutex, then the mutex of the loop's posts.
 * 5. Static functions only return error codes; the public functions record failures.
 */
#include "../loop/loop.h"
#include "../task/task.h"

#include <coil/channel.h>

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#define FIRST_CAPACITY 16

struct coil_channel {
    pthread_mutex_t lock;
    _Atomic unsigned refs; /* 0 in freed memory: see coil__misuse_gone() */
    struct coil__list getters, putters;
    char *items; /* a ring buffer: the oldest item is at `first` */
    size_t item_bytes, maxsize;
    size_t capacity, first, count;
    bool is_shutdown;
    struct coil__wake wake; /* the thread to wake after unlocking */
};

/* A waiting task or thread, stored on its stack. */
struct waiter {
    struct coil__list link; /* in channel.getters or channel.putters until complete */
    void *item;
    int rc;
    bool (*wake)(struct waiter *waiter); /* returns false if the task's loop has closed */
};

/* ---- life -------------------------------------------------------------------------- */

static int create_items(coil_channel *channel)
{
    size_t bytes;

    channel->capacity = channel->maxsize > 0 ? channel->maxsize : FIRST_CAPACITY;
    if (__builtin_mul_overflow(channel->capacity, channel->item_bytes, &bytes))
        return -ENOMEM;
    channel->items = coil__alloc(bytes);
    return channel->items != NULL ? 0 : -ENOMEM;
}

int coil_channel_create(size_t item_bytes, size_t maxsize, coil_channel **out)
{
    COIL__REQUIRE(out, "an output pointer");
    coil_channel *channel;
    int rc;

    *out = NULL;
    if (item_bytes == 0)
        return coil__failed(-EINVAL);
    channel = coil__alloc_zeroed(sizeof *channel);
    if (channel == NULL)
        return coil__failed(-ENOMEM);
    channel->item_bytes = item_bytes;
    channel->maxsize = maxsize;
    rc = create_items(channel);
    if (rc < 0) {
        coil__free(channel);
        return coil__failed(rc);
    }
    atomic_init(&channel->refs, 1);
    pthread_mutex_init(&channel->lock, NULL);
    coil__list_init(&channel->getters);
    coil__list_init(&channel->putters);
    *out = channel;
    return 0;
}

coil_channel *coil_channel_retain(coil_channel *channel)
{
    COIL__REQUIRE(channel, "a channel");
    if (atomic_fetch_add_explicit(&channel->refs, 1, memory_order_relaxed) == 0)
        coil__misuse_gone("coil_channel_retain");
    return channel;
}

void coil_channel_release(coil_channel *channel)
{
    unsigned before = channel != NULL ? atomic_fetch_sub(&channel->refs, 1) : 2;

    if (COIL__UNLIKELY(before == 0))
        coil__misuse_gone("coil_channel_release");
    if (before > 1)
        return;
    pthread_mutex_destroy(&channel->lock);
    coil__free(channel->items);
    coil__free_object(channel);
}

/*
 * Abort if called in a signal handler, which may have interrupted the holder of the
 * mutex. Also abort if the channel was freed.
 */
static void check_call(const coil_channel *channel, const char *caller)
{
    coil__loop_check_handler(caller);
    if (COIL__UNLIKELY(atomic_load_explicit(&channel->refs, memory_order_relaxed) == 0))
        coil__misuse_gone(caller);
}

static void unlock(coil_channel *channel)
{
    coil__unlock_and_wake(&channel->lock, &channel->wake);
}

/* ---- the ring buffer, with the mutex held ------------------------------------------ */

static bool is_full(const coil_channel *channel)
{
    return channel->maxsize > 0 && channel->count == channel->maxsize;
}

static char *ring_slot(const coil_channel *channel, size_t i)
{
    size_t at = channel->first + i;

    if (at >= channel->capacity) /* a division would take longer */
        at -= channel->capacity;
    return channel->items + at * channel->item_bytes;
}

/* Double the ring buffer. Used only in a channel without a maxsize. */
static int grow_ring(coil_channel *channel)
{
    size_t bytes, tail = channel->capacity - channel->first;
    char *items;

    if (__builtin_mul_overflow(2 * channel->capacity, channel->item_bytes, &bytes))
        return -ENOMEM;
    items = coil__alloc(bytes);
    if (items == NULL)
        return -ENOMEM;
    memcpy(items, ring_slot(channel, 0), tail * channel->item_bytes);
    memcpy(items + tail * channel->item_bytes, channel->items,
           channel->first * channel->item_bytes);
    coil__free(channel->items);
    channel->items = items;
    channel->first = 0;
    channel->capacity *= 2;
    return 0;
}

static int push_item(coil_channel *channel, const void *item)
{
    int rc = channel->count == channel->capacity ? grow_ring(channel) : 0;

    if (rc < 0)
        return rc;
    memcpy(ring_slot(channel, channel->count), item, channel->item_bytes);
    channel->count++;
    return 0;
}

/* ---- put and get, with the mutex held ---------------------------------------------- */

/*
 * Wake the waiter with the result rc. After this call, the waiter must not be used,
 * because it is stored on the stack of the woken task or thread.
 */
static bool complete_waiter(struct waiter *waiter, int rc)
{
    waiter->rc = rc;
    return waiter->wake(waiter);
}

static struct waiter *take_first(struct coil__list *line)
{
    struct coil__list *link = coil__list_pop(line);

    return link != NULL ? COIL__CONTAINER(link, struct waiter, link) : NULL;
}

static int try_put(coil_channel *channel, void *item)
{
    struct waiter *getter;

    if (channel->is_shutdown)
        return -ESHUTDOWN;
    while ((getter = take_first(&channel->getters)) != NULL) {
        memcpy(getter->item, item, channel->item_bytes);
        if (complete_waiter(getter, 0))
            return 0;
    }
    return is_full(channel) ? -EAGAIN : push_item(channel, item);
}

static int try_get(coil_channel *channel, void *item)
{
    struct waiter *putter;

    if (channel->count == 0)
        return channel->is_shutdown ? -ESHUTDOWN : -EAGAIN;
    memcpy(item, ring_slot(channel, 0), channel->item_bytes);
    channel->first = channel->first + 1 < channel->capacity ? channel->first + 1 : 0;
    channel->count--;
    while (!is_full(channel) && (putter = take_first(&channel->putters)) != NULL) {
        push_item(channel, putter->item); /* cannot fail: there is room */
        if (!complete_waiter(putter, 0))
            channel->count--;
    }
    return 0;
}

void coil_channel_shutdown(coil_channel *channel)
{
    COIL__REQUIRE(channel, "a channel");
    struct waiter *waiter;

    check_call(channel, "coil_channel_shutdown");
    pthread_mutex_lock(&channel->lock);
    channel->is_shutdown = true;
    while ((waiter = take_first(&channel->getters)) != NULL)
        complete_waiter(waiter, -ESHUTDOWN);
    while ((waiter = take_first(&channel->putters)) != NULL)
        complete_waiter(waiter, -ESHUTDOWN);
    unlock(channel);
}

size_t coil_channel_count(coil_channel *channel)
{
    COIL__REQUIRE(channel, "a channel");
    size_t count;

    check_call(channel, "coil_channel_count");
    pthread_mutex_lock(&channel->lock);
    count = channel->count;
    unlock(channel);
    return count;
}

/* The differences between a put and a get. */
struct side {
    struct coil__wait_class class;
    const char *task_call, *thread_call;
    int (*try)(coil_channel *channel, void *item); /* -EAGAIN: the caller must wait */
    /* offset of the queue of waiters in a channel */
    size_t line;
};

static struct coil__list *line_of(coil_channel *channel, const struct side *side)
{
    return (struct coil__list *)((char *)channel + side->line);
}

static int try_only(coil_channel *channel, const struct side *side, void *item)
{
    int rc;

    check_call(channel, side->task_call);
    pthread_mutex_lock(&channel->lock);
    rc = side->try(channel, item);
    unlock(channel);
    return rc;
}

/* ---- tasks ------------------------------------------------------------------------- */

struct task_waiter {
    struct waiter waiter;
    struct coil__wait wait;
    struct coil__post post;
    coil_channel *channel;
    coil_loop *loop;
    bool arrived; /* the post has run */
};

static bool wake_task(struct waiter *waiter)
{
    struct task_waiter *t = COIL__CONTAINER(waiter, struct task_waiter, waiter);
    coil_loop *loop = t->loop;
    bool taken = coil__loop_post_unwoken(loop, &t->post, &t->channel->wake) == 0;

    coil_loop_release(loop);
    return taken;
}

/* The callback of the post, which runs on the task's loop. */
static void complete_task_wait(struct coil__runnable *runnable)
{
    struct task_waiter *t = COIL__CONTAINER(runnable, struct task_waiter, post.runnable);

    t->arrived = true;
    if (!t->loop->closing)
        coil__wait_complete(&t->wait, t->waiter.rc);
}

/*
 * End the wait of a task that was cancelled before its post ran. If the waiter is still
 * in a queue, remove it; otherwise it is complete, so withdraw its post and return its
 * rc.
 */
static int withdraw_task(struct task_waiter *t)
{
    bool listed;

    pthread_mutex_lock(&t->channel->lock);
    listed = !coil__list_empty(&t->waiter.link);
    coil__list_remove(&t->waiter.link);
    unlock(t->channel);
    if (listed) {
        coil_loop_release(t->loop);
        return -ECANCELED;
    }
    coil__loop_withdraw(t->loop, &t->post);
    return t->waiter.rc;
}

static void init_task_waiter(struct task_waiter *t, coil_channel *channel,
                             const struct side *side, void *item)
{
    coil__wait_init(&t->wait, &side->class);
    t->wait.keeps_result = true;
    coil__list_init(&t->waiter.link);
    coil__runnable_init(&t->post.runnable, complete_task_wait);
    t->waiter.item = item;
    t->waiter.wake = wake_task;
    t->channel = channel;
    t->loop = t->wait.task->future.loop;
    t->arrived = false;
}

static int wait_in_task(coil_channel *channel, const struct side *side, void *item)
{
    coil_task *task = coil__task_require(side->task_call);
    struct task_waiter t;
    bool listed;
    int rc;

    check_call(channel, side->task_call);
    pthread_mutex_lock(&channel->lock);
    rc = side->try(channel, item);
    listed = rc == -EAGAIN && !task->delivered;
    if (listed) {
        init_task_waiter(&t, channel, side, item);
        coil_loop_retain(t.loop); /* released when the waiter leaves the queue */
        coil_channel_retain(channel);
        coil__list_push(line_of(channel, side), &t.waiter.link);
    }
    unlock(channel);
    if (rc != -EAGAIN)
        return rc;
    if (!listed) {
        /* called without the mutex, because this may suspend */
        coil__task_refuses(task);
        return -ECANCELED;
    }
    coil__wait_park(&t.wait);
    rc = t.arrived ? t.waiter.rc : withdraw_task(&t);
    coil_channel_release(channel);
    return rc;
}

/* ---- threads ----------------------------------------------------------------------- */

struct thread_waiter {
    struct waiter waiter;
    pthread_cond_t completed;
};

static bool wake_thread(struct waiter *waiter)
{
    struct thread_waiter *t = COIL__CONTAINER(waiter, struct thread_waiter, waiter);

    pthread_cond_signal(&t->completed);
    return true;
}

/*
 * Block the thread until its waiter is complete (no longer linked into a queue), or until
 * the time-out has passed. Called with the mutex held.
 */
static int block_thread(coil_channel *channel, const struct side *side, void *item,
                        int64_t timeout_ns)
{
    struct thread_waiter t = {.waiter = {.item = item, .wake = wake_thread}};
    int64_t deadline = coil__time_add(coil__clock_monotonic(), timeout_ns);
    struct timespec until = {deadline / COIL_SEC(1), (long)(deadline % COIL_SEC(1))};
    bool late = false;

    if (coil_loop_current() != NULL && coil_loop_running(coil_loop_current()))
        coil__misuse("%s: the call would block the loop of this thread; use %s()",
                     side->thread_call, side->task_call);
    pthread_cond_init(&t.completed, NULL);
    coil__list_init(&t.waiter.link);
    coil__list_push(line_of(channel, side), &t.waiter.link);
    while (!coil__list_empty(&t.waiter.link) && !late)
        late = pthread_cond_clockwait(&t.completed, &channel->lock, CLOCK_MONOTONIC,
                                      &until) == ETIMEDOUT;
    pthread_cond_destroy(&t.completed);
    if (coil__list_empty(&t.waiter.link))
        return t.waiter.rc;
    coil__list_remove(&t.waiter.link);
    return -ETIMEDOUT;
}

static int wait_in_thread(coil_channel *channel, const struct side *side, void *item,
                          int64_t timeout_ns)
{
    int rc;

    check_call(channel, side->thread_call);
    pthread_mutex_lock(&channel->lock);
    rc = side->try(channel, item);
    if (rc == -EAGAIN)
        rc = timeout_ns > 0 ? block_thread(channel, side, item, timeout_ns) : -ETIMEDOUT;
    unlock(channel);
    return rc;
}

/* ---- coil/channel.h ---------------------------------------------------------------- */

static const struct side put_side = {
    .class = {.what = "channel.put",
              .object = COIL__WAIT_AT(struct task_waiter, channel)},
    .task_call = "coil_channel_put",
    .thread_call = "coil_channel_put_wait",
    .try = try_put,
    .line = offsetof(struct coil_channel, putters),
};

static const struct side get_side = {
    .class = {.what = "channel.get",
              .object = COIL__WAIT_AT(struct task_waiter, channel)},
    .task_call = "coil_channel_get",
    .thread_call = "coil_channel_get_wait",
    .try = try_get,
    .line = offsetof(struct coil_channel, getters),
};

int coil_channel_put(coil_channel *channel, const void *item)
{
    COIL__REQUIRE(channel, "a channel");
    COIL__REQUIRE_IF(channel->item_bytes > 0, item, "an item");
    return (int)coil__result(wait_in_task(channel, &put_side, (void *)item));
}

int coil_channel_get(coil_channel *channel, void *item)
{
    COIL__REQUIRE(channel, "a channel");
    COIL__REQUIRE_IF(channel->item_bytes > 0, item, "an item");
    return (int)coil__result(wait_in_task(channel, &get_side, item));
}

int coil_channel_put_wait(coil_channel *channel, const void *item, int64_t timeout_ns)
{
    COIL__REQUIRE(channel, "a channel");
    COIL__REQUIRE_IF(channel->item_bytes > 0, item, "an item");
    return (int)coil__result(
        wait_in_thread(channel, &put_side, (void *)item, timeout_ns));
}

int coil_channel_get_wait(coil_channel *channel, void *item, int64_t timeout_ns)
{
    COIL__REQUIRE(channel, "a channel");
    COIL__REQUIRE_IF(channel->item_bytes > 0, item, "an item");
    return (int)coil__result(wait_in_thread(channel, &get_side, item, timeout_ns));
}

/* Record a failure, except -EAGAIN, which callers expect. */
static int result_without_waiting(int rc)
{
    return rc != -EAGAIN ? (int)coil__result(rc) : rc;
}

int coil_channel_put_nowait(coil_channel *channel, const void *item)
{
    COIL__REQUIRE(channel, "a channel");
    COIL__REQUIRE_IF(channel->item_bytes > 0, item, "an item");
    return result_without_waiting(try_only(channel, &put_side, (void *)item));
}

int coil_channel_get_nowait(coil_channel *channel, void *item)
{
    COIL__REQUIRE(channel, "a channel");
    COIL__REQUIRE_IF(channel->item_bytes > 0, item, "an item");
    return result_without_waiting(try_only(channel, &get_side, item));
}
