/*
 * test_turns.c - tasks run in the same order whether the loop or a task begins a turn.
 *
 * With a virtual clock, the loop begins every turn, with a poll. With the real clock, a
 * task that has to wait may begin the next turn itself, and switch directly to the next
 * task: see next_in_turn() in task.c. The traces of both must be equal.
 */
#include "../../harness/harness.h"

#include <coil.h>

static void call(void *arg)
{
    test_trace("%s ", (const char *)arg);
}

static int step_thrice(void *arg)
{
    const char *name = arg;

    for (int i = 1; i <= 3; i++) {
        test_trace("%s%d ", name, i);
        if (i == 2)
            CHECK_INT(coil_call_soon(call, "call", NULL), 0);
        if (coil_yield() < 0) {
            test_trace("%s-cancelled ", name);
            return -ECANCELED;
        }
    }
    return 0;
}

static int spawn_more(void *arg)
{
    coil_task *child;

    CHECK_INT(coil_spawn(step_thrice, arg, NULL, &child), 0);
    test_trace("spawned ");
    coil_yield();
    coil_yield();
    coil_task_cancel(child, NULL);
    coil_task_await(child);
    test_trace("joined ");
    coil_task_release(child);
    return 0;
}

static int main_task(void *arg)
{
    coil_task *never;
    coil_group group;

    (void)arg;
    coil_group_enter(&group);
    coil_group_spawn(&group, step_thrice, "a", NULL, NULL);
    coil_group_spawn(&group, spawn_more, "b", NULL, NULL);
    CHECK_INT(coil_call_soon(call, "first", NULL), 0);
    coil_group_spawn(&group, step_thrice, "c", NULL, NULL);
    CHECK_INT(coil_spawn(step_thrice, "never", NULL, &never), 0);
    coil_task_cancel(never, NULL);
    coil_task_release(never);
    test_trace("exit ");
    return coil_group_exit(&group, 0);
}

static void check_order(bool virtual_clock)
{
    coil_run_opts opts = {.loop = {.virtual_clock = virtual_clock}};

    CHECK_INT(coil_run(main_task, NULL, &opts), 0);
    CHECK_TRACE("exit a1 spawned first c1 a2 b1 c2 call a3 b2 call c3 call b-cancelled "
                "joined ");
}

TEST(turns_begun_by_the_loop)
{
    check_order(true);
}

TEST(turns_begun_by_tasks)
{
    check_order(false);
}

static int yield_alone(void *arg)
{
    for (int i = 0; i < 1000; i++)
        coil_yield();
    test_trace("alone ");
    return (int)(intptr_t)arg;
}

/*
 * A timer must fire even if another task yields all the time. coil never switches away
 * from that task, because no other task is ready, but polls from time to time.
 */
static int sleep_beside(void *arg)
{
    bool *over = arg;
    int rc = coil_sleep(COIL_SEC(1) / 100);

    *over = true;
    return rc;
}

static int yield_until_timer(void *arg)
{
    bool over = false;
    coil_task *sleeper;

    (void)arg;
    CHECK_INT(coil_spawn(sleep_beside, &over, NULL, &sleeper), 0);
    while (!over)
        coil_yield();
    coil_task_release(sleeper);
    return yield_alone(NULL);
}

TEST(turns_of_one_task_that_yields_let_timers_fire)
{
    CHECK_INT(coil_run(yield_until_timer, NULL, NULL), 0);
    CHECK_TRACE("alone ");
}

static int stop_at_once(void *arg)
{
    coil_loop_stop(arg);
    coil_yield();
    test_trace("later ");
    return 0;
}

TEST(turns_are_not_begun_by_tasks_once_the_loop_stops)
{
    coil_loop *loop;
    coil_task *task;

    CHECK_INT(coil_loop_create(NULL, &loop), 0);
    CHECK_INT(coil_spawn(stop_at_once, loop, NULL, &task), 0);
    CHECK_INT(coil_loop_run_forever(loop), 0);
    CHECK_TRACE("");
    coil_loop_stop(loop);
    CHECK_INT(coil_loop_run_forever(loop), 0);
    CHECK_TRACE("later ");
    coil_task_release(task);
    coil_loop_close(loop);
}
