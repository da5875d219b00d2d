/*
 * test_trim.c - a task that waits for a long time keeps only the stack pages that it
 * uses.
 */
#include "../../../src/base/compiler.h"
#include "../../../src/task/trim.h"
#include "../../harness/harness.h"

#include <coil.h>

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { DEPTH = 40000, HELD = 20000, TASKS = 150 };

/*
 * Make coil trim the stacks of tasks that have waited for 2 ms, so that there are many
 * rounds of trimming.
 */
static void make_rounds_short(void)
{
    if (COIL__ASAN || COIL__TSAN || test_under_valgrind())
        test_skip("the tool makes frames larger");
    coil__task_trim_age_ns = COIL_MSEC(2);
}

static COIL__NOINLINE void use_stack(size_t bytes)
{
    volatile char *frame = __builtin_alloca(bytes);

    for (size_t i = 0; i < bytes; i += 512)
        frame[i] = 1;
}

/* Return the number of bytes of the task's stack that are resident, in whole pages. */
static size_t resident_bytes(const coil_task *task)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), count = 0;
    unsigned char in_core;
    void *low, *high;

    coil_task_stack(task, &low, &high);
    for (char *at = low; at < (char *)high; at += page) {
        CHECK_INT(mincore(at, page, &in_core), 0);
        count += in_core & 1;
    }
    return count * page;
}

static coil_event go_on;

static int wait_after_deep_calls(void *arg)
{
    (void)arg;
    use_stack(DEPTH);
    return coil_event_wait(&go_on);
}

/* Wait until at most `bytes` bytes of the task's stack are resident. */
static void wait_for_trim(const coil_task *task, size_t bytes)
{
    for (int i = 0; i < 2000 && resident_bytes(task) > bytes; i++)
        CHECK_INT(coil_sleep(COIL_MSEC(1)), 0);
    CHECK(resident_bytes(task) <= bytes);
}

static size_t two_pages(void)
{
    return 2 * (size_t)sysconf(_SC_PAGESIZE);
}

static int trim_many_main(void *arg)
{
    coil_task *tasks[TASKS];

    (void)arg;
    for (int i = 0; i < TASKS; i++)
        CHECK_INT(coil_spawn(wait_after_deep_calls, NULL, NULL, &tasks[i]), 0);
    CHECK_INT(coil_yield(), 0);
    CHECK(resident_bytes(tasks[0]) >= DEPTH);
    for (int i = 0; i < TASKS; i++)
        wait_for_trim(tasks[i], two_pages());
    coil_event_set(&go_on);
    for (int i = 0; i < TASKS; i++)
        CHECK_INT(test_join(tasks[i]), 0);
    return 0;
}

TEST(stacks_of_tasks_that_wait_for_long_are_trimmed)
{
    make_rounds_short();
    CHECK_INT(coil_run(trim_many_main, NULL, NULL), 0);
}

static int hold_bytes_while_waiting(void *arg)
{
    unsigned char held[HELD];

    memset(held, 0x5a, sizeof held);
    use_stack(DEPTH);
    CHECK_INT(coil_event_wait(arg), 0);
    for (size_t i = 0; i < sizeof held; i++)
        CHECK_INT(held[i], 0x5a);
    coil_event_clear(&go_on);
    use_stack(DEPTH);
    return coil_event_wait(&go_on);
}

static int trim_twice_main(void *arg)
{
    coil_event first = COIL_EVENT_INIT;
    coil_task *task;

    (void)arg;
    CHECK_INT(coil_spawn(hold_bytes_while_waiting, &first, NULL, &task), 0);
    CHECK_INT(coil_yield(), 0);
    wait_for_trim(task, HELD + 2 * two_pages());
    CHECK(resident_bytes(task) >= HELD);
    coil_event_set(&first);
    CHECK_INT(coil_yield(), 0);
    CHECK(resident_bytes(task) >= DEPTH);
    wait_for_trim(task, HELD + 2 * two_pages());
    coil_event_set(&go_on);
    CHECK_INT(test_join(task), 0);
    coil_event_finish(&first);
    return 0;
}

TEST(trim_leaves_the_frames_of_a_waiting_task)
{
    make_rounds_short();
    CHECK_INT(coil_run(trim_twice_main, NULL, NULL), 0);
}

static int trim_peak_main(void *arg)
{
    coil_task *task;

    (void)arg;
    CHECK(coil_task_stack_peak(coil_task_current()) > 0);
    CHECK_INT(coil_spawn(wait_after_deep_calls, NULL, NULL, &task), 0);
    CHECK_INT(coil_yield(), 0);
    wait_for_trim(task, two_pages());
    CHECK(coil_task_stack_peak(task) >= DEPTH);
    coil_event_set(&go_on);
    CHECK_INT(coil_await(coil_task_future(task)), 0);
    CHECK(coil_task_stack_peak(task) >= DEPTH);
    CHECK(coil_task_stack_peak(task) <= DEPTH + 8192 + (ssize_t)two_pages());
    coil_task_release(task);
    return 0;
}

TEST(trimmed_pages_count_for_the_peak_of_a_stack)
{
    make_rounds_short();
    CHECK_INT(coil_run(trim_peak_main, NULL, NULL), 0);
}

/*
 * Many tasks of this kind end during a round of trimming, some of them just before the
 * round reaches them.
 */
static int sleep_and_end(void *arg)
{
    use_stack(DEPTH);
    return coil_sleep(COIL_USEC((intptr_t)arg));
}

static int end_in_rounds_main(void *arg)
{
    coil_group group;

    (void)arg;
    coil_group_enter(&group);
    for (intptr_t i = 0; i < 8 * TASKS; i++)
        CHECK_INT(coil_group_spawn(&group, sleep_and_end, (void *)(i * 7919 % 40000),
                                   NULL, NULL),
                  0);
    return coil_group_exit(&group, 0);
}

TEST(tasks_end_while_a_round_of_trims_is_in_progress)
{
    coil__task_trim_age_ns = COIL_USEC(50);
    CHECK_INT(coil_run(end_in_rounds_main, NULL, NULL), 0);
}
