/*
 * test_future.c - objects that receive a result later. (docs/seeds.md, rows 57 to 63)
 */
#include "../../harness/harness.h"

#include <coil.h>

#include <pthread.h>
#include <stdlib.h>

static void note(coil_future *future, void *arg)
{
    test_trace("%s:%d ", (const char *)arg, coil_future_result(future));
}

TASK_TEST(future_leaves_pending_once)
{
    coil_future *f;

    CHECK_INT(coil_future_create(&f), 0);
    CHECK_INT(coil_future_get_state(f), COIL_PENDING);
    CHECK_INT(coil_future_result(f), -EINPROGRESS);
    CHECK(!coil_future_done(f));
    CHECK_INT(coil_future_set(f, 42, NULL, NULL), 0);
    CHECK_INT(coil_future_get_state(f), COIL_DONE);
    CHECK_INT(coil_future_set(f, 43, NULL, NULL), -EALREADY);
    CHECK(!coil_future_cancel(f, NULL));
    CHECK_INT(coil_await(f), 42);
    CHECK_INT(coil_await(f), 42);
    coil_future_release(f);
    coil_future_release(NULL);
}

TASK_TEST(future_callbacks_run_in_order_from_the_loop_never_in_the_setter)
{
    coil_future *f;

    coil_future_create(&f);
    coil_future_add_callback(f, note, "a");
    coil_future_add_callback(f, note, "b");
    coil_future_add_callback(f, note, "removed");
    coil_future_add_callback(f, note, "c");
    CHECK_INT(coil_future_remove_callback(f, note, "removed"), 1);
    CHECK_INT(coil_future_remove_callback(f, note, "nobody"), 0);
    coil_future_set(f, 7, NULL, NULL);
    CHECK_TRACE("");
    coil_future_add_callback(f, note, "late");
    coil_yield();
    CHECK_TRACE("a:7 b:7 c:7 late:7 ");
    coil_future_release(f);
}

TASK_TEST(future_callbacks_fire_for_failure_and_cancellation_too)
{
    coil_future *f;

    coil_future_create(&f);
    coil_future_add_callback(f, note, "failed");
    coil_future_set(f, -EIO, NULL, NULL);
    CHECK_INT(coil_future_get_state(f), COIL_FAILED);
    coil_future_release(f);
    coil_future_create(&f);
    coil_future_add_callback(f, note, "cancelled");
    CHECK(coil_future_cancel(f, "because"));
    CHECK(coil_future_cancelled(f));
    CHECK_STR(coil_future_cancel_reason(f), "because");
    CHECK_INT(coil_await(f), -ECANCELED);
    coil_future_release(f);
    coil_yield();
    CHECK_TRACE("failed:-5 cancelled:-125 ");
}

static int await_it(void *arg)
{
    int rc = coil_await(arg);

    test_trace("%s:%d ", coil_task_name(coil_task_current()), rc);
    return rc;
}

TASK_TEST(future_many_await_one_in_order)
{
    coil_future *f;

    coil_future_create(&f);
    coil_spawn(await_it, f, &(coil_spawn_opts){.name = "a"}, NULL);
    coil_spawn(await_it, f, &(coil_spawn_opts){.name = "b"}, NULL);
    coil_yield();
    coil_future_set(f, 1, NULL, NULL);
    CHECK_TRACE("");
    coil_yield();
    CHECK_TRACE("a:1 b:1 ");
    coil_future_release(f);
}

TASK_TEST(future_released_by_its_maker_while_it_is_awaited)
{
    coil_future *f;

    coil_future_create(&f);
    coil_spawn(await_it, f, &(coil_spawn_opts){.name = "a"}, NULL);
    coil_yield();
    coil_future_set(f, 3, NULL, NULL);
    coil_future_release(f);
    coil_yield();
    CHECK_TRACE("a:3 ");
}

static int destroyed;

static void destroy(void *value)
{
    free(value);
    destroyed++;
}

TASK_TEST(future_value_is_borrowed_and_destroyed_once)
{
    coil_future *f;
    int *value = malloc(sizeof *value);

    destroyed = 0;
    *value = 99;
    coil_future_create(&f);
    CHECK_PTR(coil_future_value(f), NULL);
    coil_future_set(f, 0, value, destroy);
    coil_future_retain(f);
    CHECK_INT(*(int *)coil_future_value(f), 99);
    coil_future_release(f);
    CHECK_INT(destroyed, 0);
    coil_future_release(f);
    CHECK_INT(destroyed, 1);
}

TASK_TEST(future_value_that_was_taken_is_the_callers)
{
    coil_future *f;
    int *value = malloc(sizeof *value);

    destroyed = 0;
    coil_future_create(&f);
    CHECK_PTR(coil_future_take_value(f), NULL);
    coil_future_set(f, 0, value, destroy);
    CHECK_PTR(coil_future_take_value(f), value);
    CHECK_PTR(coil_future_take_value(f), NULL);
    CHECK_PTR(coil_future_value(f), NULL);
    coil_future_release(f);
    CHECK_INT(destroyed, 0);
    free(value);
}

static void set_future(void *arg)
{
    coil_future_set(arg, 5, NULL, NULL);
}

TASK_TEST(future_is_set_from_a_timer_and_from_a_post)
{
    coil_future *f;

    coil_future_create(&f);
    coil_call_later(COIL_MSEC(3), set_future, f, NULL);
    CHECK_INT(coil_await(f), 5);
    CHECK_INT(coil_now(), COIL_MSEC(3));
    coil_future_release(f);
    coil_future_create(&f);
    coil_post(coil_loop_current(), set_future, f);
    CHECK_INT(coil_await(f), 5);
    coil_future_release(f);
}

/*
 * A done callback, which completes the next future in a chain of a million futures.
 * (docs/seeds.md, row 62)
 */
static void set_next(coil_future *future, void *arg)
{
    coil_future_set(arg, coil_future_result(future) + 1, NULL, NULL);
}

TASK_TEST(future_chain_of_a_million_needs_no_deep_stack)
{
    int n = test_million();
    coil_future **f = malloc((size_t)n * sizeof *f);

    for (int i = 0; i < n; i++)
        CHECK_INT(coil_future_create(&f[i]), 0);
    for (int i = 0; i + 1 < n; i++)
        CHECK_INT(coil_future_add_callback(f[i], set_next, f[i + 1]), 0);
    coil_future_set(f[0], 1, NULL, NULL);
    CHECK_INT(coil_await(f[n - 1]), n);
    for (int i = 0; i < n; i++)
        coil_future_release(f[i]);
    free(f);
}

TASK_TEST(shielded_future_survives_the_cancellation_of_its_awaiter)
{
    coil_future *f;
    coil_task *t;

    coil_future_create(&f);
    coil_spawn((coil_task_fn)(void *)coil_shield, f, NULL, &t);
    coil_yield();
    coil_task_cancel(t, NULL);
    CHECK_INT(coil_task_await(t), -ECANCELED);
    CHECK(!coil_future_done(f));
    coil_future_set(f, 8, NULL, NULL);
    CHECK_INT(coil_shield(f), 8);
    coil_future_release(f);
    coil_task_release(t);
}

TASK_TEST(awaited_future_is_cancelled_with_its_awaiter)
{
    coil_future *f;
    coil_task *t;

    coil_future_create(&f);
    coil_spawn(await_it, f, &(coil_spawn_opts){.name = "t"}, &t);
    coil_yield();
    coil_task_cancel(t, "passed on");
    CHECK(coil_future_cancelled(f));
    CHECK_STR(coil_future_cancel_reason(f), "passed on");
    CHECK_INT(coil_task_await(t), -ECANCELED);
    CHECK_TRACE("t:-125 ");
    coil_future_release(f);
    coil_task_release(t);
}

static int gather_it(void *arg)
{
    coil_future *futures[] = {arg};

    return coil_gather(futures, 1, 0, NULL);
}

static int keep_going(void *arg)
{
    coil_await(arg);
    test_trace("%s ", coil_cancel_reason());
    return 1;
}

static const char *reason_of_who_awaits(coil_task_fn fn, const char *request)
{
    const char *reason;
    coil_future *f;
    coil_task *t;

    coil_future_create(&f);
    coil_spawn(fn, f, &(coil_spawn_opts){.name = "t"}, &t);
    coil_yield();
    coil_future_cancel(f, "of the future");
    if (request != NULL)
        coil_task_cancel(t, request);
    coil_task_await(t);
    reason = coil_future_cancel_reason(coil_task_future(t));
    coil_task_release(t);
    coil_future_release(f);
    return reason;
}

TASK_TEST(reason_of_a_cancelled_future_is_handed_on_to_who_awaits_it)
{
    CHECK_STR(reason_of_who_awaits(await_it, NULL), "of the future");
    CHECK_STR(reason_of_who_awaits(gather_it, NULL), "of the future");
    CHECK_STR(reason_of_who_awaits(await_it, "its own"), "its own");
    CHECK_PTR(reason_of_who_awaits(keep_going, NULL), NULL);
    CHECK_TRACE("t:-125 t:-125 of the future ");
}

static void set_a_task(void *arg)
{
    coil_future_set(arg, 1, NULL, NULL);
}

static void *set_from_thread(void *arg)
{
    coil_future_set(arg, 1, NULL, NULL);
    return NULL;
}

static void set_from_another_thread(void *arg)
{
    pthread_t thread;

    pthread_create(&thread, NULL, set_from_thread, arg);
    pthread_join(thread, NULL);
}

TASK_TEST(future_set_by_another_thread_stops_the_program)
{
    coil_future *f;

    coil_future_create(&f);
    test_dies(set_from_another_thread, f,
              "coil_future_set: this thread does not run the loop");
    coil_future_release(f);
}

TASK_TEST(future_of_a_task_is_not_to_be_set)
{
    test_dies(set_a_task, coil_task_future(coil_task_current()), "a task sets its own");
}
