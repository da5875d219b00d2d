/*
 * test_slow.c - debug mode names what keeps the loop from turning.
 */
#include "../harness/harness.h"

#include <coil.h>

#include <time.h>

#define SLOW COIL_MSEC(20)

/* A busy machine may make anything slow: the report that is looked for is among these. */
static char reports[16 * 1024];

static void note_report(const coil_exception *exception, void *arg)
{
    size_t n = strlen(reports);

    (void)arg;
    snprintf(reports + n, sizeof reports - n, "%s\n", exception->message);
}

static void watch_for_slow_things(void)
{
    reports[0] = '\0';
    coil_set_exception_handler(note_report, NULL);
    coil_set_slow_callback_ns(SLOW);
    coil_set_debug(true);
    coil_yield(); /* our own step so far was not in debug mode */
}

static void block(int64_t ns)
{
    struct timespec left = {.tv_nsec = ns};

    while (nanosleep(&left, &left) < 0)
        ;
}

static int block_in_a_task(void *arg)
{
    (void)arg;
    block(2 * SLOW);
    return 0;
}

static void block_in_a_callback(void *arg)
{
    (void)arg;
    block(2 * SLOW);
}

static bool has_symbols(void)
{
    return strstr(reports, " at ") != NULL;
}

/* Among the reports is one that begins so, and "took 0.040 seconds" or more. */
static void check_reported(const char *beginning)
{
    const char *found = reports, *took;
    double seconds = 0;

    while (seconds < 0.04 && (found = strstr(found, beginning)) != NULL) {
        found += strlen(beginning);
        took = strstr(found, " took ");
        seconds = took != NULL ? atof(took + strlen(" took ")) : 0;
    }
    CHECK(seconds >= 0.04);
    if (seconds < 0.04)
        fputs(reports, stderr);
}

TASK_TEST(debug_names_a_slow_step)
{
    coil_spawn_opts opts = {.name = "sloth"};
    coil_task *task;

    watch_for_slow_things();
    coil_spawn(block_in_a_task, NULL, &opts, &task);
    coil_task_await(task);
    coil_task_release(task);
    check_reported("Executing task 'sloth', spawned by ");
    CHECK(!has_symbols() || strstr(reports, "at tests/debug/test_slow.c:") != NULL);
}

TASK_TEST(debug_names_a_slow_callback)
{
    watch_for_slow_things();
    coil_call_soon(block_in_a_callback, NULL, NULL);
    coil_sleep(COIL_MSEC(1));
    check_reported("Executing ");
    CHECK(strstr(reports, ", asked for by ") != NULL);
    if (has_symbols())
        check_reported("Executing block_in_a_callback at tests/debug/test_slow.c:");
}

/* Longer than the other: of two functions with the same code an optimiser keeps one. */
static void block_when_done(coil_future *future, void *arg)
{
    (void)future, (void)arg;
    block(3 * SLOW);
}

TASK_TEST(debug_names_a_slow_done_callback_and_a_slow_timer)
{
    coil_future *future;
    coil_timer timer;

    watch_for_slow_things();
    coil_future_create(&future);
    coil_future_add_callback(future, block_when_done, NULL);
    coil_future_set(future, 0, NULL, NULL);
    coil_sleep(COIL_MSEC(1));
    check_reported("Executing ");
    if (has_symbols())
        check_reported("Executing block_when_done at ");
    coil_future_release(future);
    reports[0] = '\0';
    coil_timer_init(&timer, block_in_a_callback, NULL);
    coil_timer_start(&timer, coil_in(COIL_MSEC(1)));
    coil_sleep(COIL_MSEC(2));
    check_reported("Executing ");
    if (has_symbols())
        check_reported("Executing block_in_a_callback at ");
}

TASK_TEST(debug_is_silent_about_what_is_fast_and_when_it_is_off)
{
    coil_task *task;

    watch_for_slow_things();
    coil_set_slow_callback_ns(COIL_SEC(1000));
    reports[0] = '\0';
    coil_call_soon(block_in_a_callback, NULL, NULL);
    coil_sleep(COIL_MSEC(1));
    CHECK_STR(reports, "");
    coil_set_debug(false);
    CHECK(!coil_debug());
    coil_yield();
    coil_set_slow_callback_ns(0);
    coil_spawn(block_in_a_task, NULL, NULL, &task);
    coil_task_await(task);
    coil_task_release(task);
    CHECK_STR(reports, "");
}

static int note_mode(void *arg)
{
    *(bool *)arg = coil_debug();
    return 0;
}

TEST(debug_mode_comes_from_the_options_or_the_environment)
{
    coil_run_opts opts = {.loop.debug = true, .no_signals = true};
    bool mode;

    CHECK(!coil_debug()); /* no loop */
    CHECK_INT(coil_run(note_mode, &mode, &opts), 0);
    CHECK(mode);
    setenv("COIL_DEBUG", "1", 1);
    CHECK_INT(coil_run(note_mode, &mode, NULL), 0);
    CHECK(mode);
    setenv("COIL_DEBUG", "0", 1);
    CHECK_INT(coil_run(note_mode, &mode, NULL), 0);
    CHECK(!mode);
    unsetenv("COIL_DEBUG");
}

static int append(void *arg)
{
    for (int i = 0; i < 3; i++) {
        test_trace("%s%d ", (char *)arg, i);
        coil_yield();
    }
    return 0;
}

TASK_TEST(debug_mode_changes_no_order)
{
    coil_set_debug(true);
    coil_spawn(append, "a", NULL, NULL);
    coil_spawn(append, "b", NULL, NULL);
    for (int i = 0; i < 4; i++)
        coil_yield();
    CHECK_TRACE("a0 b0 a1 b1 a2 b2 ");
}

IO_TEST(debug_mode_with_a_real_clock)
{
    coil_task *task;

    coil_set_debug(true);
    coil_set_slow_callback_ns(COIL_SEC(1000));
    coil_spawn(append, "a", NULL, &task);
    CHECK_INT(coil_sleep(COIL_MSEC(1)), 0);
    CHECK_INT(coil_task_await(task), 0);
    CHECK_TRACE("a0 a1 a2 ");
    coil_task_release(task);
}
