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
