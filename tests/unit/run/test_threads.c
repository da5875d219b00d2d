/* test_threads.c - running a loop on each of several threads. */
#include "../../harness/harness.h"

#include "../../../src/base/compiler.h"

#include <coil.h>

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <unistd.h>

static int run(unsigned n, coil_task_fn fn, void *arg)
{
    return coil_run_threads(n, fn, arg, NULL);
}

/* ---- which and how many ------------------------------------------------------------ */

struct roll {
    atomic_uint seen; /* set of thread indexes, one bit each */
    atomic_int count;
    coil_loop *_Atomic loops[8];
};

static int call_the_roll(void *arg)
{
    struct roll *roll = arg;
    char thread[16], expected[16];

    CHECK(coil_thread_index() < 4);
    CHECK_INT(coil_thread_count(), 4);
    roll->loops[coil_thread_index()] = coil_loop_current();
    roll->seen |= 1u << coil_thread_index();
    roll->count++;
    if (coil_thread_index() > 0) {
        snprintf(expected, sizeof expected, "coil-%u", coil_thread_index());
        CHECK(pthread_getname_np(pthread_self(), thread, sizeof thread) == 0);
        CHECK_STR(thread, expected);
        snprintf(expected, sizeof expected, "main-%u", coil_thread_index());
        CHECK_STR(coil_task_name(coil_task_current()), expected);
    }
    while (roll->count < 4)
        CHECK_INT(coil_sleep(COIL_USEC(100)), 0);
    return 0;
}

TEST(threads_have_a_loop_and_an_index_each)
{
    struct roll roll = {.count = 0};

    CHECK_INT(run(4, call_the_roll, &roll), 0);
    CHECK_INT(roll.seen, 15);
    CHECK_INT(roll.count, 4);
    CHECK(roll.loops[0] != roll.loops[3]);
    CHECK_INT(coil_thread_index(), 0);
    CHECK_INT(coil_thread_count(), 1);
    CHECK_PTR(coil_loop_current(), NULL);
}

static int count_up(void *arg)
{
    ++*(atomic_int *)arg;
    return 3;
}

TEST(threads_as_many_as_processors)
{
    atomic_int count = 0;
    cpu_set_t before, one;

    CHECK_INT(run(0, count_up, &count), 0);
    CHECK_INT(count, coil_processor_count());
    CHECK(sched_getaffinity(0, sizeof before, &before) == 0);
    CPU_ZERO(&one);
    for (int i = 0; i < CPU_SETSIZE; i++)
        if (CPU_ISSET(i, &before) && CPU_COUNT(&one) == 0)
            CPU_SET(i, &one);
    CHECK(sched_setaffinity(0, sizeof one, &one) == 0);
    CHECK_INT(coil_processor_count(), 1);
    count = 0;
    CHECK_INT(run(0, count_up, &count), 0);
    CHECK_INT(count, 1);
    CHECK(sched_setaffinity(0, sizeof before, &before) == 0);
    CHECK_INT(run(1025, count_up, &count), -EINVAL);
}

/* ---- failures ---------------------------------------------------------------------- */

struct failing {
    unsigned index;
    atomic_int cancelled;
};

static int fail_or_wait(void *arg)
{
    struct failing *f = arg;
    int rc;

    if (coil_thread_index() == f->index)
        return coil_fail(-EPROTO, "thread %u had enough", f->index);
    rc = coil_sleep(COIL_SEC(600));
    f->cancelled += rc == -ECANCELED;
    return rc;
}

TEST(threads_are_cancelled_by_the_first_failure)
{
    for (unsigned i = 0; i < 3; i++) {
        struct failing f = {.index = i};
        char expected[32];
        coil_error *error;

        CHECK_INT(
            coil_run_threads(3, fail_or_wait, &f, &(coil_run_opts){.error = &error}),
            -EPROTO);
        CHECK_INT(f.cancelled, 2);
        snprintf(expected, sizeof expected, "thread %u had enough", i);
        CHECK(error != NULL);
        CHECK_STR(coil_error_message(error), expected);
        coil_error_release(error);
    }
}

static int caught(void *arg)
{
    coil_cancel_origin origin;

    if (coil_thread_index() == 1)
        return -EPROTO;
    CHECK_INT(coil_sleep(COIL_SEC(600)), -ECANCELED);
    CHECK(coil_task_cancel_origin(coil_task_current(), &origin));
    CHECK_STR(origin.reason, "another thread failed");
    coil_cancel_caught();
    (void)arg;
    return coil_yield();
}

TEST(threads_may_clean_up_after_a_failure)
{
    CHECK_INT(run(3, caught, NULL), -EPROTO);
}

static int ends_or_waits_for_ever(void *arg)
{
    coil_future *never = NULL;
    int rc = 0;

    (void)arg;
    if (coil_thread_index() == 2) {
        rc = coil_sleep(COIL_MSEC(5));
        return rc < 0 ? rc : -EIO;
    }
    if (coil_thread_index() == 1) {
        CHECK_INT(coil_future_create(&never), 0);
        rc = coil_await(never);
        coil_future_release(never);
    }
    return rc;
}

static void note_rc(const coil_exception *exception, void *rc)
{
    *(int *)rc = exception->rc;
}

static int wait_for_ever_on_thread_0(void *arg)
{
    coil_event event;

    if (coil_thread_index() > 0) /* end long after thread 0 has begun to wait */
        return coil_sleep(COIL_MSEC(300));
    coil_set_exception_handler(note_rc, arg);
    coil_event_init(&event);
    return coil_event_wait(&event);
}

TEST(threads_deadlock_is_found_after_the_other_threads_have_ended)
{
    coil_run_opts opts = {.no_signals = true};
    int reported = 0;

    if (COIL__TSAN)
        test_skip("TSan's own thread might post");
    CHECK_INT(coil_run_threads(3, wait_for_ever_on_thread_0, &reported, &opts), -EDEADLK);
    CHECK_INT(reported, -EDEADLK);
}

/* A waiting thread is cancelled even if thread 0 has already ended. */
TEST(threads_that_wait_are_cancelled_when_the_first_has_ended)
{
    CHECK_INT(run(3, ends_or_waits_for_ever, NULL), -EIO);
}

TEST(threads_that_cannot_be_started)
{
    struct failing f = {.index = 99};

    for (uint64_t nth = 1;; nth++) {
        int rc;

        f.cancelled = 0;
        coil_testing_fail_system_call(nth, 0);
        f.index = nth % 3;
        rc = run(3, fail_or_wait, &f);
        if (coil_testing_failed() == NULL)
            break;
        CHECK(rc < 0);
        CHECK_INT(coil_testing_blocks(), 0);
        if (strcmp(coil_testing_failed(), "pthread_create") == 0)
            /* the result is the first failure, possibly that of a thread */
            CHECK(rc == -EAGAIN || rc == -EPROTO);
    }
    coil_testing_fail_system_call(0, 0);
}

TEST(threads_without_memory)
{
    struct failing f = {.index = 1};
    int rc;

    for (uint64_t nth = 1; nth < 200; nth++) {
        coil_testing_fail_allocation(nth);
        rc = run(3, fail_or_wait, &f);
        CHECK(rc == -EPROTO || rc == -ENOMEM);
        if (coil_testing_failed() == NULL)
            break;
    }
    coil_testing_fail_allocation(0);
}

/* ---- signals ----------------------------------------------------------------------- */

static int interrupt_all(void *arg)
{
    atomic_int *ready = arg;
    int rc;

    if (++*ready == 3)
        kill(getpid(), SIGINT);
    rc = coil_sleep(COIL_SEC(600));
    CHECK_INT(rc, -ECANCELED);
    return rc;
}

TEST(threads_are_interrupted_together)
{
    atomic_int ready = 0;

    CHECK_INT(run(3, interrupt_all, &ready), -EINTR);
}

/*
 * Only the thread that handles signals may store the signal number. ThreadSanitizer
 * checks this.
 */
TEST(threads_tell_the_signal_once)
{
    atomic_int ready = 0;
    int signo = -1;
    coil_run_opts opts = {.signo = &signo};

    CHECK_INT(coil_run_threads(3, interrupt_all, &ready, &opts), -EINTR);
    CHECK_INT(signo, SIGINT);
}

static int interrupt_late(void *arg)
{
    (void)arg;
    if (coil_thread_index() == 0)
        return 0;
    if (coil_thread_index() == 1)
        CHECK_INT(coil_sleep(COIL_MSEC(20)), 0);
    if (coil_thread_index() == 1)
        kill(getpid(), SIGINT);
    CHECK_INT(coil_sleep(COIL_SEC(600)), -ECANCELED);
    return -ECANCELED;
}

TEST(threads_are_interrupted_though_the_first_has_ended)
{
    CHECK_INT(run(3, interrupt_late, NULL), -EINTR);
}

/* ---- between threads --------------------------------------------------------------- */

static coil_var colour;

static int look_at_colour(void *arg)
{
    return strcmp(coil_var_get(&colour), arg) == 0 ? 0 : -EPROTO;
}

TEST(threads_have_the_callers_context)
{
    coil_var_token before;

    CHECK_INT(coil_var_set(&colour, "red", &before), 0);
    CHECK_INT(run(3, look_at_colour, "red"), 0);
    CHECK_INT(coil_var_reset(&colour, &before), 0);
}

/*
 * Wait for the previous thread's value, and pass the value plus one to the next thread.
 */
static int pass_on(void *arg)
{
    coil_promise **promises = arg;
    unsigned i = coil_thread_index();
    int told = i > 0 ? coil_promise_await(promises[i]) : 0;

    if (told < 0)
        return told;
    CHECK_INT(coil_promise_set(promises[(i + 1) % 3], told + 1, NULL, NULL), 0);
    if (i == 0)
        CHECK_INT(coil_promise_await(promises[0]), 3);
    return 0;
}

TEST(threads_pass_results_by_promises)
{
    coil_promise *promises[3];

    for (int i = 0; i < 3; i++)
        CHECK_INT(coil_promise_create(&promises[i]), 0);
    CHECK_INT(run(3, pass_on, promises), 0);
    for (int i = 0; i < 3; i++)
        coil_promise_release(promises[i]);
}

/* ---- overflows --------------------------------------------------------------------- */

static int recurse(void *arg)
{
    volatile char frame[1024];

    frame[0] = *(volatile char *)arg;
    return frame[0] == 'x' ? 0 : frame[0] + recurse((void *)frame);
}

static int overflow_in_task(void *arg)
{
    coil_task *task;

    coil_spawn(recurse, "deeper", &(coil_spawn_opts){.name = arg}, &task);
    return coil_task_await(task);
}

static int overflow_on_the_second(void *arg)
{
    return coil_thread_index() == 1 ? overflow_in_task(arg) : coil_sleep(COIL_SEC(60));
}

static void overflow_on_threads(void *arg)
{
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    run(2, overflow_on_the_second, arg);
}

static void *run_a_loop(void *arg)
{
    coil_run(overflow_in_task, arg, NULL);
    return NULL;
}

/* Overflow a stack on another thread. The main thread has never had a loop. */
static void overflow_on_a_foreign_thread(void *arg)
{
    pthread_t thread;

    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    pthread_create(&thread, NULL, run_a_loop, arg);
    pthread_join(thread, NULL);
}

static int run_a_loop_blocking(void *arg)
{
    return coil_run(overflow_in_task, arg, NULL);
}

static int overflow_in_a_job(void *arg)
{
    return coil_blocking(COIL_LANE_CPU, run_a_loop_blocking, arg);
}

static void overflow_on_a_lanes_thread(void *arg)
{
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    coil_run(overflow_in_a_job, arg, NULL);
}

TEST(stack_overflow_on_any_thread_names_the_task)
{
    static char name[] = "greedy";

    if (COIL__ASAN || COIL__TSAN || test_under_valgrind())
        test_skip("the sanitizer handles SIGSEGV itself");
    test_dies_by_signal(overflow_on_threads, name, SIGSEGV, "overflow in greedy");
    test_dies_by_signal(overflow_on_a_foreign_thread, name, SIGSEGV,
                        "overflow in greedy");
    test_dies_by_signal(overflow_on_a_lanes_thread, name, SIGSEGV, "overflow in greedy");
}

static int end_at_once(void *arg)
{
    (void)arg;
    return 0;
}

static void *run_again_and_again(void *arg)
{
    for (int i = 0; i < 50; i++)
        CHECK_INT(coil_run(end_at_once, arg, NULL), 0);
    return NULL;
}

/* The handler for stack overflows is installed while at least one thread runs a loop. */
TEST(threads_take_and_restore_the_report_of_overflows)
{
    struct sigaction action;
    pthread_t threads[3];
    stack_t stack;

    for (int i = 0; i < 3; i++)
        CHECK_INT(pthread_create(&threads[i], NULL, run_again_and_again, NULL), 0);
    run_again_and_again(NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    CHECK_INT(sigaltstack(NULL, &stack), 0);
    if (COIL__ASAN || COIL__TSAN || test_under_valgrind())
        return; /* these tools install their own alternate stack and handler */
    CHECK(stack.ss_flags & SS_DISABLE);
    CHECK_INT(sigaction(SIGSEGV, NULL, &action), 0);
    CHECK(action.sa_handler == SIG_DFL);
}
