/*
 * test_run.c - from main() into coil and back.
 */
#include "../harness/harness.h"

#include "../../src/base/compiler.h"

#include <coil.h>

#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static int answer(void *arg)
{
    (void)arg;
    return 42;
}

static int fail(void *arg)
{
    (void)arg;
    return -EIO;
}

TEST(run_returns_what_the_main_task_returned)
{
    CHECK_INT(coil_run(answer, NULL, NULL), 42);
    CHECK_INT(coil_run(fail, NULL, NULL), -EIO);
    CHECK(coil_loop_current() == NULL);
}

static int linger(void *arg)
{
    int rc = coil_sleep(COIL_SEC(100));

    test_trace("%s:%d ", (const char *)arg, rc);
    if (rc < 0)
        coil_cancel_caught();
    rc = coil_sleep(COIL_MSEC(1)); /* cleanup that awaits */
    test_trace("%s:%d ", (const char *)arg, rc);
    return rc;
}

static int leave_tasks_behind(void *arg)
{
    (void)arg;
    coil_spawn(linger, "a", NULL, NULL);
    coil_spawn(linger, "b", NULL, NULL);
    return coil_yield();
}

TEST(run_cancels_and_awaits_what_is_left)
{
    coil_run_opts opts = {.loop = {.virtual_clock = true}};

    CHECK_INT(coil_run(leave_tasks_behind, NULL, &opts), 0);
    CHECK_TRACE("a:-125 b:-125 a:0 b:0 ");
}

static int wait_for_sigint(void *arg)
{
    int rc;

    (void)arg;
    kill(getpid(), SIGINT);
    rc = coil_sleep(COIL_SEC(10));
    test_trace("%d %s ", rc, coil_cancel_reason());
    return rc;
}

TEST(ctrl_c_cancels_the_main_task)
{
    struct sigaction now;

    CHECK_INT(coil_run(wait_for_sigint, NULL, NULL), -EINTR);
    CHECK_TRACE("-125 interrupted by SIGINT ");
    sigaction(SIGINT, NULL, &now);
    CHECK(now.sa_handler == SIG_DFL);
}

static int finish_in_spite_of_sigint(void *arg)
{
    (void)arg;
    kill(getpid(), SIGINT);
    CHECK_INT(coil_sleep(COIL_SEC(10)), -ECANCELED);
    coil_cancel_caught();
    return 3;
}

TEST(ctrl_c_that_is_caught_is_the_main_tasks_affair)
{
    CHECK_INT(coil_run(finish_in_spite_of_sigint, NULL, NULL), 3);
}

static void die_by_second(void *arg)
{
    (void)arg;
    kill(getpid(), SIGINT);
    kill(getpid(), SIGINT);
}

static int be_deaf(void *arg)
{
    (void)arg;
    coil_call_soon(die_by_second, NULL, NULL);
    for (;;)
        coil_sleep(COIL_SEC(1));
    return 0;
}

static void run_deaf(void *arg)
{
    (void)arg;
    coil_run(be_deaf, NULL, NULL);
}

TEST(the_second_ctrl_c_ends_the_program_by_the_signal)
{
    test_dies_by_signal(run_deaf, NULL, SIGINT, "");
}

static int report_disposition(void *arg)
{
    struct sigaction now;

    (void)arg;
    sigaction(SIGINT, NULL, &now);
    return now.sa_handler == SIG_DFL || now.sa_handler == SIG_IGN;
}

TEST(signals_are_left_alone_where_they_were_not_default_or_it_is_told_to)
{
    CHECK_INT(coil_run(report_disposition, NULL, NULL), 0);
    CHECK_INT(coil_run(report_disposition, NULL, &(coil_run_opts){.no_signals = true}),
              1);
    signal(SIGINT, SIG_IGN);
    CHECK_INT(coil_run(report_disposition, NULL, NULL), 1);
    signal(SIGINT, SIG_DFL);
}

/* ---- runners ------------------------------------------------------------------------
 */

static coil_var color = COIL_VAR_INIT("color", (void *)"none");

static int swap_color(void *value)
{
    test_trace("%s ", (const char *)coil_var_get(&color));
    CHECK_INT(coil_yield(), 0);
    return coil_var_set(&color, value, NULL);
}

static coil_runner *create_runner(void)
{
    coil_run_opts opts = {.loop = {.virtual_clock = true}, .name = "app"};
    coil_runner *runner = NULL;

    CHECK_INT(coil_runner_create(&opts, &runner), 0);
    return runner;
}

TEST(runner_runs_again_and_again_in_one_context)
{
    coil_runner *runner = create_runner();

    CHECK_PTR(coil_runner_loop(runner), coil_loop_current());
    CHECK_INT(coil_runner_run(runner, answer, NULL), 42);
    CHECK_INT(coil_runner_run(runner, fail, NULL), -EIO);
    CHECK_INT(coil_runner_run(runner, swap_color, (void *)(uintptr_t) "red"), 0);
    CHECK_INT(coil_runner_run(runner, swap_color, (void *)(uintptr_t) "green"), 0);
    CHECK_TRACE("none red ");
    CHECK_STR(coil_var_get(&color), "none");
    coil_runner_destroy(runner);
}

TEST(runner_keeps_tasks_between_runs_and_cancels_them_as_it_closes)
{
    coil_runner *runner = create_runner();

    CHECK_INT(coil_runner_run(runner, leave_tasks_behind, NULL), 0);
    CHECK_TRACE("");
    CHECK_INT(coil_runner_run(runner, answer, NULL), 42);
    CHECK_TRACE("");
    coil_runner_close(runner);
    CHECK_TRACE("a:-125 b:-125 a:0 b:0 ");
    coil_runner_destroy(runner);
}

TEST(runner_that_is_closed)
{
    coil_runner *runner = create_runner();

    coil_runner_close(runner);
    coil_runner_close(runner);
    CHECK(coil_runner_loop(runner) == NULL);
    CHECK(coil_loop_current() == NULL);
    CHECK_INT(coil_runner_run(runner, answer, NULL), -ESHUTDOWN);
    coil_runner_destroy(runner);
    coil_runner_destroy(NULL);
}

static int run_inside(void *runner)
{
    return coil_runner_run(runner, answer, NULL);
}

static void run_recursively(void *arg)
{
    coil_runner *runner = create_runner();

    (void)arg;
    coil_runner_run(runner, run_inside, runner);
}

TEST(runner_inside_a_running_loop_stops_the_program)
{
    test_dies(run_recursively, NULL, "coil_runner_run: called inside a running loop");
}

TEST(each_run_of_a_runner_has_its_two_ctrl_cs)
{
    coil_runner *runner;
    struct sigaction now;

    CHECK_INT(coil_runner_create(NULL, &runner), 0);
    for (int i = 0; i < 3; i++) {
        CHECK_INT(coil_runner_run(runner, wait_for_sigint, NULL), -EINTR);
        sigaction(SIGINT, NULL, &now);
        CHECK(now.sa_handler == SIG_DFL);
    }
    CHECK_INT(coil_runner_run(runner, finish_in_spite_of_sigint, NULL), 3);
    coil_runner_destroy(runner);
    test_trace_clear();
}

TEST(runner_without_memory_is_an_error_return)
{
    coil_runner *runner;
    int n, rc = -ENOMEM;

    for (n = 1; n < 30 && rc == -ENOMEM; n++) {
        test_fail_allocation(n);
        rc = coil_runner_create(NULL, &runner);
        test_fail_allocation(0);
    }
    CHECK(n > 3);
    CHECK_INT(rc, 0);
    coil_runner_destroy(runner);
}

static void stop_early(void *arg)
{
    coil_loop_stop(arg);
}

TEST(run_until_complete)
{
    coil_loop *loop;
    coil_task *task;
    coil_future *future;

    CHECK_INT(coil_loop_create(&(coil_loop_opts){.virtual_clock = true}, &loop), 0);
    CHECK_INT(coil_spawn(answer, NULL, NULL, &task), 0);
    CHECK_INT(coil_run_until_complete(coil_task_future(task)), 42);
    CHECK_INT(coil_run_until_complete(coil_task_future(task)), 42);
    coil_task_release(task);
    coil_future_create(&future);
    coil_call_soon(stop_early, loop, NULL);
    CHECK_INT(coil_run_until_complete(future), -EDEADLK);
    coil_future_release(future);
    coil_loop_close(loop);
}

static int recurse(void *arg)
{
    volatile char frame[1024];

    frame[0] = *(volatile char *)arg;
    return frame[0] == 'x' ? 0 : frame[0] + recurse((void *)frame);
}

static int overflow_in_task(void *arg)
{
    coil_task *task;

    (void)arg;
    coil_spawn(recurse, "deeper", &(coil_spawn_opts){.name = "greedy"}, &task);
    return coil_task_await(task);
}

static void run_overflow(void *arg)
{
    (void)arg;
    coil_run(overflow_in_task, NULL, NULL);
}

TEST(stack_overflow_names_the_task_and_its_stack)
{
    if (COIL__ASAN || COIL__TSAN || test_under_valgrind())
        test_skip("the sanitizer takes the SIGSEGV");
    test_dies_by_signal(run_overflow, NULL, SIGSEGV, "greedy");
}

TEST(run_without_memory_is_an_error_return)
{
    for (int n = 1; n < 30; n++) {
        int rc;

        test_fail_allocation(n);
        rc = coil_run(answer, NULL, NULL);
        test_fail_allocation(0);
        if (rc == 42)
            return;
        CHECK_INT(rc, -ENOMEM);
    }
    CHECK(!"more than 30 allocations to run nothing?");
}

/* ---- a busy program, whichever allocation fails --------------------------------------
 */

static void count(void *arg)
{
    ++*(int *)arg;
}

static void count_done(coil_future *future, void *arg)
{
    (void)future;
    count(arg);
}

static int use_queue(void *arg)
{
    int item = 1, rc = coil_queue_put(arg, &item);

    if (rc == 0)
        rc = coil_queue_get(arg, &item);
    if (rc == 0)
        rc = coil_queue_task_done(arg);
    return rc;
}

static int fan_out(coil_future *futures[2])
{
    coil_handle *handle = NULL;
    int calls = 0, rc;

    rc = coil_future_add_callback(futures[0], count_done, &calls);
    if (rc == 0)
        rc = coil_call_later(1, count, &calls, &handle);
    if (rc == 0)
        rc = coil_wait(futures, 2, COIL_WAIT_FIRST, coil_in(5));
    if (rc >= 0)
        rc = coil_gather(futures, 2, COIL_GATHER_ALL, NULL);
    if (handle != NULL)
        coil_handle_cancel(handle);
    coil_handle_release(handle);
    if (!coil_future_done(futures[0]))
        coil_future_remove_callback(futures[0], count_done, &calls);
    else
        coil_yield(); /* `calls` is on our stack */
    return rc;
}

static int busy_body(coil_group *group, coil_queue *queue)
{
    coil_task *a = NULL, *b = NULL;
    int rc = coil_group_spawn(group, use_queue, queue, NULL, &a);

    if (rc == 0)
        rc = coil_group_spawn(group, use_queue, queue, NULL, &b);
    if (rc < 0)
        return rc;
    return fan_out((coil_future *[2]){coil_task_future(a), coil_task_future(b)});
}

static int busy(void *arg)
{
    coil_queue queue = COIL_QUEUE_INIT(sizeof(int), 0);
    coil_group group;
    coil_scope scope;
    int rc;

    rc = coil_scope_enter(&scope, coil_in(COIL_SEC(1)));
    if (rc < 0)
        return rc;
    coil_group_enter(&group);
    rc = coil_group_exit(&group, busy_body(&group, &queue));
    rc = coil_scope_exit(&scope, rc);
    coil_queue_finish(&queue);
    CHECK_INT(coil_sleep(1) == -ENOMEM ? 0 : coil_sleep(1), 0); /* the loop works on */
    return rc < 0 ? rc : *(int *)arg;
}

TEST(a_busy_program_survives_whichever_allocation_fails)
{
    coil_run_opts opts = {.loop = {.virtual_clock = true}};
    int n, rc = 0, answer = 42;

    for (n = 1; n < 100 && rc != 42; n++) {
        test_fail_allocation(n);
        rc = coil_run(busy, &answer, &opts);
        test_fail_allocation(0);
        CHECK(rc == 42 || rc == -ENOMEM);
        CHECK_INT(test_blocks_held(), 0);
        CHECK(coil_loop_current() == NULL);
    }
    CHECK(n > 8 && rc == 42);
}

/* ---- two threads, and two processes ---------------------------------------------------
 */

static void *run_busy(void *arg)
{
    return (void *)(intptr_t)coil_run(busy, arg, &(coil_run_opts){.no_signals = true});
}

TEST(two_threads_run_two_loops)
{
    pthread_t threads[2];
    int answer = 42;

    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, run_busy, &answer);
    for (int i = 0; i < 2; i++) {
        void *rc;

        pthread_join(threads[i], &rc);
        CHECK_INT((intptr_t)rc, 42);
    }
}

TASK_TEST(a_forked_child_starts_a_loop_of_its_own)
{
    int answer = 42, status = 0;
    pid_t child = fork();

    if (child == 0)
        _exit(coil_run(busy, &answer, NULL) == 42 && coil_loop_current() == NULL ? 7 : 1);
    CHECK_INT(coil_sleep(COIL_MSEC(1)), 0);
    CHECK_INT(waitpid(child, &status, 0), child);
    CHECK(WIFEXITED(status));
    CHECK_INT(WEXITSTATUS(status), 7);
}
