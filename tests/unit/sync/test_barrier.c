/*
 * test_barrier.c - barriers, at which a fixed number of tasks wait for each other.
 */
#include "../../harness/harness.h"

#include <coil.h>

static coil_barrier barrier = COIL_BARRIER_INIT(3);

static int come(void *arg)
{
    int rc = coil_barrier_wait(&barrier);

    test_trace("%s:%d ", (const char *)arg, rc);
    return rc == -EPIPE ? 0 : rc;
}

static coil_task *spawn(const char *name)
{
    coil_task *task = NULL;

    CHECK_INT(coil_spawn(come, (void *)name, NULL, &task), 0);
    return task;
}

static void spawn_detached(const char *name)
{
    coil_task_release(spawn(name));
}

TASK_TEST(barrier_opens_when_the_last_has_come)
{
    CHECK_INT(coil_barrier_parties(&barrier), 3);
    spawn_detached("a");
    spawn_detached("b");
    coil_sleep(1);
    CHECK_INT(coil_barrier_waiting(&barrier), 2);
    CHECK_TRACE("");
    CHECK_INT(coil_barrier_wait(&barrier), 2);
    CHECK_INT(coil_barrier_waiting(&barrier), 0);
    CHECK_TRACE(""); /* the other tasks continue in the next turn */
    coil_yield();
    CHECK_TRACE("a:0 b:1 ");
    coil_barrier_finish(&barrier);
    coil_barrier_finish(NULL);
}

TASK_TEST(barrier_who_comes_while_it_drains_waits_for_the_next_round)
{
    spawn_detached("a");
    spawn_detached("b");
    coil_yield();
    spawn_detached("x");
    spawn_detached("y");
    CHECK_INT(coil_barrier_wait(&barrier), 2);
    coil_sleep(1);
    CHECK_TRACE("a:0 b:1 ");
    CHECK_INT(coil_barrier_waiting(&barrier), 2);
    spawn_detached("z");
    coil_sleep(1);
    CHECK_TRACE("z:2 x:0 y:1 ");
}

TASK_TEST(barrier_of_one_is_always_open)
{
    coil_barrier_init(&barrier, 1);
    CHECK_INT(coil_barrier_wait(&barrier), 0);
    CHECK_INT(coil_barrier_wait(&barrier), 0);
    coil_barrier_init(&barrier, 0);
    CHECK_INT(coil_barrier_wait(&barrier), -EINVAL);
}

TASK_TEST(barrier_waiter_cancelled_leaves_its_place)
{
    coil_task *a = spawn("a");

    coil_yield();
    coil_task_cancel(a, NULL);
    CHECK_INT(coil_task_await(a), -ECANCELED);
    CHECK_INT(coil_barrier_waiting(&barrier), 0);
    spawn_detached("b");
    spawn_detached("c");
    spawn_detached("d");
    coil_sleep(1);
    CHECK_TRACE("a:-125 d:2 b:0 c:1 ");
    coil_task_release(a);
}

TASK_TEST(barrier_waiter_cancelled_in_the_turn_it_was_released_holds_up_nobody)
{
    coil_task *a = spawn("a");

    spawn_detached("b");
    coil_yield();
    CHECK_INT(coil_barrier_wait(&barrier), 2);
    coil_task_cancel(a, NULL);
    coil_yield();
    CHECK_TRACE("a:-125 b:0 ");
    spawn_detached("c");
    spawn_detached("d");
    coil_yield();
    CHECK_INT(coil_barrier_wait(&barrier), 2);
    coil_yield();
    CHECK_TRACE("c:0 d:1 ");
    coil_task_release(a);
}

/*
 * If a task is cancelled after it has woken another task, that other task waits again, at
 * the end of the queue. (asyncio does the same: CPython issue gh-155233)
 */
TASK_TEST(barrier_places_are_given_once_whoever_is_cancelled)
{
    static const char *const traces[] = {
        "a:-125 e:3 c:0 b:1 d:2 ",
        "b:-125 e:3 c:0 a:1 d:2 ",
        "c:-125 e:3 b:0 a:1 d:2 ",
    };

    coil_barrier_init(&barrier, 4);
    for (int i = 0; i < 3; i++) {
        coil_task *tasks[] = {spawn("a"), spawn("b"), spawn("c")};

        coil_yield();
        coil_task_cancel(tasks[i], NULL);
        coil_sleep(1);
        spawn_detached("d");
        spawn_detached("e");
        coil_sleep(1);
        CHECK_TRACE(traces[i]);
        for (int t = 0; t < 3; t++)
            coil_task_release(tasks[t]);
    }
}

/* A failed wait of the previous round does not use up an index of this round. */
TASK_TEST(barrier_places_begin_at_0_after_a_reset_and_an_abort)
{
    for (int aborts = 0; aborts < 2; aborts++) {
        coil_task *a = spawn("a");

        spawn_detached("b");
        coil_yield();
        /* the other tasks were woken, but have not run yet */
        CHECK_INT(coil_barrier_wait(&barrier), 2);
        coil_task_cancel(a, NULL);
        if (aborts)
            CHECK_INT(coil_barrier_abort(&barrier), 0);
        CHECK_INT(coil_barrier_reset(&barrier), 0);
        coil_sleep(1);
        CHECK_TRACE("a:-125 b:-32 ");
        spawn_detached("c");
        spawn_detached("d");
        coil_yield();
        CHECK_INT(coil_barrier_wait(&barrier), 2);
        coil_yield();
        CHECK_TRACE("c:0 d:1 ");
        coil_task_release(a);
    }
}

TASK_TEST(barrier_reset_sends_those_away_who_wait)
{
    spawn_detached("a");
    spawn_detached("b");
    coil_yield();
    CHECK_INT(coil_barrier_reset(&barrier), 0);
    CHECK(!coil_barrier_broken(&barrier));
    spawn_detached("c"); /* the next round */
    coil_sleep(1);
    CHECK_TRACE("a:-32 b:-32 ");
    CHECK_INT(coil_barrier_waiting(&barrier), 1);
    CHECK_INT(coil_barrier_reset(&barrier), 0);
    coil_sleep(1);
    CHECK_TRACE("c:-32 ");
}

TASK_TEST(barrier_abort_breaks_it_until_a_reset)
{
    spawn_detached("a");
    coil_yield();
    CHECK_INT(coil_barrier_abort(&barrier), 0);
    CHECK(coil_barrier_broken(&barrier));
    CHECK_INT(coil_barrier_wait(&barrier), -EPIPE);
    coil_yield();
    CHECK_TRACE("a:-32 ");
    CHECK_INT(coil_barrier_reset(&barrier), 0);
    CHECK(!coil_barrier_broken(&barrier));
    spawn_detached("b");
    spawn_detached("c");
    coil_yield();
    CHECK_INT(coil_barrier_wait(&barrier), 2);
    coil_yield();
    CHECK_TRACE("b:0 c:1 ");
}

static int abort_it(void *arg)
{
    return coil_barrier_abort(arg);
}

TASK_TEST(barrier_abort_cancelled_while_others_leave_breaks_nothing)
{
    coil_task *aborter;

    /* acquire the lock, as a task that is leaving the barrier does */
    coil_lock_acquire(&barrier.lock);
    CHECK_INT(coil_spawn(abort_it, &barrier, NULL, &aborter), 0);
    coil_yield();
    coil_task_cancel(aborter, NULL);
    CHECK_INT(coil_task_await(aborter), -ECANCELED);
    CHECK(!coil_barrier_broken(&barrier));
    coil_lock_release(&barrier.lock);
    coil_task_release(aborter);
}

static void finish_in_use(void *arg)
{
    (void)arg;
    coil_barrier_finish(&barrier);
}

TASK_TEST(barrier_finish_while_somebody_waits_stops_the_program)
{
    coil_task *a = spawn("a");

    coil_yield();
    test_dies(finish_in_use, NULL, "coil_barrier_finish: task 'task-");
    coil_task_cancel(a, NULL);
    coil_task_await(a);
    coil_task_release(a);
    test_trace_clear();
}
