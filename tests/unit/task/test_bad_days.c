/*
 * test_bad_days.c - very many objects at once, tasks that ignore cancellations, and
 * callbacks that destroy the object that has called them.
 *
 * The tests count turns of the loop instead of measuring time. If an operation examined
 * all earlier objects, a hundred thousand objects would take 5,000,000,000 steps, and the
 * test would exceed its time limit.
 */
#include "../../harness/harness.h"

#include "../../../src/base/compiler.h"

#include <coil.h>

#include <unistd.h>

#define MANY test_hundred_thousand()

/* The lowest and highest stack addresses that look_at_stack() has seen. */
static struct {
    uintptr_t lowest, highest;
} depth;

static COIL__NOINLINE void look_at_stack(void)
{
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);

    if (depth.highest == 0)
        depth.lowest = depth.highest = here;
    if (here < depth.lowest)
        depth.lowest = here;
    if (here > depth.highest)
        depth.highest = here;
}

/*
 * The handle of count_turn(), which runs in every turn. So a callback is always ready,
 * and the virtual clock does not advance.
 */
static coil_handle *counter;
static long turn_count;

static void count_turn(void *arg)
{
    (void)arg;
    turn_count++;
    coil_handle_release(counter);
    CHECK_INT(coil_call_soon(count_turn, NULL, &counter), 0);
}

static void begin_turns(void)
{
    turn_count = 0;
    CHECK_INT(coil_call_soon(count_turn, NULL, &counter), 0);
}

static long end_turns(void)
{
    coil_handle_cancel(counter);
    coil_handle_release(counter);
    return turn_count;
}

/* ---- very many --------------------------------------------------------------------- */

static void set_next(coil_future *future, void *arg)
{
    look_at_stack();
    coil_future_set(arg, coil_future_result(future) + 1, NULL, NULL);
    coil_future_release(future);
}

TASK_TEST(a_million_futures_that_set_each_other_take_a_turn_each_and_no_stack)
{
    coil_future *first, *last, *next;
    int million = test_million();

    CHECK_INT(coil_future_create(&first), 0);
    last = first;
    for (int i = 0; i < million; i++) {
        CHECK_INT(coil_future_create(&next), 0);
        CHECK_INT(coil_future_add_callback(last, set_next, next), 0);
        last = next;
    }
    begin_turns();
    coil_future_set(first, 0, NULL, NULL);
    CHECK_INT(coil_await(last), million);
    CHECK_INT(end_turns(), million + 1);
    CHECK(depth.highest - depth.lowest < 4096);
    coil_future_release(last);
}

/* Objects for which a hundred thousand tasks wait. */
static coil_semaphore semaphore;
static coil_lock lock;
static coil_condition condition;
static coil_queue queue;
static coil_event event;

static int pass_semaphore(void *arg)
{
    int rc = coil_semaphore_acquire(&semaphore);

    *(long *)arg += rc == 0;
    return rc;
}

static int pass_condition(void *arg)
{
    int rc = coil_lock_acquire(&lock);

    if (rc == 0) {
        rc = coil_condition_wait(&condition);
        coil_lock_release(&lock);
    }
    *(long *)arg += rc == 0;
    return rc;
}

static int pass_queue(void *arg)
{
    long item;
    int rc = coil_queue_get(&queue, &item);

    *(long *)arg += rc == 0;
    return rc;
}

static int pass_event(void *arg)
{
    int rc = coil_event_wait(&event);

    *(long *)arg += rc == 0;
    return rc;
}

/* Spawn many tasks, and start counting turns once all of them are waiting. */
static void spawn_many(coil_task_fn fn, long *passed)
{
    *passed = 0;
    for (int i = 0; i < MANY; i++)
        CHECK_INT(coil_spawn(fn, passed, NULL, NULL), 0);
    CHECK_INT(coil_wait_all_blocked(), 0);
    begin_turns();
}

static void check_turns(const long *passed, long expected, long turns)
{
    while (*passed < expected && turn_count <= turns)
        coil_yield();
    CHECK_INT(*passed, expected);
    CHECK(end_turns() <= turns);
}

TASK_TEST(a_hundred_thousand_wait_for_a_semaphore_that_is_released_as_often)
{
    long passed;

    coil_semaphore_init(&semaphore, 0);
    spawn_many(pass_semaphore, &passed);
    for (int i = 0; i < MANY; i++)
        coil_semaphore_release(&semaphore);
    check_turns(&passed, MANY, 2);
}

/*
 * Notify `each` waiting tasks at a time. In each turn, one task releases the lock and the
 * next one gets it.
 */
static void notify_many(int each)
{
    long passed;

    coil_lock_init(&lock);
    coil_condition_init(&condition, &lock);
    spawn_many(pass_condition, &passed);
    CHECK_INT(coil_lock_acquire(&lock), 0);
    for (int i = 0; i < MANY; i += each)
        CHECK_INT(coil_condition_notify(&condition, (size_t)each), 0);
    CHECK_INT(coil_lock_release(&lock), 0);
    check_turns(&passed, MANY, MANY + 2);
}

TASK_TEST(a_hundred_thousand_are_notified_one_by_one)
{
    notify_many(1);
}

TASK_TEST(a_hundred_thousand_are_notified_at_once)
{
    notify_many(MANY);
}

TASK_TEST(a_hundred_thousand_getters_get_as_many_items)
{
    long passed;

    coil_queue_init(&queue, sizeof(long), 0);
    spawn_many(pass_queue, &passed);
    for (long i = 0; i < MANY; i++)
        CHECK_INT(coil_queue_put_nowait(&queue, &i), 0);
    check_turns(&passed, MANY, 2);
    coil_queue_finish(&queue);
}

static int cancel_every_other(coil_task *task, void *arg)
{
    int *i = arg;

    if (task != coil_task_current() && (*i)++ % 2 == 0)
        coil_task_cancel(task, NULL);
    return 0;
}

TASK_TEST(a_hundred_thousand_wait_for_an_event_and_every_other_is_cancelled)
{
    long passed;
    int i = 0;

    coil_event_init(&event);
    spawn_many(pass_event, &passed);
    CHECK_INT(coil_task_each(cancel_every_other, &i), 0);
    CHECK_INT(i, MANY);
    coil_event_set(&event);
    check_turns(&passed, MANY / 2, 2);
    coil_event_finish(&event);
}

static int sleep_for(void *arg)
{
    return coil_sleep((intptr_t)arg);
}

static int fail_after_a_second(void *arg)
{
    int rc = coil_sleep(COIL_SEC(1));

    (void)arg;
    return rc < 0 ? rc : -EIO;
}

static int in_a_group_of_many(coil_task_fn last)
{
    coil_group group;

    coil_group_enter(&group);
    for (int i = 0; i < MANY; i++)
        CHECK_INT(coil_group_spawn(&group, sleep_for, (void *)(intptr_t)COIL_SEC(5), NULL,
                                   NULL),
                  0);
    CHECK_INT(coil_group_spawn(&group, last, NULL, NULL, NULL), 0);
    return coil_group_exit(&group, 0);
}

TASK_TEST(a_group_of_a_hundred_thousand_ends_as_one)
{
    CHECK_INT(in_a_group_of_many(sleep_for), 0);
    CHECK_INT(coil_now(), COIL_SEC(5));
}

TASK_TEST(a_group_of_a_hundred_thousand_is_cancelled_by_one_failure)
{
    CHECK_INT(in_a_group_of_many(fail_after_a_second), -EIO);
    CHECK_INT(coil_now(), COIL_SEC(1));
}

TASK_TEST(a_gather_of_a_hundred_thousand_tasks_in_time_and_out_of_it)
{
    coil_future **futures = calloc((size_t)MANY, sizeof *futures);
    coil_scope scope;
    int rc;

    for (int i = 0; i < MANY; i++)
        futures[i] =
            coil_task_future(test_spawn(sleep_for, (void *)(intptr_t)COIL_SEC(5)));
    CHECK_INT(coil_wait(futures, (size_t)MANY, COIL_WAIT_ALL, COIL_SEC(1)), 0);
    CHECK_INT(coil_scope_enter(&scope, COIL_SEC(2)), 0);
    rc = coil_gather(futures, (size_t)MANY, COIL_GATHER_ALL, NULL);
    CHECK_INT(coil_scope_exit(&scope, rc), -ETIMEDOUT);
    CHECK_INT(coil_now(), COIL_SEC(2));
    for (int i = 0; i < MANY; i++) {
        CHECK_INT(coil_future_result(futures[i]), -ECANCELED);
        coil_future_release(futures[i]);
    }
    free(futures);
}

/* ---- tasks that ignore cancellation ------------------------------------------------ */

/* Sleep three times, ignoring all cancellations. */
static int ignore(void *arg)
{
    for (int i = 0; i < 3; i++) {
        coil_sleep(COIL_SEC(1));
        coil_cancel_caught();
    }
    test_trace("%s ", (const char *)arg);
    return 7;
}

TASK_TEST(a_task_that_ignores_its_cancellation_goes_on)
{
    coil_task *task = test_spawn(ignore, "ends");

    CHECK_INT(coil_yield(), 0);
    for (int i = 0; i < 3; i++)
        CHECK(coil_task_cancel(task, "end"));
    CHECK_INT(coil_task_await(task), 7);
    CHECK_INT(coil_task_cancelling(task), 3);
    CHECK_INT(coil_now(), COIL_SEC(2)); /* the cancellation interrupted only one sleep */
    CHECK_TRACE("ends ");
    coil_task_release(task);
}

TASK_TEST(a_group_waits_for_a_child_that_ignores_its_cancellation)
{
    coil_group group;

    coil_group_enter(&group);
    CHECK_INT(coil_group_spawn(&group, ignore, "child", NULL, NULL), 0);
    CHECK_INT(coil_yield(), 0);
    CHECK_INT(coil_group_exit(&group, -EIO), -EIO);
    CHECK_INT(coil_now(), COIL_SEC(2));
    CHECK_TRACE("child ");
}

TASK_TEST(a_body_that_ignores_its_deadline_is_late_and_no_failure)
{
    coil_scope scope;

    CHECK_INT(coil_scope_enter(&scope, COIL_MSEC(500)), 0);
    CHECK_INT(coil_scope_exit(&scope, ignore("body")), 7);
    CHECK(coil_scope_expired(&scope));
    CHECK_INT(coil_task_cancelling(coil_task_current()), 0);
    CHECK_INT(coil_now(), COIL_MSEC(2500));
    CHECK_TRACE("body ");
}

static int leave_behind(void *arg)
{
    coil_task_release(test_spawn(ignore, arg));
    return coil_yield();
}

TEST(a_run_waits_for_a_task_that_ignores_its_end)
{
    CHECK_INT(coil_testing_run(leave_behind, "left"), 0);
    CHECK_TRACE("left ");
}

/* ---- callbacks that destroy their own objects -------------------------------------- */

static void cancel_own_handle(void *arg)
{
    coil_handle **handle = arg;

    test_trace("called ");
    coil_handle_cancel(*handle);
    coil_handle_release(*handle);
    *handle = NULL;
}

TASK_TEST(a_handle_cancelled_and_released_in_its_own_call)
{
    coil_handle *handle;

    CHECK_INT(coil_call_soon(cancel_own_handle, &handle, &handle), 0);
    CHECK_INT(coil_yield(), 0);
    CHECK_PTR(handle, NULL);
    CHECK_INT(coil_call_later(1, cancel_own_handle, &handle, &handle), 0);
    CHECK_INT(coil_sleep(2), 0);
    CHECK_PTR(handle, NULL);
    CHECK_TRACE("called called ");
}

static void cancel_other(void *arg)
{
    test_trace("first ");
    coil_handle_cancel(*(coil_handle **)arg);
}

static void never(void *arg)
{
    test_trace("never %p", arg);
}

TASK_TEST(a_callback_cancels_the_one_behind_it_in_the_same_turn)
{
    coil_handle *other;

    CHECK_INT(coil_call_soon(cancel_other, &other, NULL), 0);
    CHECK_INT(coil_call_soon(never, NULL, &other), 0);
    CHECK_INT(coil_yield(), 0);
    coil_handle_release(other);
    CHECK_INT(coil_call_later(1, cancel_other, &other, NULL), 0);
    CHECK_INT(coil_call_later(1, never, NULL, &other), 0);
    CHECK_INT(coil_sleep(2), 0);
    coil_handle_release(other);
    CHECK_TRACE("first first ");
}

static struct {
    coil_timer timer;
    int calls;
} again;

static void start_again(void *arg)
{
    (void)arg;
    coil_timer_stop(&again.timer);
    if (++again.calls < 3)
        CHECK_INT(coil_timer_start(&again.timer, coil_in(1)), 0);
}

TASK_TEST(a_timer_that_stops_and_starts_itself_in_its_own_call)
{
    coil_timer_init(&again.timer, start_again, NULL);
    CHECK_INT(coil_timer_start(&again.timer, 1), 0);
    CHECK_INT(coil_sleep(10), 0);
    CHECK_INT(again.calls, 3);
    CHECK(!coil_timer_started(&again.timer));
}

static void remove_oneself(coil_future *future, void *arg)
{
    test_trace("removed %d ", coil_future_remove_callback(future, remove_oneself, arg));
}

static void say_done(coil_future *future, void *arg)
{
    (void)future;
    test_trace("%s ", (const char *)arg);
}

static void remove_other(coil_future *future, void *arg)
{
    test_trace("removed %d ", coil_future_remove_callback(future, say_done, arg));
}

/*
 * As in asyncio, callbacks can no longer be removed once their future is done, because
 * they are in the ready queue.
 */
TASK_TEST(a_done_callback_that_removes_itself_or_the_next_is_too_late)
{
    coil_future *future;

    CHECK_INT(coil_future_create(&future), 0);
    CHECK_INT(coil_future_add_callback(future, remove_oneself, NULL), 0);
    CHECK_INT(coil_future_add_callback(future, remove_other, "said"), 0);
    CHECK_INT(coil_future_add_callback(future, say_done, "said"), 0);
    coil_future_set(future, 0, NULL, NULL);
    CHECK_INT(coil_yield(), 0);
    CHECK_TRACE("removed 0 removed 0 said ");
    coil_future_release(future);
}

static void add_oneself(coil_future *future, void *arg)
{
    int *left = arg;

    test_trace("%d ", coil_future_set(future, 0, NULL, NULL));
    if (--*left > 0)
        CHECK_INT(coil_future_add_callback(future, add_oneself, arg), 0);
}

TASK_TEST(a_done_callback_that_adds_itself_again_is_called_a_turn_later)
{
    coil_future *future;
    int left = 3;

    CHECK_INT(coil_future_create(&future), 0);
    CHECK_INT(coil_future_add_callback(future, add_oneself, &left), 0);
    coil_future_set(future, 0, NULL, NULL);
    coil_future_release(future); /* the callback has the last reference */
    for (int i = 1; i <= 3; i++) {
        CHECK_INT(coil_yield(), 0);
        CHECK_INT(left, 3 - i);
    }
    CHECK_TRACE("-114 -114 -114 ");
}

static void remove_and_close(void *arg)
{
    int *fd = arg;

    test_trace("readable ");
    CHECK_INT(coil_remove_reader(*fd), 1);
    close(*fd);
    *fd = -1;
}

IO_TEST(a_reader_that_removes_itself_and_closes_its_descriptor)
{
    int fds[2];

    CHECK_INT(pipe(fds), 0);
    CHECK_INT(write(fds[1], "x", 1), 1);
    CHECK_INT(coil_add_reader(fds[0], remove_and_close, &fds[0]), 0);
    CHECK_INT(coil_wait_all_blocked(), 0);
    CHECK_INT(fds[0], -1);
    CHECK_TRACE("readable ");
    close(fds[1]);
}
