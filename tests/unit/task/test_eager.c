/*
 * test_eager.c - tasks that begin inside coil_spawn().
 */
#include "../../harness/harness.h"

#include "../../../src/base/compiler.h"

#include <coil.h>

static const coil_spawn_opts eager = {.eager = true};

static const char *name(void)
{
    return coil_task_current() != NULL ? coil_task_name(coil_task_current()) : "none";
}

static coil_task *spawn(coil_task_fn fn, void *arg, const char *task_name)
{
    coil_task *task;

    CHECK_INT(
        coil_spawn(fn, arg, &(coil_spawn_opts){.name = task_name, .eager = true}, &task),
        0);
    return task;
}

static int end_at_once(void *arg)
{
    test_trace("%s ends ", name());
    return *(int *)arg;
}

TASK_TEST(eager_child_that_does_not_wait_has_ended_when_spawn_returns)
{
    int rc = 42;
    coil_task *task = spawn(end_at_once, &rc, "child");

    CHECK_TRACE("child ends ");
    CHECK(coil_future_done(coil_task_future(task)));
    CHECK_STR(name(), "main");
    CHECK(!coil_task_cancel(task, NULL));
    CHECK_INT(test_join(task), 42);
}

static int wait_twice(void *arg)
{
    int rc;

    (void)arg;
    test_trace("%s1 ", name());
    rc = coil_yield();
    test_trace("%s2:%d ", name(), rc);
    rc = coil_sleep(COIL_SEC(1));
    test_trace("%s3:%d ", name(), rc);
    return rc;
}

TASK_TEST(eager_child_comes_back_to_its_spawner_at_its_first_wait)
{
    coil_task *a = spawn(wait_twice, NULL, "a"), *b;

    test_trace("main1 ");
    b = spawn(wait_twice, NULL, "b");
    test_trace("main2 ");
    CHECK_TRACE("a1 main1 b1 main2 ");
    CHECK_INT(coil_yield(), 0);
    CHECK_TRACE("a2:0 b2:0 ");
    CHECK_INT(test_join(a), 0);
    CHECK_INT(test_join(b), 0);
    CHECK_TRACE("a3:0 b3:0 ");
}

static int look_around(void *out)
{
    coil_task **task = out;

    CHECK_PTR(*task, coil_task_current());
    return 0;
}

TASK_TEST(eager_child_is_the_current_task_and_out_is_set)
{
    coil_task *main_task = coil_task_current(), *task = NULL;

    CHECK_INT(coil_spawn(look_around, &task, &eager, &task), 0);
    CHECK_PTR(coil_task_current(), main_task);
    CHECK_INT(test_join(task), 0);
}

/* ---- spawning from different places ------------------------------------------------ */

static void spawn_from_callback(void *out)
{
    *(coil_task **)out = spawn(wait_twice, NULL, "child");
    test_trace("%s ", name());
}

TASK_TEST(eager_child_of_a_callback)
{
    coil_task *task = NULL;

    CHECK_INT(coil_call_soon(spawn_from_callback, &task, NULL), 0);
    CHECK_INT(coil_yield(), 0);
    CHECK_TRACE("child1 none ");
    CHECK_INT(test_join(task), 0);
    CHECK_TRACE("child2:0 child3:0 ");
}

struct nest {
    int depth;
    coil_task *task;
};

/* Start a task of the next level, and wait. */
static int nest_deeper(void *arg)
{
    struct nest *nest = arg, inner = {.depth = nest->depth - 1};
    int rc;

    if (inner.depth > 0)
        CHECK_INT(coil_spawn(nest_deeper, &inner, &eager, &inner.task), 0);
    test_trace("%d ", nest->depth);
    rc = coil_yield();
    test_trace("%d ", nest->depth);
    if (rc == 0 && inner.task != NULL)
        rc = test_join(inner.task);
    return rc;
}

TASK_TEST(eager_children_nest)
{
    struct nest nest = {.depth = 3};

    CHECK_INT(coil_spawn(nest_deeper, &nest, &eager, &nest.task), 0);
    CHECK_TRACE("1 2 3 ");
    CHECK_INT(test_join(nest.task), 0);
    CHECK_TRACE("1 2 3 ");
}

TASK_TEST(eager_children_nest_a_thousand_deep)
{
    struct nest nest = {.depth = 1000};

    CHECK_INT(coil_spawn(nest_deeper, &nest, &eager, &nest.task), 0);
    CHECK_INT(test_join(nest.task), 0);
    test_trace_clear();
}

static int yield_values(coil_gen *gen, void *arg)
{
    coil_task *task;

    (void)gen;
    task = spawn(wait_twice, NULL, "child");
    CHECK_INT(coil_gen_yield(arg, NULL), 0);
    return test_join(task);
}

TASK_TEST(eager_child_of_a_generator_in_a_task)
{
    coil_gen *gen;
    void *value;

    CHECK_INT(coil_gen_create(yield_values, "value", NULL, &gen), 0);
    CHECK_INT(coil_gen_next(gen, &value), COIL_GEN_YIELDED);
    CHECK_STR(value, "value");
    CHECK_TRACE("child1 ");
    CHECK_INT(coil_gen_next(gen, &value), COIL_GEN_ENDED);
    CHECK_TRACE("child2:0 child3:0 ");
    coil_gen_destroy(gen);
}

static int wait_in_generator(coil_gen *gen, void *arg)
{
    (void)gen;
    (void)arg;
    return coil_sleep(COIL_SEC(1));
}

static int drive_generator(void *arg)
{
    coil_gen *gen;
    int rc = coil_gen_create(wait_in_generator, arg, NULL, &gen);

    CHECK_INT(rc, 0);
    rc = coil_gen_next(gen, NULL);
    coil_gen_destroy(gen);
    return rc == COIL_GEN_ENDED ? 7 : rc;
}

TASK_TEST(eager_child_waits_for_the_first_time_inside_a_generator)
{
    coil_task *task = spawn(drive_generator, NULL, "child");

    CHECK(!coil_future_done(coil_task_future(task)));
    CHECK_INT(test_join(task), 7);
}

TEST(before_the_loop_runs_eager_does_nothing)
{
    coil_loop *loop;
    coil_task *task;
    int rc = 5;

    CHECK_INT(coil_loop_create(NULL, &loop), 0);
    CHECK_INT(coil_spawn(end_at_once, &rc, &eager, &task), 0);
    CHECK_TRACE("");
    CHECK_INT(coil_run_until_complete(coil_task_future(task)), 5);
    CHECK_TRACE("task-1 ends ");
    coil_task_release(task);
    coil_loop_close(loop);
}

/* ---- how it ends ------------------------------------------------------------------- */

TASK_TEST(eager_child_that_fails_at_once)
{
    int rc = -EIO;

    CHECK_INT(test_join(spawn(end_at_once, &rc, "child")), -EIO);
    CHECK_TRACE("child ends ");
}

static int cancel_other(void *other)
{
    CHECK(coil_task_cancel(other, "by its child"));
    return coil_yield();
}

TASK_TEST(eager_child_that_cancels_its_spawner)
{
    coil_task *task = spawn(cancel_other, coil_task_current(), "child");

    CHECK_INT(coil_task_cancelling(coil_task_current()), 1);
    CHECK_INT(coil_sleep(COIL_SEC(1)), -ECANCELED);
    CHECK_STR(coil_cancel_reason(), "by its child");
    coil_cancel_caught();
    CHECK_INT(coil_uncancel(), 0);
    CHECK_INT(test_join(task), 0);
}

static int cancel_oneself(void *arg)
{
    (void)arg;
    coil_task_cancel(coil_task_current(), "by itself");
    return coil_sleep(COIL_SEC(1));
}

TASK_TEST(eager_child_that_cancels_itself_is_told_at_its_first_wait)
{
    coil_task *task = spawn(cancel_oneself, NULL, "child");

    CHECK(!coil_future_done(coil_task_future(task)));
    CHECK_INT(test_join(task), -ECANCELED);
}

static int cancel_and_end(void *arg)
{
    coil_task_cancel(coil_task_current(), arg);
    return 3;
}

TASK_TEST(eager_child_cancelled_just_before_it_ends)
{
    coil_task *task = spawn(cancel_and_end, NULL, "child");

    CHECK(coil_future_cancelled(coil_task_future(task)));
    CHECK_INT(test_join(task), -ECANCELED);
}

TASK_TEST(eager_child_cancelled_after_its_first_wait)
{
    coil_task *task = spawn(wait_twice, NULL, "child");

    CHECK(coil_task_cancel(task, NULL));
    CHECK_INT(test_join(task), -ECANCELED);
    CHECK_TRACE("child1 child2:-125 child3:-125 ");
}

static int await_other(void *other)
{
    return coil_task_await(other) + 1;
}

static int spawn_one_who_awaits_me(void *out)
{
    *(coil_task **)out = spawn(await_other, coil_task_current(), "child");
    return 1;
}

TASK_TEST(eager_child_that_awaits_its_spawner)
{
    coil_task *child = NULL, *task = spawn(spawn_one_who_awaits_me, &child, "spawner");

    CHECK_INT(test_join(task), 1);
    CHECK_INT(test_join(child), 2);
}

static int clobber_errno(void *arg)
{
    (void)arg;
    errno = EPIPE;
    return 0;
}

TASK_TEST(eager_child_has_an_errno_of_its_own)
{
    errno = EDOM;
    CHECK_INT(coil_spawn(clobber_errno, NULL, &eager, NULL), 0);
    CHECK_INT(errno, EDOM);
}

static int add(void *arg)
{
    int *numbers = arg;

    return coil_yield() < 0 ? -ECANCELED : numbers[0] + numbers[1];
}

TASK_TEST(eager_child_with_a_copied_argument)
{
    int numbers[2] = {1, 2};
    coil_task *task;

    CHECK_INT(coil_spawn(add, numbers,
                         &(coil_spawn_opts){.eager = true, .arg_bytes = sizeof numbers},
                         &task),
              0);
    numbers[0] = 100;
    CHECK_INT(test_join(task), 3);
}

/* ---- in a group -------------------------------------------------------------------- */

TASK_TEST(eager_children_of_a_group)
{
    int one = 1;
    coil_task *task;
    coil_group group;
    int rc;

    coil_group_enter(&group);
    rc = coil_group_spawn(&group, end_at_once, &one, &eager, &task);
    if (rc == 0)
        rc = coil_group_spawn(&group, wait_twice, NULL, &eager, NULL);
    CHECK_INT(coil_future_result(coil_task_future(task)), 1);
    CHECK_INT(coil_group_exit(&group, rc), 0);
    test_trace_clear();
}

TASK_TEST(eager_child_that_fails_cancels_its_group_one_turn_later)
{
    int error = -EIO;
    coil_group group;

    coil_group_enter(&group);
    CHECK_INT(coil_group_spawn(&group, wait_twice, NULL, &eager, NULL), 0);
    CHECK_INT(coil_group_spawn(&group, end_at_once, &error, &eager, NULL), 0);
    CHECK_INT(coil_group_spawn(&group, wait_twice, NULL, &eager, NULL), 0);
    CHECK_INT(coil_task_cancelling(coil_task_current()), 0);
    CHECK_INT(coil_group_exit(&group, coil_sleep(COIL_SEC(5))), -EIO);
    test_trace_clear();
}

static int cancel_group(void *group)
{
    coil_group_cancel(group, "by its child");
    return coil_sleep(COIL_SEC(100));
}

TASK_TEST(eager_child_that_cancels_its_group_before_it_waits)
{
    int64_t began = coil_now();
    coil_group group;

    coil_group_enter(&group);
    CHECK_INT(coil_group_spawn(&group, cancel_group, &group, &eager, NULL), 0);
    CHECK_INT(coil_group_exit(&group, 0), 0);
    CHECK_INT(coil_now(), began);
}

/* ---- overflow ---------------------------------------------------------------------- */

static int recurse(void *arg)
{
    volatile char frame[1024];

    frame[0] = *(volatile char *)arg;
    return frame[0] == 'x' ? 0 : frame[0] + recurse((void *)frame);
}

static int overflow_eagerly(void *arg)
{
    (void)arg;
    return coil_spawn(recurse, "deeper",
                      &(coil_spawn_opts){.name = "greedy", .eager = true}, NULL);
}

static void run_overflow(void *arg)
{
    coil_run(overflow_eagerly, arg, NULL);
}

TEST(stack_overflow_of_an_eager_child_names_the_child)
{
    if (COIL__ASAN || COIL__TSAN || test_under_valgrind())
        test_skip("the sanitizer handles SIGSEGV itself");
    test_dies_by_signal(run_overflow, NULL, SIGSEGV, "greedy");
}
