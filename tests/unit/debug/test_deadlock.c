/*
 * test_deadlock.c - tasks are reported if they wait for events that can never happen, but
 * not if they only seem to.
 */
#include "../../harness/harness.h"

#include "../../../src/base/compiler.h"

#include <coil.h>

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

static char message[256];
static int reported_rc, report_count;

static void note_report(const coil_exception *exception, void *arg)
{
    (void)arg;
    snprintf(message, sizeof message, "%s", exception->message);
    reported_rc = exception->rc;
    report_count++;
}

/* ---- deadlocks --------------------------------------------------------------------- */

static coil_lock left, right;

static int take_both(void *arg)
{
    coil_lock *first = arg, *second = first == &left ? &right : &left;
    int rc = coil_lock_acquire(first);

    if (rc < 0)
        return rc;
    coil_yield();
    rc = coil_lock_acquire(second);
    if (rc == 0)
        coil_lock_release(second);
    coil_lock_release(first);
    return rc;
}

static int embrace(void *arg)
{
    coil_group group;

    (void)arg;
    coil_set_exception_handler(note_report, NULL);
    coil_group_enter(&group);
    coil_group_spawn(&group, take_both, &left, NULL, NULL);
    coil_group_spawn(&group, take_both, &right, NULL, NULL);
    return coil_group_exit(&group, 0);
}

static void skip_where_there_are_threads(void)
{
    if (COIL__TSAN)
        test_skip("TSan's own thread might post");
}

static void check_deadlock(coil_task_fn fn, void *arg, bool virtual_clock)
{
    coil_run_opts opts = {.loop.virtual_clock = virtual_clock, .no_signals = true};

    report_count = 0;
    CHECK_INT(coil_run(fn, arg, &opts), -EDEADLK);
    CHECK_INT(report_count, 1);
    CHECK_INT(reported_rc, -EDEADLK);
    CHECK(strstr(message, "Deadlock") == message);
}

TEST(deadlock_of_two_locks_is_reported_and_ends_the_run)
{
    skip_where_there_are_threads();
    check_deadlock(embrace, NULL, false);
}

TEST(deadlock_under_a_virtual_clock)
{
    skip_where_there_are_threads();
    check_deadlock(embrace, NULL, true);
}

static int do_nothing(void *arg)
{
    (void)arg;
    return 0;
}

static int block_and_park(void *arg)
{
    (void)arg;
    coil_set_exception_handler(note_report, NULL);
    coil_blocking(COIL_LANE_FILE, do_nothing, NULL);
    return coil_park();
}

TEST(deadlock_although_there_are_threads_for_blocking_work)
{
    skip_where_there_are_threads();
    check_deadlock(block_and_park, NULL, false);
}

static int park_with_an_open_stream(void *arg)
{
    coil_stream *stream;
    int rc;

    coil_set_exception_handler(note_report, NULL);
    rc = coil_stream_adopt(*(int *)arg, &stream);
    if (rc == 0)
        rc = coil_park();
    coil_stream_destroy(stream);
    return rc;
}

TEST(deadlock_with_a_stream_open_that_nobody_reads)
{
    int ends[2];

    skip_where_there_are_threads();
    CHECK_INT(pipe(ends), 0);
    check_deadlock(park_with_an_open_stream, &ends[0], false);
    close(ends[1]);
}

static int park(void *arg)
{
    (void)arg;
    return coil_park();
}

static int embrace_while_another_parks(void *arg)
{
    coil_spawn_opts opts = {.name = "idle"};
    coil_group group;

    (void)arg;
    coil_group_enter(&group);
    coil_group_spawn(&group, park, NULL, &opts, NULL);
    opts.name = "left";
    coil_group_spawn(&group, take_both, &left, &opts, NULL);
    opts.name = "right";
    coil_group_spawn(&group, take_both, &right, &opts, NULL);
    return coil_group_exit(&group, 0);
}

static void deadlock(void *arg)
{
    int rc = coil_run(embrace_while_another_parks, NULL, NULL);

    (void)arg;
    fprintf(stderr, "rc %d", rc);
    fflush(stderr);
    abort();
}

TEST(deadlock_prints_all_tasks)
{
    skip_where_there_are_threads();
    test_dies(deadlock, NULL, "coil: Deadlock: all tasks wait");
    test_dies(deadlock, NULL, "\n- main waits 0.");
    test_dies(deadlock, NULL, "\n  - idle waits 0.");
    test_dies(deadlock, NULL, "\n  - left waits 0.");
    test_dies(deadlock, NULL, "\n  - right waits 0.");
    test_dies(deadlock, NULL, "rc -35");
}

/* ---- not deadlocks ----------------------------------------------------------------- */

static coil_future *awaited;

static void set_it(void *arg)
{
    (void)arg;
    coil_future_set(awaited, 0, NULL, NULL);
}

/*
 * Post after a while, without a reference to the loop. Posting without a reference is a
 * mistake, but even so a deadlock must not be reported.
 */
static void *post_later(void *loop)
{
    usleep(300 * 1000);
    coil_post(loop, set_it, NULL);
    return NULL;
}

static int await_a_post(void *arg)
{
    pthread_t thread;
    int rc;

    (void)arg;
    coil_set_exception_handler(note_report, NULL);
    coil_future_create(&awaited);
    CHECK_INT(pthread_create(&thread, NULL, post_later, coil_loop_current()), 0);
    rc = coil_await(awaited);
    pthread_join(thread, NULL);
    coil_future_release(awaited);
    return rc;
}

static void check_no_deadlock(coil_task_fn fn, void *arg)
{
    for (int virtual_clock = 0; virtual_clock < 2; virtual_clock++) {
        coil_run_opts opts = {.loop.virtual_clock = virtual_clock, .no_signals = true};

        report_count = 0;
        CHECK_INT(coil_run(fn, arg, &opts), 0);
        CHECK_INT(report_count, 0);
    }
}

TEST(no_deadlock_while_another_thread_may_post)
{
    check_no_deadlock(await_a_post, NULL);
}

static int fork_and_await_a_post(void *arg)
{
    int status = -1;
    pid_t child = fork();

    if (child == 0) {
        check_no_deadlock(await_a_post, arg);
        _exit(report_count);
    }
    CHECK_INT(waitpid(child, &status, 0), child);
    return status;
}

/*
 * In debug mode, the sampler's thread counts as a thread that never posts. A child of
 * fork(2) inherits the count, but not the thread.
 */
TEST(no_deadlock_in_a_child_whose_parent_has_a_sampler)
{
    coil_run_opts opts = {.loop.debug = true};

    if (COIL__TSAN)
        test_skip("TSan does not support new threads after fork(2)");
    CHECK_INT(coil_run(fork_and_await_a_post, NULL, &opts), 0);
}

static int sleep_long(void *arg)
{
    (void)arg;
    usleep(300 * 1000);
    return 0;
}

static int await_blocking_work(void *arg)
{
    coil_set_exception_handler(note_report, NULL);
    return coil_blocking(COIL_LANE_FILE, sleep_long, arg);
}

TEST(no_deadlock_while_blocking_work_is_done)
{
    check_no_deadlock(await_blocking_work, NULL);
}

static _Atomic bool begun;

static int post_from_work(void *loop)
{
    begun = true;
    usleep(300 * 1000);
    coil_post(loop, set_it, NULL);
    return 0;
}

static int abandon(void *loop)
{
    return coil_blocking_abandonable(COIL_LANE_FILE, post_from_work, loop, NULL);
}

static int await_what_was_abandoned(void *arg)
{
    coil_task *task;
    int rc;

    (void)arg;
    coil_set_exception_handler(note_report, NULL);
    coil_future_create(&awaited);
    begun = false;
    coil_spawn(abandon, coil_loop_current(), NULL, &task);
    coil_yield();
    while (!begun) /* a job that has not begun would be dropped, not abandoned */
        usleep(1000);
    coil_task_cancel(task, NULL);
    coil_task_await(task);
    coil_task_release(task);
    rc = coil_await(awaited);
    coil_future_release(awaited);
    return rc;
}

TEST(no_deadlock_while_abandoned_work_may_post)
{
    check_no_deadlock(await_what_was_abandoned, NULL);
}
