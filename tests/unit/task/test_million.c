/*
 * test_million.c - a million tasks that wait at the same time, with a page of memory each
 * (docs/seeds.md, row 102), and very many light tasks, which need less memory. Only `make
 * soak` runs the full number of tasks.
 */
#include "../../../src/coro/light.h"
#include "../../../src/task/light_task.h"
#include "../../harness/harness.h"

#include "../../../src/base/compiler.h"

#include <coil.h>

/* Return the peak memory use of the process in KiB, including page tables. */
static long taken(void)
{
    return test_proc_kib("/proc/self/status", "VmHWM") +
           test_proc_kib("/proc/self/status", "VmPTE");
}

static int sleep_and_count(void *arg)
{
    int rc = coil_sleep(COIL_SEC(1));

    ++*(long *)arg;
    return rc;
}

TASK_TEST(a_million_sleeping_tasks_take_a_page_each)
{
    long before, bytes_each, awake = 0;
    int million = test_million();

    if (COIL__ASAN || COIL__TSAN || test_under_valgrind())
        test_skip("sanitizers and valgrind use much more memory");
    if (test_proc_kib("/proc/meminfo", "MemAvailable") < 6L * 1024 * 1024)
        test_skip("needs 6 GiB of free memory");
    before = taken();
    for (int i = 0; i < million; i++)
        CHECK_INT(coil_spawn(sleep_and_count, &awake, NULL, NULL), 0);
    CHECK_INT(coil_yield(), 0);
    bytes_each = (taken() - before) * 1024 / million;
    printf("%ld bytes each, %ld mappings\n", bytes_each, test_mapping_count());
    /*
     * Each task needs 4.4 KiB, and a little more if control blocks are separate from
     * stacks.
     */
    CHECK(bytes_each <= 4505 + (coil__task_light_mode != COIL__LIGHT_CHOSEN ? 450 : 0));
    CHECK(test_mapping_count() < 65530);
    CHECK_INT(coil_sleep(COIL_SEC(2)), 0);
    CHECK_INT(awake, million);
}

/* ---- light ones -------------------------------------------------------------------- */

enum { CAP = 8 << 20, EACH = 1200 };

#define MANY (test_million() / 2)

static coil_task **many;
static long taken_before;

static __attribute__((noinline)) void go_deep(void)
{
    volatile char frame[20 * 1024];

    for (size_t i = 0; i < sizeof frame; i += 512)
        frame[i] = 1;
}

static int go_deep_and_sleep(void *arg)
{
    go_deep();
    return sleep_and_count(arg);
}

static int wait_for_event(void *arg)
{
    return coil_event_wait(arg);
}

/*
 * Spawn MANY light tasks. Run another light task first, so that memory that is allocated
 * once per process is not attributed to these tasks.
 */
static void spawn_many(coil_task_fn fn, void *arg)
{
    coil_spawn_opts opts = {.light = COIL_LIGHT};

    if (COIL__ASAN || COIL__TSAN || test_under_valgrind())
        test_skip("sanitizers and valgrind use much more memory");
    if (coil__light_off() != NULL)
        test_skip(coil__light_off());
    coil__light_limit(CAP, 0);
    CHECK_INT(test_join(test_spawn(sleep_and_count, &(long){0})), 0);
    many = test_memory((size_t)MANY * sizeof(coil_task *));
    taken_before = taken();
    for (int i = 0; i < MANY; i++)
        CHECK_INT(coil_spawn(fn, arg, &opts, &many[i]), 0);
}

/*
 * Check the memory per task. Must be called after each step, because taken() returns a
 * peak.
 */
static void check_taken(const char *when)
{
    long bytes = (taken() - taken_before) * 1024;

    printf("%s: %ld bytes each\n", when, bytes / MANY);
    CHECK(bytes <= (long)MANY * EACH + CAP + (4L << 20));
    CHECK(coil__light_counts().resident_bytes <= CAP + CAP / 8 || MANY == 0);
}

static void join_many(int rc)
{
    for (int i = 0; i < MANY; i++)
        CHECK_INT(test_join(many[i]), rc);
    check_taken("ended");
    CHECK_INT(coil__light_counts().used, coil__task_light_mode != COIL__LIGHT_CHOSEN);
    CHECK_INT(coil__light_counts().stored_bytes, 0);
    CHECK_INT(coil__light_counts().stored, 0);
}

TASK_TEST(many_light_tasks_sleep_wake_and_end_under_their_cap)
{
    long awake = 0;

    spawn_many(sleep_and_count, &awake);
    check_taken("spawned");
    CHECK_INT(coil_yield(), 0);
    check_taken("asleep");
    CHECK(coil__light_counts().stored >= (size_t)MANY - CAP / 4096);
    join_many(0);
    CHECK_INT(awake, MANY);
}

TASK_TEST(many_light_tasks_are_small_after_they_were_deep)
{
    long awake = 0;

    spawn_many(go_deep_and_sleep, &awake);
    CHECK_INT(coil_yield(), 0);
    check_taken("asleep");
    join_many(0);
}

TASK_TEST(many_light_tasks_are_woken_at_once_under_their_cap)
{
    coil_event event = COIL_EVENT_INIT;

    spawn_many(wait_for_event, &event);
    CHECK_INT(coil_yield(), 0);
    coil_event_set(&event);
    check_taken("woken");
    join_many(0);
    coil_event_finish(&event);
}

TASK_TEST(many_light_tasks_are_cancelled_at_once_under_their_cap)
{
    long awake = 0;

    spawn_many(sleep_and_count, &awake);
    CHECK_INT(coil_yield(), 0);
    for (int i = 0; i < MANY; i++)
        CHECK(coil_task_cancel(many[i], NULL));
    check_taken("cancelled");
    join_many(-ECANCELED);
}
