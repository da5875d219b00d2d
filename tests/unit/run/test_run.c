/*
 * test_run.c - coil_run() and runners: a program's main task and its result, signals, and
 * reports.
 */
#include "../../harness/harness.h"

#include "../../../src/base/compiler.h"
#include "../../../src/task/light_task.h"

#include <coil.h>

#include <sys/resource.h>

#include <fcntl.h>
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

/* ---- leftovers that never end ------------------------------------------------------ */

/* Sleep. When cancelled, spawn another task of this kind. */
static int respawn(void *arg)
{
    int rc = coil_sleep(COIL_SEC(1000000));

    coil_spawn(respawn, arg, &(coil_spawn_opts){.name = "another head"}, NULL);
    return rc;
}

static int leave_respawning_task(void *arg)
{
    int rc = coil_spawn(respawn, arg, NULL, NULL);

    return rc < 0 ? rc : coil_yield();
}

/*
 * Run respawn() in a child process, because the stacks of its tasks are leaked. SIGALRM
 * kills the process if the run does not end.
 */
static void run_with_respawning_task(void *arg)
{
    (void)arg;
    alarm(30);
    CHECK_INT(coil_run(leave_respawning_task, NULL, NULL), 0);
    abort();
}

static void run_threads_with_respawning_tasks(void *arg)
{
    coil_run_opts opts = {.no_signals = true};

    (void)arg;
    alarm(30);
    CHECK_INT(coil_run_threads(3, leave_respawning_task, NULL, &opts), 0);
    abort();
}

static void close_runner_with_respawning_task(void *arg)
{
    coil_runner *runner;

    (void)arg;
    alarm(30);
    CHECK_INT(coil_runner_create(NULL, &runner), 0);
    CHECK_INT(coil_runner_run(runner, leave_respawning_task, NULL), 0);
    CHECK_INT(coil_runner_run(runner, leave_respawning_task, NULL), 0);
    coil_runner_destroy(runner);
    abort();
}

/*
 * As in CPython, the end of a run cancels the remaining tasks only once. Tasks that are
 * spawned after that are reported.
 */
TEST(run_ends_though_its_leftovers_spawn_others)
{
    const char *words = "Task was destroyed but it is pending! (task 'another head')";

    test_dies(run_with_respawning_task, NULL, words);
    test_dies(run_threads_with_respawning_tasks, NULL, words);
    test_dies(close_runner_with_respawning_task, NULL, words);
}

struct poster {
    coil_loop *loop;
    pthread_t thread;
};

static void nothing(void *arg)
{
    (void)arg;
}

static void *post_on_and_on(void *arg)
{
    struct poster *poster = arg;

    while (coil_post(poster->loop, nothing, NULL) != -ESHUTDOWN)
        ;
    coil_loop_release(poster->loop);
    return NULL;
}

static int yield_until_cancelled(void *arg)
{
    (void)arg;
    while (coil_yield() == 0)
        ;
    return -ECANCELED;
}

static int leave_posts_and_yields(void *arg)
{
    struct poster *poster = arg;

    poster->loop = coil_loop_retain(coil_loop_current());
    CHECK_INT(pthread_create(&poster->thread, NULL, post_on_and_on, poster), 0);
    coil_spawn(yield_until_cancelled, NULL, NULL, NULL);
    return coil_yield();
}

TEST(run_ends_though_posts_keep_coming)
{
    struct poster poster;

    CHECK_INT(coil_run(leave_posts_and_yields, &poster, NULL), 0);
    CHECK_INT(pthread_join(poster.thread, NULL), 0);
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

/* ---- SIGTERM ----------------------------------------------------------------------- */

static int wait_for_signal(void *signo)
{
    int rc;

    kill(getpid(), *(int *)signo);
    rc = coil_sleep(COIL_SEC(10));
    test_trace("%d %s ", rc, coil_cancel_reason());
    return rc;
}

static bool is_default(int signo)
{
    struct sigaction now;

    sigaction(signo, NULL, &now);
    return now.sa_handler == SIG_DFL;
}

TEST(sigterm_and_sighup_cancel_the_main_task_where_that_is_asked_for)
{
    int signals[] = {SIGTERM, SIGHUP, SIGINT}, which;
    coil_run_opts opts = {.take_sigterm = true, .signo = &which};

    for (int i = 0; i < 3; i++) {
        which = -1;
        CHECK_INT(coil_run(wait_for_signal, &signals[i], &opts), -EINTR);
        CHECK_INT(which, signals[i]);
        CHECK(is_default(SIGINT) && is_default(SIGTERM) && is_default(SIGHUP));
    }
    CHECK_TRACE("-125 interrupted by SIGTERM -125 interrupted by SIGHUP "
                "-125 interrupted by SIGINT ");
    CHECK_INT(coil_run(answer, NULL, &opts), 42);
    CHECK_INT(which, 0);
}

static void run_until_sigterm(void *opts)
{
    int signo = SIGTERM;

    coil_run(wait_for_signal, &signo, opts);
}

TEST(sigterm_ends_the_program_where_it_is_not_asked_for)
{
    coil_run_opts none = {.take_sigterm = true, .no_signals = true};

    test_dies_by_signal(run_until_sigterm, NULL, SIGTERM, "");
    test_dies_by_signal(run_until_sigterm, &none, SIGTERM, "");
}

static int be_deaf_to_sigterm(void *arg)
{
    (void)arg;
    for (;;) {
        kill(getpid(), SIGTERM);
        coil_sleep(COIL_MSEC(1));
    }
    return 0;
}

static void run_deaf_to_sigterm(void *arg)
{
    (void)arg;
    coil_run(be_deaf_to_sigterm, NULL, &(coil_run_opts){.take_sigterm = true});
}

TEST(the_second_sigterm_ends_the_program_by_the_signal)
{
    test_dies_by_signal(run_deaf_to_sigterm, NULL, SIGTERM, "");
}

static int clean_up_between_signals(void *arg)
{
    (void)arg;
    kill(getpid(), SIGTERM);
    CHECK_INT(coil_sleep(COIL_SEC(10)), -ECANCELED);
    kill(getpid(), SIGHUP); /* has no effect, because the run is already ending */
    coil_yield();
    coil_yield();
    CHECK_INT(coil_task_cancelling(coil_task_current()), 1);
    return -ECANCELED;
}

TEST(sighup_after_sigterm_has_no_effect)
{
    int which = 0;
    coil_run_opts opts = {.take_sigterm = true, .signo = &which};

    CHECK_INT(coil_run(clean_up_between_signals, NULL, &opts), -EINTR);
    CHECK_INT(which, SIGTERM);
}

static int hang_up(void *arg)
{
    (void)arg;
    kill(getpid(), SIGHUP);
    return coil_sleep(COIL_MSEC(1));
}

TEST(sighup_that_is_ignored_remains_so)
{
    signal(SIGHUP, SIG_IGN); /* nohup(1) */
    CHECK_INT(coil_run(hang_up, NULL, &(coil_run_opts){.take_sigterm = true}), 0);
    signal(SIGHUP, SIG_DFL);
}

/* ---- runners ----------------------------------------------------------------------- */

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

/*
 * A hook with a state that is too large, so that the main task of a runner cannot begin.
 */
static const coil_task_hooks impossible = {.state_bytes = COIL_HOOK_STATES_BYTES + 1};

static int fail_in_words(void *arg)
{
    (void)arg;
    return coil_fail(-EIO, "the first run");
}

static int fail_without_words(void *arg)
{
    (void)arg;
    return -EIO;
}

TEST(the_last_error_of_a_thread_is_what_its_latest_run_failed_with)
{
    coil_run_opts opts = {.no_report = true};
    coil_runner *runner;

    CHECK_INT(coil_runner_create(&opts, &runner), 0);
    CHECK_INT(coil_runner_run(runner, fail_in_words, NULL), -EIO);
    CHECK(coil_last_error() != NULL);
    CHECK_STR(coil_error_message(coil_last_error()), "the first run");
    CHECK_STR(coil_error_task(coil_error_cause(coil_last_error())), "main");
    CHECK_INT(coil_runner_run(runner, fail_without_words, NULL), -EIO);
    CHECK_PTR(coil_last_error(), NULL);
    coil_runner_destroy(runner);
}

TEST(the_last_error_of_a_thread_is_that_of_the_future_it_ran_for)
{
    coil_loop *loop;
    coil_task *task;

    CHECK_INT(coil_loop_create(NULL, &loop), 0);
    CHECK_INT(coil_spawn(fail_in_words, NULL, NULL, &task), 0);
    CHECK_INT(coil_run_until_complete(coil_task_future(task)), -EIO);
    CHECK(coil_last_error() != NULL);
    CHECK_STR(coil_error_message(coil_last_error()), "the first run");
    coil_task_release(task);
    CHECK_INT(coil_spawn(fail_without_words, NULL, NULL, &task), 0);
    CHECK_INT(coil_run_until_complete(coil_task_future(task)), -EIO);
    CHECK_PTR(coil_last_error(), NULL);
    coil_task_release(task);
    coil_loop_close(loop);
}

/*
 * The caller has released the error of an earlier run. A run that cannot begin must not
 * return that error again.
 */
TEST(runner_that_cannot_begin_a_run_tells_no_more_of_the_one_before)
{
    const coil_task_hooks *hooks[2] = {NULL, NULL};
    coil_error *error = NULL;
    int signo = -1;
    coil_run_opts opts = {.hooks = hooks, .error = &error, .signo = &signo};
    coil_runner *runner;

    CHECK_INT(coil_runner_create(&opts, &runner), 0);
    CHECK_INT(coil_runner_run(runner, fail_in_words, NULL), -EIO);
    CHECK(error != NULL);
    coil_error_release(error);
    signo = -1;
    hooks[0] = &impossible;
    CHECK_INT(coil_runner_run(runner, answer, NULL), -EINVAL);
    CHECK_PTR(error, NULL);
    CHECK_INT(signo, 0);
    coil_runner_destroy(runner);
}

static int wait_for_ever(void *arg)
{
    (void)arg;
    return coil_park();
}

static void run_after_a_deadlock(void *arg)
{
    const coil_task_hooks *hooks[2] = {NULL, NULL};
    coil_run_opts opts = {.name = "app", .hooks = hooks};
    coil_runner *runner;

    (void)arg;
    CHECK_INT(coil_runner_create(&opts, &runner), 0);
    CHECK_INT(coil_runner_run(runner, wait_for_ever, NULL), -EDEADLK);
    hooks[0] = &impossible;
    CHECK_INT(coil_runner_run(runner, answer, NULL), -EINVAL);
    abort();
}

TEST(runner_that_cannot_begin_a_run_is_reported_after_a_deadlock)
{
    test_dies(run_after_a_deadlock, NULL, "The main task 'app' has failed");
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

static void interrupt(void *arg)
{
    (void)arg;
    kill(getpid(), SIGINT);
}

static int end_before_sigint(void *arg)
{
    CHECK_INT(coil_call_soon(interrupt, arg, NULL), 0);
    return 3;
}

static int yield(void *arg)
{
    (void)arg;
    return coil_yield();
}

TEST(ctrl_c_in_the_last_turn_of_a_run_is_told_and_does_not_cancel_the_next)
{
    coil_runner *runner;
    int signo = -1;

    CHECK_INT(coil_runner_create(&(coil_run_opts){.signo = &signo}, &runner), 0);
    CHECK_INT(coil_runner_run(runner, end_before_sigint, NULL), 3);
    CHECK_INT(signo, SIGINT);
    CHECK_INT(coil_runner_run(runner, yield, NULL), 0);
    CHECK_INT(signo, 0);
    coil_runner_destroy(runner);
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
        test_skip("the sanitizer handles SIGSEGV itself");
    test_dies_by_signal(run_overflow, NULL, SIGSEGV, "greedy");
}

/*
 * Wait in a frame of `bytes` bytes, which may be larger than the rest of the stack and
 * the guard. Writes only to the lowest 20,000 bytes of the frame.
 */
static COIL__NOINLINE int wait_in_a_large_frame(size_t bytes)
{
    volatile char *frame = __builtin_alloca(bytes);

    for (size_t i = 0; i < 20000; i++)
        frame[i] = 0x55;
    coil_yield();
    return frame[3];
}

static int jump_the_guard(void *arg)
{
    return wait_in_a_large_frame((size_t)(uintptr_t)arg);
}

static int victim(void *arg)
{
    (void)arg;
    return coil_sleep(COIL_SEC(1));
}

static int spawn_victims(void *arg)
{
    coil_group group;

    coil_group_enter(&group);
    for (int i = 0; i < 20; i++)
        coil_group_spawn(&group, victim, NULL, NULL, NULL);
    coil_group_spawn(&group, jump_the_guard, arg, &(coil_spawn_opts){.name = "greedy"},
                     NULL);
    return coil_group_exit(&group, 0);
}

static void run_large_frame(void *bytes)
{
    coil_run(spawn_victims, bytes, NULL);
}

TEST(stack_frame_larger_than_the_guard_names_the_task)
{
    const char *const sentence = "coil: stack overflow in greedy (131072 bytes)\n";

    if (COIL__ASAN || COIL__TSAN || test_under_valgrind())
        test_skip("the tool mistakes large frames for another stack");
    if (sysconf(_SC_PAGESIZE) != 4096)
        test_skip("this requires guards of 64 KiB");
    if (coil__task_light_mode != COIL__LIGHT_CHOSEN)
        test_skip("light stacks have smaller guards");
    /* Frames that end in the guard, in another task's stack, and in that task's guard. */
    test_dies_by_signal(run_large_frame, (void *)190000, SIGSEGV, sentence);
    test_dies(run_large_frame, (void *)1240000, sentence);
    test_dies_by_signal(run_large_frame, (void *)1440000, SIGSEGV, sentence);
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

/* ---- a busy program, whichever allocation fails ------------------------------------ */

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
        coil_yield(); /* wait for the callbacks, which use `calls` */
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
    CHECK_INT(coil_sleep(1) == -ENOMEM ? 0 : coil_sleep(1), 0); /* the loop still works */
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

/* ---- two threads, and two processes ------------------------------------------------ */

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

/* ---- failures of the main task ----------------------------------------------------- */

static int fail_with_words(void *arg)
{
    return coil_fail(*(const int *)arg, "the port is taken");
}

static int fail_alone(void *arg)
{
    return *(const int *)arg;
}

static char said[4096];

static int run_one(coil_task_fn fn, void *arg, const coil_run_opts *opts)
{
    return coil_run(fn, arg, opts);
}

static int run_four(coil_task_fn fn, void *arg, const coil_run_opts *opts)
{
    return coil_run_threads(4, fn, arg, opts);
}

/* Run the function, and capture its output to stderr. */
static int hear(int (*run)(coil_task_fn, void *, const coil_run_opts *), coil_task_fn fn,
                int rc, const coil_run_opts *opts)
{
    FILE *file = tmpfile();
    int before = dup(STDERR_FILENO), result;
    size_t n;

    dup2(fileno(file), STDERR_FILENO);
    result = run(fn, &rc, opts);
    dup2(before, STDERR_FILENO);
    close(before);
    rewind(file);
    n = fread(said, 1, sizeof said - 1, file);
    said[n] = '\0';
    fclose(file);
    return result;
}

static int run_heard(coil_task_fn fn, int rc, const coil_run_opts *opts)
{
    return hear(run_one, fn, rc, opts);
}

static int times_said(const char *words)
{
    int n = 0;

    for (const char *at = said; (at = strstr(at, words)) != NULL; at++)
        n++;
    return n;
}

TEST(run_prints_what_the_main_task_failed_with)
{
    CHECK_INT(run_heard(fail_with_words, -EADDRINUSE, NULL), -EADDRINUSE);
    CHECK(strstr(said, "coil: The main task 'main' has failed\n"
                       "the port is taken (Address already in use)\n") != NULL);
    CHECK(strstr(strstr(said, "the port is taken") + 1, "the port is taken") == NULL);
    CHECK_INT(run_heard(fail_alone, -EADDRINUSE, &(coil_run_opts){.name = "server"}),
              -EADDRINUSE);
    CHECK_STR(said, "coil: The main task 'server' has failed: Address already in use\n");
}

TEST(run_does_not_print_what_is_no_failure_or_the_caller_takes)
{
    coil_error *error;

    CHECK_INT(run_heard(fail_alone, 3, NULL), 3);
    CHECK_STR(said, "");
    CHECK_INT(run_heard(fail_alone, -ECANCELED, NULL), -ECANCELED);
    CHECK_STR(said, "");
    CHECK_INT(run_heard(fail_alone, -EINTR, NULL), -EINTR);
    CHECK_STR(said, "");
    CHECK_INT(run_heard(fail_with_words, -EIO, &(coil_run_opts){.no_report = true}),
              -EIO);
    CHECK_STR(said, "");
    CHECK_INT(run_heard(fail_with_words, -EIO, &(coil_run_opts){.error = &error}), -EIO);
    CHECK_STR(said, "");
    CHECK_STR(coil_error_message(error), "the port is taken");
    coil_error_release(error);
}

static int wait_for_nothing(void *arg)
{
    (void)arg;
    return coil_park();
}

TEST(run_prints_a_deadlock_once)
{
    if (COIL__TSAN)
        test_skip("TSan's own thread might post");
    CHECK_INT(run_heard(wait_for_nothing, 0, NULL), -EDEADLK);
    CHECK_INT(times_said("Deadlock"), 1);
    CHECK_INT(times_said("has failed"), 0);
    /* the lines "coil: Deadlock..." and "coil: 1 task" */
    CHECK_INT(times_said("coil: "), 2);
}

TEST(run_prints_a_failure_of_several_threads_once)
{
    CHECK_INT(hear(run_four, fail_with_words, -EIO, NULL), -EIO);
    CHECK_INT(times_said("coil: "), 1);
    CHECK_INT(times_said("the port is taken"), 1);
}

TEST(run_prints_a_misspelt_environment_once)
{
    setenv("COIL_BACKEND", "nonsense", 1);
    CHECK_INT(run_heard(fail_alone, 0, NULL), -EINVAL);
    CHECK_INT(times_said("coil: "), 1);
    CHECK_INT(hear(run_four, fail_alone, 0, NULL), -EINVAL);
    CHECK_INT(times_said("coil: "), 1);
    CHECK_INT(times_said("COIL_BACKEND=nonsense"), 1);
    setenv("COIL_BACKEND", "io_uring", 1);
    if (run_heard(fail_alone, 0, NULL) == -ENOSYS)
        test_skip("no io_uring here, whose variable would be tested next");
    setenv("COIL_IO_URING_WITHOUT", "nonsense", 1);
    CHECK_INT(run_heard(fail_alone, 0, NULL), -EINVAL);
    CHECK_INT(times_said("coil: "), 1);
    CHECK_INT(times_said("COIL_IO_URING_WITHOUT=nonsense"), 1);
}

TEST(run_of_threads_prints_a_backend_that_is_not_to_be_had_as_one_thread_does)
{
    coil_run_opts opts = {.loop.backend = "nonsense"};

    CHECK_INT(run_heard(fail_alone, 0, &opts), -EINVAL);
    CHECK_STR(said, "");
    CHECK_INT(hear(run_four, fail_alone, 0, &opts), -EINVAL);
    CHECK_STR(said, "");
}

/* ---- calls outside of it ----------------------------------------------------------- */

static void sleep_outside(void *arg)
{
    (void)arg;
    coil_sleep(1);
}

static void wait_for_event_outside(void *arg)
{
    coil_event event = COIL_EVENT_INIT;

    (void)arg;
    coil_event_wait(&event);
}

static void get_outside(void *arg)
{
    coil_queue queue = COIL_QUEUE_INIT(1, 1);
    char item;

    (void)arg;
    coil_queue_get(&queue, &item);
}

static void acquire_outside(void *arg)
{
    coil_lock lock = {.locked = true};

    (void)arg;
    coil_lock_acquire(&lock);
}

static void open_outside(void *arg)
{
    coil_file *file;

    (void)arg;
    coil_file_open("/etc/passwd", 0, 0, &file);
}

static void park_outside(void *arg)
{
    (void)arg;
    coil_park();
}

static void connect_outside(void *arg)
{
    coil_stream *stream;

    (void)arg;
    coil_connect("127.0.0.1", "1", &stream);
}

static void connect_address_outside(void *arg)
{
    coil_address address;
    coil_stream *stream;

    (void)arg;
    coil_address_of_numbers("127.0.0.1", 1, &address);
    coil_connect_address(&address, &stream);
}

static void connect_unix_outside(void *arg)
{
    coil_stream *stream;

    (void)arg;
    coil_connect_unix("/nonexistent", &stream);
}

static void connect_datagrams_outside(void *arg)
{
    coil_datagram *datagram;

    (void)arg;
    coil_datagram_connect("127.0.0.1", "9", &datagram);
}

static void wait_for_fd_outside(void *arg)
{
    (void)arg;
    coil_wait_fd(0, COIL_READABLE);
}

static void poll_outside(void *arg)
{
    (void)arg;
    coil_poll(NULL, 0, 1);
}

static void read_line_outside(void *arg)
{
    coil_file *file;
    char line[8];

    (void)arg;
    coil_file_adopt(open("/etc/passwd", O_RDONLY), &file);
    coil_file_read_line(file, line, sizeof line);
}

static void close_file_outside(void *arg)
{
    coil_file *file;

    (void)arg;
    coil_file_adopt(open("/etc/passwd", O_RDONLY), &file);
    coil_file_close(file);
}

static void read_file_outside(void *arg)
{
    size_t n;

    coil_read_file("/etc/passwd", 0, &arg, &n);
}

static void write_file_outside(void *arg)
{
    (void)arg;
    coil_write_file("/dev/null", "", 0, 0, 0);
}

static void copy_file_outside(void *arg)
{
    (void)arg;
    coil_copy_file("/dev/null", "/dev/null", NULL);
}

static void wait_at_barrier_outside(void *arg)
{
    coil_barrier barrier = COIL_BARRIER_INIT(2);

    (void)arg;
    coil_barrier_wait(&barrier);
}

static void wait_for_tick_outside(void *arg)
{
    coil_interval interval;

    (void)arg;
    coil_interval_init(&interval, COIL_SEC(1));
    coil_interval_wait(&interval);
}

/* Calls that need a task, made on a thread whose loop is not running a task. */
static const struct {
    void (*call)(void *arg);
    const char *name;
} outside[] = {
    {connect_outside, "coil_connect"},
    {connect_address_outside, "coil_connect_address"},
    {connect_unix_outside, "coil_connect_unix"},
    {connect_datagrams_outside, "coil_datagram_connect"},
    {wait_for_fd_outside, "coil_wait_fd"},
    {poll_outside, "coil_poll"},
    {read_line_outside, "coil_file_read_line"},
    {close_file_outside, "coil_file_close"},
    {read_file_outside, "coil_read_file"},
    {write_file_outside, "coil_write_file"},
    {copy_file_outside, "coil_copy_file"},
    {wait_at_barrier_outside, "coil_barrier_wait"},
    {wait_for_tick_outside, "coil_interval_wait"},
};

static void call_outside(void *arg)
{
    coil_loop *loop;

    coil_loop_create(NULL, &loop);
    outside[*(size_t *)arg].call(NULL);
}

TEST(a_call_of_the_loop_outside_of_a_task_is_named)
{
    char sentence[80];

    for (size_t i = 0; i < sizeof outside / sizeof outside[0]; i++) {
        snprintf(sentence, sizeof sentence, "coil: %s: no task is running here",
                 outside[i].name);
        test_dies(call_outside, &i, sentence);
    }
}

TEST(a_call_that_waits_outside_of_a_task_is_named)
{
    test_dies(sleep_outside, NULL, "coil_sleep: no task is running here");
    test_dies(wait_for_event_outside, NULL, "coil_event_wait: no task is running here");
    test_dies(get_outside, NULL, "coil_queue_get: no task is running here");
    test_dies(acquire_outside, NULL, "coil_lock_acquire: no task is running here");
    test_dies(open_outside, NULL, "coil_file_open: no task is running here");
    test_dies(park_outside, NULL, "coil_park: no task is running here");
}

/* ---- out of descriptors ------------------------------------------------------------ */

static COIL__NOINLINE int fail_here(void)
{
    int rc = coil_fail(-EIO, "a failure");

    __asm__ volatile("");
    return rc;
}

static int fail_without_descriptors(void *arg)
{
    struct rlimit before, few = {0, 0};
    char text[2048];
    FILE *out = fmemopen(text, sizeof text, "w");

    (void)arg;
    getrlimit(RLIMIT_NOFILE, &before);
    few.rlim_max = before.rlim_max;
    setrlimit(RLIMIT_NOFILE, &few);
    fail_here();
    setrlimit(RLIMIT_NOFILE, &before);
    fail_here();
    coil_error_print(coil_last_error(), out);
    fclose(out);
    CHECK(strstr(text, "fail_here") != NULL || strstr(text, "coil-tests+") != NULL);
    return 0;
}

TEST(a_first_failure_without_descriptors_leaves_later_ones_their_frames)
{
    CHECK_INT(coil_run(fail_without_descriptors, NULL, NULL), 0);
}

/* ---- leftovers that have ended ----------------------------------------------------- */

static int trace_name(coil_task *task, void *arg)
{
    (void)arg;
    test_trace("%s ", coil_task_name(task));
    return 0;
}

static int end_at_once(void *arg)
{
    (void)arg;
    return coil_sleep(COIL_SEC(100));
}

/* Sleep. When cancelled, continue for some turns, and print the tasks. */
static int look_around(void *arg)
{
    coil_stats stats;
    char *text = NULL;
    size_t size;
    FILE *out;

    (void)arg;
    coil_sleep(COIL_SEC(100));
    coil_cancel_caught();
    coil_yield();
    coil_task_each(trace_name, NULL);
    coil_stats_get(&stats);
    CHECK_INT(stats.tasks, 1);
    out = open_memstream(&text, &size);
    coil_dump(out);
    fclose(out);
    CHECK(strstr(text, "swift") == NULL && strstr(text, "slow") != NULL);
    free(text);
    return 0;
}

static int leave_two(void *arg)
{
    (void)arg;
    coil_spawn(end_at_once, NULL, &(coil_spawn_opts){.name = "swift"}, NULL);
    coil_spawn(look_around, NULL, &(coil_spawn_opts){.name = "slow"}, NULL);
    return coil_yield();
}

TEST(run_shows_no_leftover_that_has_ended)
{
    CHECK_INT(coil_run(leave_two, NULL, NULL), 0);
    CHECK_TRACE("slow ");
}
