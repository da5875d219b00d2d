/*
 * test_no_suspend.c - regions in which nothing may wait.
 */
#include "../harness/harness.h"

#include <coil.h>

static void run_in_a_task(coil_task_fn fn)
{
    coil_run_opts opts = {.loop.virtual_clock = true, .no_signals = true};

    coil_run(fn, NULL, &opts);
}

static int sleep_in_a_region(void *arg)
{
    coil_no_suspend region;

    (void)arg;
    coil_no_suspend_enter(&region, "seen is checked and changed");
    return coil_sleep(COIL_SEC(1));
}

static int yield_in_the_outer_region(void *arg)
{
    coil_no_suspend outer, inner;

    (void)arg;
    coil_no_suspend_enter(&outer, "outer");
    coil_no_suspend_enter(&inner, "inner");
    coil_no_suspend_exit(&inner);
    return coil_yield();
}

static int exit_the_outer_first(void *arg)
{
    coil_no_suspend outer, inner;

    (void)arg;
    coil_no_suspend_enter(&outer, "outer");
    coil_no_suspend_enter(&inner, "inner");
    coil_no_suspend_exit(&outer);
    return 0;
}

static int end_in_a_region(void *arg)
{
    coil_no_suspend_enter(arg, "for ever");
    return 0;
}

static void run_sleep(void *arg)
{
    (void)arg;
    run_in_a_task(sleep_in_a_region);
}

static void run_yield(void *arg)
{
    (void)arg;
    run_in_a_task(yield_in_the_outer_region);
}

static void run_wrong_exit(void *arg)
{
    (void)arg;
    run_in_a_task(exit_the_outer_first);
}

static int spawn_end(void *arg)
{
    static coil_no_suspend region;
    coil_task *task;

    (void)arg;
    coil_spawn(end_in_a_region, &region, NULL, &task);
    return coil_task_await(task);
}

static void run_end(void *arg)
{
    (void)arg;
    run_in_a_task(spawn_end);
}

TEST(no_suspend_names_the_task_the_wait_and_the_reason)
{
    test_dies(run_sleep, NULL,
              "task 'main' would wait (sleep) where it must not: seen is checked");
    test_dies(run_yield, NULL, "task 'main' would wait (yield) where it must not: outer");
}

TEST(no_suspend_regions_close_in_order_and_before_the_task_ends)
{
    test_dies(run_wrong_exit, NULL, "coil_no_suspend_exit: it is not the innermost");
    test_dies(run_end, NULL, "has ended in a region where it must not wait: for ever");
}

static int wait_in_a_child(void *arg)
{
    (void)arg;
    return coil_sleep(COIL_SEC(1));
}

TASK_TEST(no_suspend_allows_what_need_not_wait)
{
    coil_spawn_opts eagerly = {.eager = true};
    coil_no_suspend region;
    coil_event event = COIL_EVENT_INIT;
    coil_task *child;

    coil_event_set(&event);
    coil_no_suspend_enter(&region, "nothing else may run");
    CHECK_INT(coil_event_wait(&event), 0);
    CHECK_INT(coil_spawn(wait_in_a_child, NULL, &eagerly, &child), 0);
    coil_no_suspend_exit(&region);
    CHECK_INT(coil_task_await(child), 0);
    coil_task_release(child);
}

static void enter_and_exit(void *arg)
{
    coil_no_suspend region;

    coil_no_suspend_enter(&region, "a callback cannot wait anyhow");
    coil_no_suspend_exit(&region);
    *(bool *)arg = true;
}

TASK_TEST(no_suspend_in_a_callback)
{
    bool called = false;

    coil_call_soon(enter_and_exit, &called, NULL);
    coil_yield();
    coil_yield();
    CHECK(called);
}

static void ask_in_a_callback(void *arg)
{
    *(bool *)arg = coil_may_suspend();
}

TASK_TEST(no_suspend_regions_are_seen_by_may_suspend)
{
    coil_no_suspend outer, inner;
    bool in_callback = true;

    CHECK(coil_may_suspend());
    coil_no_suspend_enter(&outer, "outer");
    coil_no_suspend_enter(&inner, "inner");
    CHECK(!coil_may_suspend());
    coil_no_suspend_exit(&inner);
    CHECK(!coil_may_suspend());
    coil_no_suspend_exit(&outer);
    CHECK(coil_may_suspend());
    CHECK_INT(coil_call_soon(ask_in_a_callback, &in_callback, NULL), 0);
    coil_sleep(COIL_SEC(1));
    CHECK(!in_callback);
}

TEST(no_suspend_outside_of_tasks)
{
    CHECK(!coil_may_suspend());
}
