/*
 * test_channel.c - channels, the queues that threads can share.
 */
#include "../../harness/harness.h"

#include <coil.h>

#include <pthread.h>
#include <stdatomic.h>

static coil_channel *create(size_t maxsize)
{
    coil_channel *channel = NULL;

    CHECK_INT(coil_channel_create(sizeof(int), maxsize, &channel), 0);
    return channel;
}

static pthread_t start(void *(*fn)(void *), void *arg)
{
    pthread_t thread;

    CHECK_INT(pthread_create(&thread, NULL, fn, arg), 0);
    return thread;
}

/* ---- one thread -------------------------------------------------------------------- */

TEST(channel_gives_items_in_order_and_grows)
{
    coil_channel *channel = create(0);
    int item, next = 0;

    CHECK_INT(coil_channel_get_nowait(channel, &item), -EAGAIN);
    for (int i = 0; i < 1000; i++) {
        CHECK_INT(coil_channel_put_nowait(channel, &i), 0);
        if (i % 3 == 0) {
            CHECK_INT(coil_channel_get_nowait(channel, &item), 0);
            CHECK_INT(item, next++);
        }
    }
    CHECK_INT(coil_channel_count(channel), 1000 - next);
    while (coil_channel_get_nowait(channel, &item) == 0)
        CHECK_INT(item, next++);
    CHECK_INT(next, 1000);
    coil_channel_release(channel);
    coil_channel_release(NULL);
}

/*
 * If a non-blocking call returns -EAGAIN, this is not a failure (see coil/error.h), so it
 * does not set the last error.
 */
TEST(channel_that_would_wait_leaves_the_last_error)
{
    coil_channel *channel = create(1);
    int item = 1;

    CHECK_INT(coil_fail(-EIO, "a failure"), -EIO);
    CHECK_INT(coil_channel_get_nowait(channel, &item), -EAGAIN);
    CHECK_INT(coil_channel_put_nowait(channel, &item), 0);
    CHECK_INT(coil_channel_put_nowait(channel, &item), -EAGAIN);
    CHECK(coil_last_error() != NULL);
    coil_channel_shutdown(channel);
    CHECK_INT(coil_channel_put_nowait(channel, &item), -ESHUTDOWN);
    CHECK(coil_last_error() == NULL);
    coil_clear_error();
    coil_channel_release(channel);
}

TEST(channel_that_is_full_says_so)
{
    coil_channel *channel = create(2);
    int item = 1;

    CHECK_INT(coil_channel_put_nowait(channel, &item), 0);
    CHECK_INT(coil_channel_put_wait(channel, &item, COIL_NEVER), 0);
    CHECK_INT(coil_channel_put_nowait(channel, &item), -EAGAIN);
    CHECK_INT(coil_channel_put_wait(channel, &item, 0), -ETIMEDOUT);
    CHECK_INT(coil_channel_put_wait(channel, &item, COIL_MSEC(1)), -ETIMEDOUT);
    CHECK_INT(coil_channel_count(channel), 2);
    coil_channel_shutdown(channel);
    coil_channel_shutdown(channel);
    CHECK_INT(coil_channel_put_nowait(channel, &item), -ESHUTDOWN);
    CHECK_INT(coil_channel_get_wait(channel, &item, COIL_NEVER), 0);
    CHECK_INT(coil_channel_get_wait(channel, &item, COIL_NEVER), 0);
    CHECK_INT(coil_channel_get_wait(channel, &item, COIL_NEVER), -ESHUTDOWN);
    coil_channel_release(channel);
}

TEST(channel_of_nothing_or_of_too_much_is_refused)
{
    coil_channel *channel = (coil_channel *)&channel;

    CHECK_INT(coil_channel_create(0, 1, &channel), -EINVAL);
    CHECK_PTR(channel, NULL);
    CHECK_INT(coil_channel_create(SIZE_MAX / 2, 3, &channel), -ENOMEM);
}

static int get_one(void *arg)
{
    int item = -1, rc = coil_channel_get(arg, &item);

    test_trace("%s:%d:%d ", coil_task_name(coil_task_current()), rc, item);
    return rc;
}

static int put_one(void *arg)
{
    int item = 7, rc = coil_channel_put(arg, &item);

    test_trace("%s:%d ", coil_task_name(coil_task_current()), rc);
    return rc;
}

TASK_TEST(channel_serves_tasks_first_come_first_served)
{
    coil_channel *channel = create(1);
    coil_task *a = test_spawn(get_one, channel), *b = test_spawn(get_one, channel);
    coil_waiting waiting;

    CHECK_INT(coil_yield(), 0);
    CHECK(coil_task_waiting(a, &waiting));
    CHECK_STR(waiting.what, "channel.get");
    CHECK_PTR(waiting.object, channel);
    for (int i = 1; i <= 2; i++)
        CHECK_INT(coil_channel_put(channel, &i), 0);
    CHECK_INT(test_join(a), 0);
    CHECK_INT(test_join(b), 0);
    CHECK_TRACE("task-2:0:1 task-3:0:2 ");
    coil_channel_release(channel);
}

TASK_TEST(channel_put_suspends_while_full)
{
    coil_channel *channel = create(1);
    coil_task *a, *b;
    int item;

    a = test_spawn(put_one, channel);
    b = test_spawn(put_one, channel);
    CHECK_INT(coil_yield(), 0);
    CHECK_TRACE("task-2:0 ");
    CHECK_INT(coil_channel_get(channel, &item), 0);
    /* the item of a waiting putter has filled the free place */
    CHECK_INT(coil_channel_count(channel), 1);
    CHECK_INT(test_join(a), 0);
    CHECK_INT(test_join(b), 0);
    CHECK_TRACE("task-3:0 ");
    coil_channel_release(channel);
}

static int put_in_spite_of_cancellation(void *channel)
{
    put_one(channel);
    return put_one(channel);
}

/*
 * A task is cancelled while it waits to put an item. It calls put again, which fails at
 * once. Meanwhile, other tasks can use the channel.
 */
TASK_TEST(channel_is_free_while_a_cancelled_task_is_refused)
{
    coil_channel *channel = create(1);
    coil_task *a;

    CHECK_INT(coil_channel_put(channel, &(int){1}), 0);
    a = test_spawn(put_in_spite_of_cancellation, channel);
    CHECK_INT(coil_yield(), 0);
    coil_task_cancel(a, NULL);
    for (int turn = 0; turn < 4; turn++) {
        CHECK_INT(coil_channel_count(channel), 1);
        CHECK_INT(coil_yield(), 0);
    }
    CHECK_INT(test_join(a), -ECANCELED);
    CHECK_TRACE("task-2:-125 task-2:-125 ");
    coil_channel_release(channel);
}

TASK_TEST(channel_getter_that_is_cancelled_takes_nothing)
{
    coil_channel *channel = create(1);
    coil_task *a = test_spawn(get_one, channel), *b = test_spawn(get_one, channel);
    int item = 5;

    CHECK_INT(coil_yield(), 0);
    coil_task_cancel(a, NULL);
    CHECK_INT(test_join(a), -ECANCELED);
    CHECK_INT(coil_channel_put(channel, &item), 0);
    CHECK_INT(test_join(b), 0);
    CHECK_TRACE("task-2:-125:-1 task-3:0:5 ");
    coil_channel_release(channel);
}

static int get_one_and_yield(void *arg)
{
    int rc = get_one(arg);

    return rc == 0 ? coil_yield() : rc;
}

/*
 * A getter that is cancelled after it was given an item returns the item. The getter's
 * next wait fails.
 */
TASK_TEST(channel_getter_that_is_cancelled_too_late_keeps_its_item)
{
    coil_channel *channel = create(1);
    coil_task *a = test_spawn(get_one_and_yield, channel);
    int item = 5;

    CHECK_INT(coil_yield(), 0);
    CHECK_INT(coil_channel_put(channel, &item), 0);
    coil_task_cancel(a, NULL);
    CHECK_INT(test_join(a), -ECANCELED);
    CHECK_TRACE("task-2:0:5 ");
    CHECK_INT(coil_channel_count(channel), 0);
    coil_channel_release(channel);
}

TASK_TEST(channel_shutdown_wakes_all_that_wait)
{
    coil_channel *channel = create(1);
    coil_task *a = test_spawn(get_one, channel), *b = test_spawn(get_one, channel);

    CHECK_INT(coil_yield(), 0);
    coil_channel_shutdown(channel);
    CHECK_INT(test_join(a), -ESHUTDOWN);
    CHECK_INT(test_join(b), -ESHUTDOWN);
    coil_channel_release(channel);
}

/* ---- threads ----------------------------------------------------------------------- */

#define ITEMS 20000

struct sums {
    coil_channel *channel;
    _Atomic long sum;
    _Atomic int count;
    _Atomic int next;
};

static void *put_from_thread(void *arg)
{
    struct sums *s = arg;
    int item;

    while ((item = atomic_fetch_add(&s->next, 1)) < ITEMS)
        CHECK_INT(coil_channel_put_wait(s->channel, &item, COIL_NEVER), 0);
    return NULL;
}

static void *get_in_thread(void *arg)
{
    struct sums *s = arg;
    int item;

    while (coil_channel_get_wait(s->channel, &item, COIL_NEVER) == 0) {
        s->sum += item;
        s->count++;
    }
    return NULL;
}

static int put_from_task(void *arg)
{
    struct sums *s = arg;
    int item, rc = 0;

    while (rc == 0 && (item = atomic_fetch_add(&s->next, 1)) < ITEMS)
        rc = coil_channel_put(s->channel, &item);
    return rc;
}

static int get_in_task(void *arg)
{
    struct sums *s = arg;
    int item, rc;

    while ((rc = coil_channel_get(s->channel, &item)) == 0) {
        s->sum += item;
        s->count++;
    }
    return rc == -ESHUTDOWN ? 0 : rc;
}

/*
 * Get items, and try again after each cancelled wait. No item must be lost or duplicated.
 */
static int get_impatiently(void *arg)
{
    struct sums *s = arg;
    int item, rc;

    do {
        coil_scope scope;

        item = -1;
        coil_scope_enter(&scope, coil_in(COIL_USEC(50)));
        rc = coil_channel_get(s->channel, &item);
        if (rc == 0) {
            s->sum += item;
            s->count++;
        }
        rc = coil_scope_exit(&scope, rc);
    } while (rc == 0 || rc == -ETIMEDOUT);
    return rc == -ESHUTDOWN ? 0 : rc;
}

static int with_tasks(void *arg)
{
    struct sums *s = arg;
    coil_task *getters[4], *putters[2];

    getters[0] = test_spawn(get_in_task, s);
    getters[1] = test_spawn(get_in_task, s);
    getters[2] = test_spawn(get_impatiently, s);
    getters[3] = test_spawn(get_impatiently, s);
    for (int i = 0; i < 2; i++)
        putters[i] = test_spawn(put_from_task, s);
    for (int i = 0; i < 2; i++)
        CHECK_INT(test_join(putters[i]), 0);
    while (s->count < ITEMS)
        CHECK_INT(coil_sleep(COIL_USEC(200)), 0);
    coil_channel_shutdown(s->channel);
    for (int i = 0; i < 4; i++)
        CHECK_INT(test_join(getters[i]), 0);
    return 0;
}

/* Put and get items on several threads and in tasks of a loop, all at the same time. */
static void move_all(size_t maxsize)
{
    struct sums s = {.channel = create(maxsize)};
    pthread_t threads[4];

    for (int i = 0; i < 4; i++)
        threads[i] = start(i < 2 ? put_from_thread : get_in_thread, &s);
    CHECK_INT(coil_run(with_tasks, &s, NULL), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    CHECK_INT(s.count, ITEMS);
    CHECK_INT(s.sum, (long)ITEMS * (ITEMS - 1) / 2);
    coil_channel_release(s.channel);
}

TEST(channel_between_threads_and_tasks_loses_nothing_with_room_for_one)
{
    move_all(1);
}

TEST(channel_between_threads_and_tasks_loses_nothing_with_room_for_many)
{
    move_all(100);
}

TEST(channel_between_threads_and_tasks_loses_nothing_without_limit)
{
    move_all(0);
}

static int get_on_each_loop(void *arg)
{
    struct sums *s = arg;

    if (coil_thread_index() > 0)
        return get_in_task(arg);
    CHECK_INT(put_from_task(arg), 0);
    while (s->count < ITEMS)
        CHECK_INT(coil_sleep(COIL_USEC(200)), 0);
    coil_channel_shutdown(s->channel);
    return 0;
}

TEST(channel_feeds_several_loops)
{
    struct sums s = {.channel = create(10)};

    CHECK_INT(coil_run_threads(3, get_on_each_loop, &s, NULL), 0);
    CHECK_INT(s.count, ITEMS);
    CHECK_INT(s.sum, (long)ITEMS * (ITEMS - 1) / 2);
    coil_channel_release(s.channel);
}

/* ---- mistakes ---------------------------------------------------------------------- */

static int block_the_loop(void *arg)
{
    int item;

    return coil_channel_get_wait(arg, &item, COIL_NEVER);
}

static void run_block_the_loop(void *arg)
{
    coil_run(block_the_loop, arg, NULL);
}

TEST(channel_that_would_block_a_running_loop_stops_the_program)
{
    coil_channel *channel = create(1);

    test_dies(run_block_the_loop, channel,
              "coil_channel_get_wait: the call would block the loop of this thread; use "
              "coil_channel_get()");
    coil_channel_release(channel);
}

static void get_outside(void *channel)
{
    int item;

    coil_channel_get(channel, &item);
}

TEST(channel_get_outside_a_task_stops_the_program)
{
    coil_channel *channel = create(1);

    test_dies(get_outside, channel, "coil_channel_get");
    coil_channel_release(channel);
}
