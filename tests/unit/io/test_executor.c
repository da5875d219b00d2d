/*
 * test_executor.c - jobs on threads: lanes and their limits, results, cancelling,
 * abandoning, closing the loop, and fork(2).
 */
#include "../../harness/harness.h"

#include "../../../src/base/compiler.h"
#include "../../../src/loop/loop.h"

#include <coil.h>

#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void finish(coil_task *task, int expected)
{
    CHECK_INT(coil_task_await(task), expected);
    coil_task_release(task);
}

/* ---- results ----------------------------------------------------------------------- */

static int add_one(void *arg)
{
    return *(int *)arg + 1;
}

static int tell_name(void *arg)
{
    return pthread_getname_np(pthread_self(), arg, 16);
}

TASK_TEST(blocking_returns_what_the_function_returned)
{
    char name[16] = "";
    int n = 41;

    CHECK_INT(coil_blocking(COIL_LANE_CPU, add_one, &n), 42);
    n = -8;
    CHECK_INT(coil_blocking(COIL_LANE_FILE, add_one, &n), -7);
    CHECK_INT(coil_blocking_abandonable(COIL_LANE_DNS, add_one, &n, NULL), -7);
    CHECK_INT(coil_blocking(COIL_LANE_FILE, tell_name, name), 0);
    CHECK_STR(name, "coil-file");
}

static int read_mask(void *arg)
{
    return pthread_sigmask(SIG_BLOCK, NULL, arg);
}

TASK_TEST(blocking_threads_take_no_signals)
{
    sigset_t mask;

    sigemptyset(&mask);
    CHECK_INT(coil_blocking(COIL_LANE_CPU, read_mask, &mask), 0);
    CHECK(sigismember(&mask, SIGINT));
    CHECK(sigismember(&mask, SIGTERM));
}

static int one_of_many(void *arg)
{
    int rc = coil_blocking(COIL_LANE_CPU, add_one, arg);

    return rc == *(int *)arg + 1 ? 0 : -EPROTO;
}

#define MANY 1000

TASK_TEST(blocking_a_thousand_jobs)
{
    static int numbers[MANY];
    coil_group g;

    coil_group_enter(&g);
    for (int i = 0; i < MANY; i++) {
        numbers[i] = i;
        CHECK_INT(coil_group_spawn(&g, one_of_many, &numbers[i], NULL, NULL), 0);
    }
    CHECK_INT(coil_group_exit(&g, 0), 0);
}

/* ---- lanes ------------------------------------------------------------------------- */

/*
 * Jobs that wait at a gate: each one posts `begun` when it begins, and waits for `open`.
 */
struct gate {
    sem_t begun, open;
    atomic_int inside, most_inside, calls, discarded;
};

static void init_gate(struct gate *gate)
{
    memset(gate, 0, sizeof *gate);
    sem_init(&gate->begun, 0, 0);
    sem_init(&gate->open, 0, 0);
}

static void wait_for(sem_t *semaphore)
{
    while (sem_wait(semaphore) < 0)
        ;
}

static int pass_gate(void *arg)
{
    struct gate *gate = arg;
    int inside = ++gate->inside;

    if (inside > gate->most_inside)
        gate->most_inside = inside;
    gate->calls++;
    sem_post(&gate->begun);
    wait_for(&gate->open);
    gate->inside--;
    return 7;
}

static void discard_gate(void *arg)
{
    struct gate *gate = arg;

    gate->discarded++;
}

static int in_file_lane(void *arg)
{
    return coil_blocking(COIL_LANE_FILE, pass_gate, arg);
}

static int in_cpu_lane_abandonable(void *arg)
{
    return coil_blocking_abandonable(COIL_LANE_CPU, pass_gate, arg, discard_gate);
}

static void open_gate(struct gate *gate, int times)
{
    while (times-- > 0)
        sem_post(&gate->open);
}

/* Spawn a task, and wait until its job has reached the gate. */
static coil_task *start_at_gate(struct gate *gate, coil_task_fn fn, void *arg)
{
    coil_task *task = NULL;

    CHECK_INT(coil_spawn(fn, arg, NULL, &task), 0);
    coil_yield();
    wait_for(&gate->begun);
    return task;
}

TASK_TEST(blocking_lanes_do_not_hold_up_each_other)
{
    struct gate gate;
    coil_task *tasks[8];
    int n = 1;

    init_gate(&gate);
    for (int i = 0; i < 8; i++)
        CHECK_INT(coil_spawn(in_file_lane, &gate, NULL, &tasks[i]), 0);
    coil_yield();
    for (int i = 0; i < 8; i++)
        wait_for(&gate.begun);
    CHECK_INT(coil_blocking(COIL_LANE_CPU, add_one, &n), 2);
    CHECK_INT(coil_blocking(COIL_LANE_DNS, add_one, &n), 2);
    open_gate(&gate, 8);
    for (int i = 0; i < 8; i++)
        finish(tasks[i], 7);
}

TASK_TEST(blocking_keeps_to_the_limit)
{
    struct gate gate;
    coil_task *tasks[6];

    CHECK_INT(coil_executor_set_limit(COIL_LANE_FILE, 0), -EINVAL);
    CHECK_INT(coil_executor_set_limit(COIL_LANE_FILE, 1025), -EINVAL);
    CHECK_INT(coil_executor_set_limit(COIL_LANE_FILE, 2), 0);
    init_gate(&gate);
    for (int i = 0; i < 6; i++)
        CHECK_INT(coil_spawn(in_file_lane, &gate, NULL, &tasks[i]), 0);
    coil_yield();
    wait_for(&gate.begun);
    wait_for(&gate.begun);
    usleep(2000);
    CHECK_INT(gate.calls, 2);
    open_gate(&gate, 6);
    for (int i = 0; i < 6; i++)
        finish(tasks[i], 7);
    CHECK_INT(gate.most_inside, 2);
}

static int quick_in_file_lane(void *arg)
{
    return coil_blocking(COIL_LANE_FILE, add_one, arg);
}

#define QUEUED_BEHIND 10

/*
 * Enqueue two jobs that are done at once, one that blocks, and many more. The first two
 * tasks must get their results while the third job blocks.
 */
static int await_results_before_a_job_that_blocks(void *arg)
{
    struct gate gate;
    coil_task *at_gate, *quick, *blocked, *last[QUEUED_BEHIND];
    int n = 1;

    (void)arg;
    CHECK_INT(coil_executor_set_limit(COIL_LANE_FILE, 1), 0);
    init_gate(&gate);
    at_gate = start_at_gate(&gate, in_file_lane, &gate);
    CHECK_INT(coil_spawn(quick_in_file_lane, &n, NULL, &quick), 0);
    CHECK_INT(coil_spawn(in_file_lane, &gate, NULL, &blocked), 0);
    for (int i = 0; i < QUEUED_BEHIND; i++)
        CHECK_INT(coil_spawn(quick_in_file_lane, &n, NULL, &last[i]), 0);
    coil_yield();
    open_gate(&gate, 1);
    finish(at_gate, 7);
    finish(quick, 2);
    open_gate(&gate, 1);
    finish(blocked, 7);
    for (int i = 0; i < QUEUED_BEHIND; i++)
        finish(last[i], 2);
    return 0;
}

TEST(blocking_results_do_not_wait_for_a_job_that_blocks)
{
    for (int virtual_clock = 0; virtual_clock <= 1; virtual_clock++) {
        coil_run_opts opts = {.loop.virtual_clock = virtual_clock};

        CHECK_INT(coil_run(await_results_before_a_job_that_blocks, NULL, &opts), 0);
    }
}

struct quick_jobs {
    atomic_int left;
    int sum;
};

static int add_while_any_is_left(void *arg)
{
    struct quick_jobs *jobs = arg;

    while (jobs->left-- > 0) {
        int n = 0;

        jobs->sum += coil_blocking(COIL_LANE_FILE, add_one, &n);
    }
    return 0;
}

/* Many quick jobs beside jobs that block: see "sparing" in src/io/lane.c. */
TASK_TEST(blocking_quick_jobs_go_on_beside_jobs_that_block)
{
    struct quick_jobs jobs = {.left = 1000};
    struct gate gate;
    coil_task *blocked[7], *quick[16];

    init_gate(&gate);
    for (int i = 0; i < 16; i++)
        CHECK_INT(coil_spawn(add_while_any_is_left, &jobs, NULL, &quick[i]), 0);
    for (int i = 0; i < 7; i++)
        blocked[i] = start_at_gate(&gate, in_file_lane, &gate);
    for (int i = 0; i < 16; i++)
        finish(quick[i], 0);
    CHECK_INT(jobs.sum, 1000);
    CHECK_INT(gate.inside, 7);
    open_gate(&gate, 7);
    for (int i = 0; i < 7; i++)
        finish(blocked[i], 7);
}

/* ---- cancelling -------------------------------------------------------------------- */

TASK_TEST(blocking_cancelled_before_it_begins)
{
    struct gate gate;
    coil_task *first, *second;

    CHECK_INT(coil_executor_set_limit(COIL_LANE_FILE, 1), 0);
    init_gate(&gate);
    first = start_at_gate(&gate, in_file_lane, &gate);
    CHECK_INT(coil_spawn(in_file_lane, &gate, NULL, &second), 0);
    coil_yield();
    coil_task_cancel(second, NULL);
    finish(second, -ECANCELED);
    open_gate(&gate, 1);
    finish(first, 7);
    CHECK_INT(gate.calls, 1);
}

static int catch_in_file_lane(void *arg)
{
    CHECK_INT(in_file_lane(arg), -ECANCELED);
    coil_cancel_caught();
    return coil_yield();
}

TASK_TEST(blocking_cancelled_twice_in_one_turn_fails_once)
{
    struct gate gate;
    coil_task *first, *second;

    CHECK_INT(coil_executor_set_limit(COIL_LANE_FILE, 1), 0);
    init_gate(&gate);
    first = start_at_gate(&gate, in_file_lane, &gate);
    CHECK_INT(coil_spawn(catch_in_file_lane, &gate, NULL, &second), 0);
    coil_yield();
    coil_task_cancel(second, NULL);
    coil_task_cancel(second, NULL);
    finish(second, 0);
    open_gate(&gate, 1);
    finish(first, 7);
}

struct cancelled_job {
    struct gate *gate;
    int rc;
};

static int job_then_wait(void *arg)
{
    struct cancelled_job *c = arg;

    c->rc = coil_blocking(COIL_LANE_FILE, pass_gate, c->gate);
    return coil_sleep(COIL_SEC(1));
}

TASK_TEST(blocking_cancelled_while_it_runs_is_waited_for)
{
    struct gate gate;
    struct cancelled_job c = {&gate, 0};
    coil_task *task;

    init_gate(&gate);
    task = start_at_gate(&gate, job_then_wait, &c);
    coil_task_cancel(task, NULL);
    for (int i = 0; i < 10; i++)
        coil_yield();
    CHECK_INT(c.rc, 0);
    open_gate(&gate, 1);
    finish(task, -ECANCELED); /* cancelled at its next wait, after the job */
    CHECK_INT(c.rc, 7);
}

TASK_TEST(blocking_abandoned_returns_at_once)
{
    struct gate gate;
    coil_task *task;

    init_gate(&gate);
    task = start_at_gate(&gate, in_cpu_lane_abandonable, &gate);
    coil_task_cancel(task, NULL);
    finish(task, -ECANCELED);
    CHECK_INT(gate.discarded, 0);
    open_gate(&gate, 1);
    while (gate.discarded == 0)
        usleep(100);
    CHECK_INT(gate.discarded, 1);
}

TASK_TEST(blocking_abandoned_before_it_begins_is_discarded_unrun)
{
    struct gate gate;
    coil_task *first, *second;

    CHECK_INT(coil_executor_set_limit(COIL_LANE_CPU, 1), 0);
    init_gate(&gate);
    first = start_at_gate(&gate, in_cpu_lane_abandonable, &gate);
    CHECK_INT(coil_spawn(in_cpu_lane_abandonable, &gate, NULL, &second), 0);
    coil_yield();
    coil_task_cancel(second, NULL);
    finish(second, -ECANCELED);
    CHECK_INT(gate.discarded, 1);
    open_gate(&gate, 1);
    finish(first, 7);
    CHECK_INT(gate.calls, 1);
    CHECK_INT(gate.discarded, 1);
}

static void leave_one_behind(struct gate *gate)
{
    coil_task *task;

    CHECK_INT(coil_spawn(in_cpu_lane_abandonable, gate, NULL, &task), 0);
    coil_yield();
    wait_for(&gate->begun);
    coil_task_cancel(task, NULL);
    finish(task, -ECANCELED);
}

TASK_TEST(blocking_abandoned_gives_its_place_back)
{
    struct gate gate;
    coil_task *waiting;
    int n = 1;

    CHECK_INT(coil_executor_set_limit(COIL_LANE_CPU, 1), 0);
    init_gate(&gate);
    for (int i = 0; i < 3; i++) {
        leave_one_behind(&gate);
        CHECK_INT(coil_blocking(COIL_LANE_CPU, add_one, &n), 2);
    }
    CHECK_INT(gate.inside, 3);
    open_gate(&gate, 3);
    while (gate.discarded < 3)
        usleep(100);
    /* The number of threads is still one, so two jobs run one after the other. */
    CHECK_INT(coil_spawn(in_cpu_lane_abandonable, &gate, NULL, &waiting), 0);
    open_gate(&gate, 2);
    CHECK_INT(in_cpu_lane_abandonable(&gate), 7);
    finish(waiting, 7);
}

/* After a thread was abandoned, the jobs in its lane's queue must still start. */
TASK_TEST(blocking_abandoned_lets_the_queue_go_on)
{
    struct gate gate;
    coil_task *first, *second;

    CHECK_INT(coil_executor_set_limit(COIL_LANE_CPU, 1), 0);
    init_gate(&gate);
    first = start_at_gate(&gate, in_cpu_lane_abandonable, &gate);
    CHECK_INT(coil_spawn(in_cpu_lane_abandonable, &gate, NULL, &second), 0);
    coil_yield();
    coil_task_cancel(first, NULL);
    finish(first, -ECANCELED);
    wait_for(&gate.begun);
    open_gate(&gate, 2);
    finish(second, 7);
    while (gate.discarded == 0)
        usleep(100);
}

/*
 * The first 64 abandoned threads are replaced. Further abandoned threads count against
 * the limit of the lane, and new jobs fail with -EAGAIN.
 */
TASK_TEST(blocking_abandoned_without_end_is_an_error)
{
    struct gate gate;
    int n = 1, rc;

    CHECK_INT(coil_executor_set_limit(COIL_LANE_CPU, 1), 0);
    init_gate(&gate);
    for (int i = 0; i < 64; i++)
        leave_one_behind(&gate);
    CHECK_INT(coil_blocking(COIL_LANE_CPU, add_one, &n), 2);
    leave_one_behind(&gate);
    CHECK_INT(coil_blocking(COIL_LANE_CPU, add_one, &n), -EAGAIN);
    CHECK_INT(coil_blocking_abandonable(COIL_LANE_CPU, add_one, &n, NULL), -EAGAIN);
    open_gate(&gate, 65);
    while ((rc = coil_blocking(COIL_LANE_CPU, add_one, &n)) == -EAGAIN)
        usleep(100);
    CHECK_INT(rc, 2);
    while (gate.discarded < 65)
        usleep(100);
}

static int add_one_in_cpu_lane(void *arg)
{
    return coil_blocking(COIL_LANE_CPU, add_one, arg);
}

/* If abandoned threads use up a lane's limit, the jobs in its queue fail with -EAGAIN. */
TASK_TEST(blocking_queued_behind_what_hangs_is_an_error)
{
    struct gate gate;
    coil_task *last, *queued[2];
    int n = 1, rc;

    CHECK_INT(coil_executor_set_limit(COIL_LANE_CPU, 1), 0);
    init_gate(&gate);
    for (int i = 0; i < 64; i++)
        leave_one_behind(&gate);
    CHECK_INT(coil_spawn(in_cpu_lane_abandonable, &gate, NULL, &last), 0);
    CHECK_INT(coil_spawn(add_one_in_cpu_lane, &n, NULL, &queued[0]), 0);
    CHECK_INT(coil_spawn(in_cpu_lane_abandonable, &gate, NULL, &queued[1]), 0);
    coil_yield();
    wait_for(&gate.begun);
    coil_task_cancel(last, NULL);
    finish(last, -ECANCELED);
    finish(queued[0], -EAGAIN);
    finish(queued[1], -EAGAIN);
    CHECK_INT(gate.discarded, 0);
    /* The lane can start a thread again once any of the 65 threads has ended. */
    open_gate(&gate, 1);
    while ((rc = coil_blocking(COIL_LANE_CPU, add_one, &n)) == -EAGAIN)
        usleep(100);
    CHECK_INT(rc, 2);
    open_gate(&gate, 64);
    while (gate.discarded < 65)
        usleep(100);
}

TASK_TEST(blocking_with_a_higher_limit_begins_what_is_queued)
{
    struct gate gate;
    coil_task *tasks[3];

    CHECK_INT(coil_executor_set_limit(COIL_LANE_CPU, 1), 0);
    init_gate(&gate);
    for (int i = 0; i < 3; i++)
        CHECK_INT(coil_spawn(in_cpu_lane_abandonable, &gate, NULL, &tasks[i]), 0);
    coil_yield();
    wait_for(&gate.begun);
    CHECK_INT(coil_executor_set_limit(COIL_LANE_CPU, 3), 0);
    wait_for(&gate.begun);
    wait_for(&gate.begun);
    open_gate(&gate, 3);
    for (int i = 0; i < 3; i++)
        finish(tasks[i], 7);
}

/*
 * Whether a job ends before or after its task is cancelled, its result must be either
 * returned or discarded.
 */
static atomic_int jobs_begun, jobs_returned, jobs_discarded;

static int short_work(void *arg)
{
    int spins = *(int *)arg;

    while (spins-- > 0)
        sched_yield();
    return 0;
}

static void count_discarded(void *arg)
{
    free(arg);
    jobs_discarded++;
}

static int work_for(void *arg)
{
    int *spins = malloc(sizeof *spins);
    int rc;

    jobs_begun++;
    *spins = (int)(intptr_t)arg % 5;
    rc = coil_blocking_abandonable(COIL_LANE_FILE, short_work, spins, count_discarded);
    if (rc == -ECANCELED)
        return rc;
    free(spins);
    jobs_returned++;
    return rc;
}

/*
 * Repeat until a job was discarded, which happens only if the job is running when its
 * task is cancelled.
 */
TASK_TEST(blocking_jobs_are_returned_or_discarded)
{
    for (int round = 0; round < 100 || (jobs_discarded == 0 && round < 10000); round++) {
        coil_task *tasks[10];

        for (int i = 0; i < 10; i++)
            CHECK_INT(coil_spawn(work_for, (void *)(intptr_t)i, NULL, &tasks[i]), 0);
        for (int i = 0; i < round % 4; i++)
            coil_yield();
        for (int i = 0; i < 10; i += 2)
            coil_task_cancel(tasks[i], NULL);
        for (int i = 0; i < 10; i++) {
            coil_task_await(tasks[i]);
            coil_task_release(tasks[i]);
        }
    }
    for (int i = 0; i < 10000 && jobs_returned + jobs_discarded < jobs_begun; i++)
        usleep(100);
    CHECK_INT(jobs_returned + jobs_discarded, jobs_begun);
    CHECK(jobs_discarded > 0);
}

TASK_TEST(blocking_times_out_in_a_scope)
{
    struct gate gate;
    coil_scope s;
    int rc;

    /*
     * Use a deadline that has already passed, because the virtual clock does not advance
     * while a thread is working.
     */
    init_gate(&gate);
    CHECK_INT(coil_scope_enter(&s, coil_now()), 0);
    rc = coil_blocking_abandonable(COIL_LANE_CPU, pass_gate, &gate, discard_gate);
    CHECK_INT(coil_scope_exit(&s, rc), -ETIMEDOUT);
    open_gate(&gate, 1);
    while (gate.discarded == 0)
        usleep(100);
}

static int wait_until_begun(void *arg)
{
    struct gate *gate = arg;

    wait_for(&gate->begun);
    return 0;
}

/* The deadline passes after the job has begun, so the timeout is not delivered. */
TASK_TEST(blocking_past_the_deadline_of_a_scope_leaves_nothing_to_deliver)
{
    coil_task *waiter;
    struct gate gate;
    coil_scope s;

    coil_task_cancel(coil_task_current(), NULL);
    CHECK_INT(coil_yield(), -ECANCELED);
    coil_cancel_caught(); /* the request still counts */
    init_gate(&gate);
    open_gate(&gate, 1);
    CHECK_INT(coil_spawn(wait_until_begun, &gate, NULL, &waiter), 0);
    CHECK_INT(coil_scope_enter(&s, coil_now()), 0);
    CHECK_INT(coil_scope_exit(&s, in_file_lane(&gate)), 7);
    CHECK(coil_scope_expired(&s));
    CHECK_INT(coil_yield(), 0);
    CHECK_INT(coil_uncancel(), 0);
    finish(waiter, 0);
}

TASK_TEST(blocking_without_threads_or_memory)
{
    struct rlimit before, none;
    int n = 1, rc;

    test_fail_allocation(1);
    CHECK_INT(coil_blocking_abandonable(COIL_LANE_CPU, add_one, &n, NULL), -ENOMEM);
    test_fail_allocation(0);
    if (COIL__ASAN || COIL__TSAN || test_under_valgrind())
        test_skip("the tool needs too much address space");
    getrlimit(RLIMIT_AS, &before);
    none = before;
    none.rlim_cur = 1; /* leaves no memory for another thread's stack */
    setrlimit(RLIMIT_AS, &none);
    rc = coil_blocking(COIL_LANE_CPU, add_one, &n);
    setrlimit(RLIMIT_AS, &before);
    CHECK_INT(rc, -EAGAIN);
    CHECK_INT(coil_blocking(COIL_LANE_CPU, add_one, &n), 2);
}

/* ---- the loop's end ---------------------------------------------------------------- */

static struct gate shared_gate;

static pthread_t opener;

static void *open_later(void *arg)
{
    usleep(20000);
    open_gate(arg, 1);
    return NULL;
}

static int leave_a_job_behind(void *arg)
{
    coil_task *task;

    (void)arg;
    CHECK_INT(coil_spawn(in_cpu_lane_abandonable, &shared_gate, NULL, &task), 0);
    coil_yield();
    wait_for(&shared_gate.begun);
    coil_task_cancel(task, NULL);
    finish(task, -ECANCELED);
    return pthread_create(&opener, NULL, open_later, &shared_gate);
}

TEST(blocking_work_is_finished_before_the_loop_closes)
{
    init_gate(&shared_gate);
    CHECK_INT(coil_run(leave_a_job_behind, NULL, NULL), 0);
    CHECK_INT(shared_gate.discarded, 1);
    pthread_join(opener, NULL);
}

static int abandon_a_job(void *arg)
{
    coil_task *task;

    (void)arg;
    CHECK_INT(coil_spawn(in_cpu_lane_abandonable, &shared_gate, NULL, &task), 0);
    coil_yield();
    wait_for(&shared_gate.begun);
    coil_task_cancel(task, NULL);
    finish(task, -ECANCELED);
    return 0;
}

TEST(blocking_work_that_is_not_done_within_drain_ns_is_left_to_its_thread)
{
    coil_run_opts opts = {.drain_ns = COIL_MSEC(10)};

    /* the default limit would be too low on a machine with one processor */
    CHECK_INT(coil_executor_set_limit(COIL_LANE_CPU, 2), 0);
    init_gate(&shared_gate);
    CHECK_INT(coil_run(abandon_a_job, NULL, &opts), 0);
    CHECK_INT(shared_gate.discarded, 0);
    /* each loop has its own queue of results */
    CHECK_INT(coil_run(abandon_a_job, NULL, &opts), 0);
    open_gate(&shared_gate, 2);
    while (test_blocks_held() > 0)
        usleep(100);
    CHECK_INT(shared_gate.discarded, 2);
}

static void leave_and_abort(void *arg)
{
    coil_run(abandon_a_job, arg, &(coil_run_opts){.drain_ns = COIL_MSEC(1)});
    abort();
}

TEST(blocking_work_that_is_left_to_its_thread_is_reported)
{
    init_gate(&shared_gate);
    test_dies(leave_and_abort, NULL, "1 abandoned blocking job is not done");
}

/* ---- a loop that closes under tasks that wait for their jobs ----------------------- */

static int wait_in_a_scope(void *arg)
{
    coil_scope scope;

    coil_scope_enter(&scope, coil_in(COIL_SEC(10)));
    return coil_scope_exit(&scope, in_cpu_lane_abandonable(arg));
}

static int fail_as_the_loop_stops(void *arg)
{
    (void)arg;
    return -EIO;
}

/*
 * Wait in a group whose child fails as the loop stops, so the loop closes before the
 * group gets the failure.
 */
static int wait_in_a_group(void *arg)
{
    coil_group group;

    coil_group_enter(&group);
    coil_group_spawn(&group, fail_as_the_loop_stops, NULL, NULL, NULL);
    return coil_group_exit(&group, in_cpu_lane_abandonable(arg));
}

static int ask_for_a_number(void *arg)
{
    return coil_blocking(COIL_LANE_CPU, add_one, arg);
}

static coil_task *waiting_task;

static void cancel_the_waiting(const coil_exception *exception, void *arg)
{
    (void)arg;
    coil_task_cancel(waiting_task, NULL);
    coil_default_exception_handler(exception);
}

struct closing {
    coil_task_fn fn; /* the function that the tasks run */
    bool cancels;    /* the exception handler cancels the waiting task */
};

/* Close the loop while one job is running and another is in the queue. */
static void close_under_waiting_tasks(void *arg)
{
    const struct closing *closing = arg;
    coil_loop *loop;
    int n = 1;

    init_gate(&shared_gate);
    coil_executor_set_limit(COIL_LANE_CPU, 1);
    coil_loop_create(NULL, &loop);
    loop->drain_ns = COIL_MSEC(1);
    if (closing->cancels)
        coil_set_exception_handler(cancel_the_waiting, NULL);
    coil_spawn(closing->fn, &shared_gate, NULL, &waiting_task);
    coil_spawn(closing->fn, &shared_gate, NULL, NULL);
    for (int turn = 0; turn < 2; turn++) {
        coil_loop_stop(loop);
        coil_loop_run_forever(loop);
    }
    wait_for(&shared_gate.begun);
    coil_loop_close(loop);
    if (coil_run(ask_for_a_number, &n, NULL) == 2)
        fprintf(stderr, "the lane goes on\n");
    abort();
}

TEST(blocking_work_of_a_scope_that_the_loops_end_leaves_open)
{
    struct closing closing = {.fn = wait_in_a_scope};

    test_dies(close_under_waiting_tasks, &closing, "the lane goes on");
}

TEST(blocking_work_of_a_group_that_the_loops_end_leaves_open)
{
    struct closing closing = {.fn = wait_in_a_group};

    test_dies(close_under_waiting_tasks, &closing, "the lane goes on");
}

TEST(blocking_work_of_a_task_that_is_cancelled_while_the_loop_closes)
{
    struct closing closing = {.fn = in_cpu_lane_abandonable, .cancels = true};

    test_dies(close_under_waiting_tasks, &closing, "the lane goes on");
}

static coil_var color = COIL_VAR_INIT("color", (void *)"none");

static int get_and_set_color(void *out)
{
    *(const char **)out = coil_var_get(&color);
    return coil_var_set(&color, out, NULL);
}

TASK_TEST(blocking_runs_in_a_copy_of_the_tasks_context)
{
    const char *seen = NULL;

    CHECK_INT(coil_var_set(&color, (void *)(uintptr_t) "red", NULL), 0);
    CHECK_INT(coil_blocking(COIL_LANE_CPU, get_and_set_color, &seen), 0);
    CHECK_STR(seen, "red");
    CHECK_STR(coil_var_get(&color), "red");
}

static int one_job(void *arg)
{
    return coil_blocking(COIL_LANE_CPU, add_one, arg);
}

TEST(blocking_in_one_loop_after_the_other)
{
    int n = 1;

    for (int i = 0; i < 20; i++)
        CHECK_INT(coil_run(one_job, &n, NULL), 2);
}

static void *run_jobs(void *arg)
{
    int n = 1;

    for (int i = 0; i < 50; i++)
        if (coil_run(one_job, &n, NULL) != 2)
            ++*(int *)arg;
    return NULL;
}

TEST(blocking_from_the_loops_of_several_threads)
{
    pthread_t threads[3];
    int wrong[3] = {0, 0, 0};

    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, run_jobs, &wrong[i]);
    for (int i = 0; i < 3; i++) {
        pthread_join(threads[i], NULL);
        CHECK_INT(wrong[i], 0);
    }
}

TEST(blocking_after_fork_uses_threads_of_its_own)
{
    int n = 1, status;
    pid_t child;

    if (COIL__TSAN)
        test_skip("TSan does not support new threads after fork(2)");
    CHECK_INT(coil_run(one_job, &n, NULL), 2);
    child = fork();
    if (child == 0)
        _exit(coil_run(one_job, &n, NULL) == 2 ? 0 : 1);
    CHECK_INT(waitpid(child, &status, 0), child);
    CHECK_INT(status, 0);
    CHECK_INT(coil_run(one_job, &n, NULL), 2);
}

/* ---- custom lanes ------------------------------------------------------------------ */

TASK_TEST(blocking_in_a_lane_of_ones_own)
{
    char name[16] = "";
    struct gate gate;
    coil_lane lane, other, none;
    coil_task *tasks[8];
    int n = 1;

    init_gate(&gate);
    CHECK_INT(coil_executor_create("a long name of a lane", 2, &lane), 0);
    CHECK_INT(coil_executor_create("other", 0, &other), 0);
    CHECK(lane != other);
    CHECK_INT(coil_executor_create("other", 1025, &none), -EINVAL);
    CHECK(none == (coil_lane)-1);
    for (int i = 0; i < 8; i++)
        CHECK_INT(coil_spawn(in_file_lane, &gate, NULL, &tasks[i]), 0);
    coil_yield();
    CHECK_INT(coil_blocking(lane, add_one, &n), 2);
    CHECK_INT(coil_blocking(lane, tell_name, name), 0);
    CHECK_STR(name, "a long name of ");
    CHECK_INT(coil_blocking(other, tell_name, name), 0);
    CHECK_STR(name, "other");
    open_gate(&gate, 8);
    for (int i = 0; i < 8; i++)
        finish(tasks[i], 7);
    coil_executor_destroy(lane);
    coil_executor_destroy(other);
    CHECK_INT(coil_executor_set_limit(lane, 1), -EINVAL);
    CHECK_INT(coil_executor_create("again", 1, &other), 0);
    CHECK_INT(other, lane);
    coil_executor_destroy(other);
}

TEST(blocking_in_more_lanes_than_there_are)
{
    coil_lane made[64], one_more;
    int count = 0;

    while (coil_executor_create("lane", 1, &made[count]) == 0)
        count++;
    CHECK_INT(count, 61);
    CHECK_INT(coil_executor_create("lane", 1, &one_more), -EMFILE);
    while (count > 0)
        coil_executor_destroy(made[--count]);
}

static void destroy_lane(void *arg)
{
    coil_executor_destroy(*(coil_lane *)arg);
}

struct busy_lane {
    coil_lane lane;
    sem_t begun, go_on;
    _Atomic bool destroyed;
};

static int wait_for_go(void *arg)
{
    struct busy_lane *busy = arg;

    sem_post(&busy->begun);
    sem_wait(&busy->go_on);
    return 0;
}

static int block_in_it(void *arg)
{
    struct busy_lane *busy = arg;

    return coil_blocking_abandonable(busy->lane, wait_for_go, busy, NULL);
}

static void *destroy_it(void *arg)
{
    struct busy_lane *busy = arg;

    coil_executor_destroy(busy->lane);
    busy->destroyed = true;
    return NULL;
}

/*
 * Begin to destroy a lane on another thread. A job on the lane keeps the destruction from
 * ending. Return once no thread can retain the lane any more.
 */
static void begin_destroying(struct busy_lane *busy, pthread_t *thread)
{
    coil_task *task;

    sem_init(&busy->begun, 0, 0);
    sem_init(&busy->go_on, 0, 0);
    CHECK_INT(coil_executor_create("busy", 0, &busy->lane), 0);
    CHECK_INT(coil_spawn(block_in_it, busy, NULL, &task), 0);
    coil_yield();
    sem_wait(&busy->begun);
    coil_task_cancel(task, NULL);
    CHECK_INT(coil_task_await(task), -ECANCELED);
    coil_task_release(task);
    CHECK_INT(pthread_create(thread, NULL, destroy_it, busy), 0);
    while (coil_executor_set_limit(busy->lane, 1) == 0)
        sched_yield();
}

TASK_TEST(blocking_lane_that_is_being_destroyed_is_not_started_anew)
{
    static struct busy_lane busy;
    coil_lane other;
    pthread_t thread;

    begin_destroying(&busy, &thread);
    CHECK_INT(coil_executor_set_limit(busy.lane, 5), -EINVAL);
    CHECK_INT(coil_executor_create("other", 1, &other), 0);
    CHECK(other != busy.lane);
    CHECK(!busy.destroyed);
    sem_post(&busy.go_on);
    pthread_join(thread, NULL);
    coil_executor_destroy(other);
}

TEST(blocking_lane_that_is_invalid)
{
    coil_lane file = COIL_LANE_FILE, none = (coil_lane)40, far = (coil_lane)1000;

    test_dies(destroy_lane, &file, "not created by the program");
    test_dies(destroy_lane, &none, "not created by the program");
    test_dies(destroy_lane, &far, "not created by the program");
}
