/*
 * test_spawn.c - a new task starts with fresh state, whatever the previous task has left
 * in its slot, and a task that ends switches directly to the next task.
 */
#include "../../harness/harness.h"

#include "../../../src/coro/stack.h"
#include "../../../src/task/task.h"

#include <coil.h>

#include <stdlib.h>
#include <string.h>

static int return_arg(void *arg)
{
    return (int)(intptr_t)arg;
}

static int note(void *arg)
{
    test_trace("%s ", (const char *)arg);
    return 0;
}

/* ---- what tasks leave -------------------------------------------------------------- */

static int wait_long(void *arg)
{
    (void)arg;
    return coil_sleep(COIL_SEC(1000));
}

static void be_cancelled(void)
{
    coil_task *task;

    CHECK_INT(coil_spawn(wait_long, NULL, NULL, &task), 0);
    coil_yield();
    coil_task_cancel(task, "a reason");
    CHECK_INT(coil_task_await(task), -ECANCELED);
    coil_task_release(task);
}

static void be_cancelled_before_it_begins(void)
{
    coil_task *task;

    CHECK_INT(coil_spawn(wait_long, NULL, NULL, &task), 0);
    coil_task_cancel(task, NULL);
    CHECK_INT(coil_task_await(task), -ECANCELED);
    coil_task_release(task);
}

static int fail(void *arg)
{
    (void)arg;
    return coil_fail(-EIO, "a sentence");
}

static void have_an_error(void)
{
    coil_task *task;

    CHECK_INT(coil_spawn(fail, NULL, NULL, &task), 0);
    CHECK_INT(coil_task_await(task), -EIO);
    coil_task_release(task);
    coil_clear_error();
}

static int open_and_close(void *arg)
{
    coil_scope scope;
    coil_group group;

    (void)arg;
    coil_scope_enter(&scope, COIL_NEVER);
    coil_group_enter(&group);
    coil_group_spawn(&group, return_arg, NULL, NULL, NULL);
    CHECK_INT(coil_group_exit(&group, 0), 0);
    errno = ENOTTY;
    return coil_scope_exit(&scope, 0);
}

static void have_regions(void)
{
    coil_task *task;

    CHECK_INT(coil_spawn(open_and_close, NULL, NULL, &task), 0);
    CHECK_INT(coil_task_await(task), 0);
    coil_task_release(task);
}

static void free_it(void *memory)
{
    free(memory);
}

static int put_off(void *arg)
{
    (void)arg;
    return coil_defer(free_it, malloc(10));
}

static void have_deferred_calls(void)
{
    coil_spawn(put_off, NULL, NULL, NULL);
    coil_yield();
}

static void have_options(void)
{
    char bytes[1000] = "argument";
    coil_spawn_opts opts = {.name = "a name that is longer than its place",
                            .arg_bytes = sizeof bytes,
                            .hold_cancel = true};
    coil_task *task;

    CHECK_INT(coil_spawn(note, bytes, &opts, &task), 0);
    coil_task_cancel(task, NULL);
    coil_task_await(task);
    coil_task_release(task);
}

static void be_gathered(void)
{
    coil_task *task;
    coil_future *future;

    CHECK_INT(coil_spawn(return_arg, NULL, NULL, &task), 0);
    future = coil_task_future(task);
    CHECK_INT(coil_gather(&future, 1, 0, NULL), 0);
    coil_task_release(task);
}

static int look_at_myself(void *arg)
{
    const coil_task *self = coil_task_current();
    char expected[32];

    snprintf(expected, sizeof expected, "task-%d", (int)(intptr_t)arg);
    CHECK_STR(coil_task_name(self), expected);
    CHECK_INT(errno, 0);
    CHECK_INT(coil_task_cancelling(self), 0);
    CHECK(coil_last_error() == NULL);
    CHECK_INT(coil_yield(), 0); /* no cancellation is pending */
    return 7;
}

TASK_TEST(a_new_task_is_as_new_whatever_the_last_one_left)
{
    static void (*const leave[])(void) = {
        be_cancelled, be_cancelled_before_it_begins, have_an_error,
        have_regions, have_deferred_calls,           have_options,
        be_gathered};

    for (size_t i = 0; i < 2 * (sizeof leave / sizeof leave[0]); i++) {
        coil_task *task;
        uint64_t number;

        leave[i / 2]();
        number = coil__scheduler.spawned + 1;
        CHECK_INT(coil_spawn(look_at_myself, (void *)(uintptr_t)number, NULL, &task), 0);
        CHECK_INT(coil_task_await(task), 7);
        CHECK(coil_future_error(coil_task_future(task)) == NULL);
        coil_task_release(task);
    }
}

/* ---- from end to beginning --------------------------------------------------------- */

static int await_and_note(void *task)
{
    int rc = coil_task_await(task);

    test_trace("awaited-%d ", rc);
    return rc;
}

TASK_TEST(awaiter_of_a_task_continues_in_queue_order)
{
    coil_task *first, *waiter;

    coil_spawn(return_arg, (void *)5, NULL, &first);
    coil_spawn(await_and_note, first, NULL, &waiter);
    coil_spawn(note, "b", NULL, NULL);
    coil_yield(); /* the first task ends before the other one waits for it */
    coil_spawn(note, "c", NULL, NULL);
    CHECK_INT(coil_task_await(waiter), 5);
    CHECK_TRACE("awaited-5 b ");
    coil_yield();
    CHECK_TRACE("c ");
    coil_task_release(waiter);
    coil_task_release(first);
}

/*
 * The last task of a slab releases the slab when it ends, while it is still running on a
 * stack in that slab.
 */
TASK_TEST(tasks_that_nobody_awaits_give_back_their_slabs_as_they_end)
{
    enum { COUNT = 3000 };
    size_t before = coil__stack_count();

    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < COUNT; i++)
            CHECK_INT(coil_spawn(return_arg, NULL, NULL, NULL), 0);
        CHECK_INT(coil__stack_count(), before + COUNT);
        coil_yield();
        CHECK_INT(coil__stack_count(), before);
    }
}

static int spawn_another(void *left)
{
    if (--*(int *)left > 0)
        CHECK_INT(coil_spawn(spawn_another, left, NULL, NULL), 0);
    return 0;
}

TASK_TEST(a_chain_of_tasks_that_spawn_the_next_as_they_end)
{
    int left = 10000;
    size_t before = coil__stack_count();

    coil_spawn(spawn_another, &left, NULL, NULL);
    while (left > 0)
        coil_yield();
    coil_yield();
    CHECK_INT(coil__stack_count(), before);
}

static int get_deep_and_end(void *arg)
{
    char frame[20000];

    memset(frame, (int)(intptr_t)arg, sizeof frame);
    __asm__ volatile("" : : "r"(frame) : "memory");
    return frame[1000];
}

/*
 * A task that has used much of its stack discards these pages when it ends, while it is
 * still running on that stack.
 */
TASK_TEST(tasks_that_were_deep_end_on_their_own_stacks)
{
    enum { COUNT = 200 };
    static coil_task *tasks[COUNT];

    for (int i = 0; i < COUNT; i++)
        CHECK_INT(
            coil_spawn(get_deep_and_end, (void *)(intptr_t)(i % 100), NULL, &tasks[i]),
            0);
    coil_yield();
    for (int i = 0; i < COUNT; i++) {
        CHECK_INT(coil_task_await(tasks[i]), i % 100);
        coil_task_release(tasks[i]);
    }
}
