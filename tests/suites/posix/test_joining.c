/*
 * test_joining.c - joining threads in tasks, and waking the tasks when the threads end.
 */
#include "differential.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>

static sem_t may_end;

static void *end_when_posted(void *arg)
{
    while (sem_wait(&may_end) < 0)
        continue;
    return arg;
}

static int end_when_posted_in_c11(void *arg)
{
    end_when_posted(NULL);
    return *(int *)arg;
}

static pthread_t start_thread(void *arg)
{
    pthread_t thread;

    CHECK_INT(sem_init(&may_end, 0, 0), 0);
    CHECK_INT(pthread_create(&thread, NULL, end_when_posted, arg), 0);
    return thread;
}

static void post(int unused)
{
    (void)unused;
    CHECK_INT(sem_post(&may_end), 0);
}

/* ---- same as outside of tasks ------------------------------------------------------ */

SAME(join_a_thread, true)
{
    pthread_t thread = start_thread(&may_end);
    void *result = NULL;

    later(10, post, 0);
    RECORD(pthread_join(thread, &result));
    record("%s", result == (void *)&may_end ? "its result" : "another");
    RECORD(pthread_join(pthread_self(), NULL));
    finish_later();
}

SAME(join_until_a_point_of_time, true)
{
    struct timespec never = from_now(CLOCK_REALTIME, 1000000), ago = {.tv_sec = -1};
    pthread_t thread = start_thread(&may_end);
    void *result = NULL;

    RECORD_DUE(CLOCK_REALTIME, pthread_timedjoin_np(thread, &result, &due));
    RECORD_DUE(CLOCK_MONOTONIC,
               pthread_clockjoin_np(thread, &result, CLOCK_MONOTONIC, &due));
    RECORD(pthread_timedjoin_np(thread, &result, &ago));
    RECORD(pthread_clockjoin_np(thread, &result, CLOCK_THREAD_CPUTIME_ID, &never));
    later(10, post, 0);
    RECORD(pthread_timedjoin_np(thread, &result, &never));
    record("%s", result == (void *)&may_end ? "its result" : "another");
    finish_later();
}

SAME(join_until_no_time, true)
{
    pthread_t thread = start_thread(NULL);

    later(10, post, 0);
    RECORD(pthread_timedjoin_np(thread, NULL, NULL));
    finish_later();
}

static _Atomic bool destroyed;

static void destroy_slowly(void *unused)
{
    (void)unused;
    usleep(20000);
    destroyed = true;
}

static void *end_with_destructor(void *key)
{
    pthread_setspecific(*(pthread_key_t *)key, key);
    return NULL;
}

SAME(join_comes_after_the_destructors_of_the_thread, true)
{
    pthread_key_t key;
    pthread_t thread;

    destroyed = false;
    CHECK_INT(pthread_key_create(&key, destroy_slowly), 0);
    CHECK_INT(pthread_create(&thread, NULL, end_with_destructor, &key), 0);
    RECORD(pthread_join(thread, NULL));
    RECORD(destroyed);
    CHECK_INT(pthread_key_delete(key), 0);
}

/* ---- in a task --------------------------------------------------------------------- */

struct joining {
    pthread_t thread;
    thrd_t thread_of_c11;
    int rc, number;
    void *result;
};

static int join(void *arg)
{
    struct joining *j = arg;

    j->rc = pthread_join(j->thread, &j->result);
    return coil_sleep(0);
}

/*
 * A task that joins a thread is woken when the thread ends. If the task polled with a
 * timer, the virtual clock would advance.
 */
TASK_TEST(join_is_woken_by_the_end_of_the_thread)
{
    struct joining j = {.thread = start_thread(&j), .rc = -1};
    coil_task *task = start_task(join, &j);

    settle();
    CHECK_INT(j.rc, -1);
    post(0);
    finish_task(task);
    CHECK_INT(j.rc, 0);
    CHECK(j.result == &j);
    CHECK_INT(coil_now(), 0);
}

static int join_until_tomorrow(void *arg)
{
    struct timespec tomorrow = from_now(CLOCK_MONOTONIC, 1000000);
    struct joining *j = arg;

    j->rc = pthread_clockjoin_np(j->thread, &j->result, CLOCK_MONOTONIC, &tomorrow);
    return 0;
}

TASK_TEST(timed_join_is_woken_by_the_end_of_the_thread)
{
    struct joining j = {.thread = start_thread(&j), .rc = -1};
    coil_task *task = start_task(join_until_tomorrow, &j);

    settle();
    post(0);
    finish_task(task);
    CHECK_INT(j.rc, 0);
    CHECK(j.result == &j);
    CHECK_INT(coil_now(), 0);
}

static int join_in_c11(void *arg)
{
    struct joining *j = arg;

    j->rc = thrd_join(j->thread_of_c11, &j->number);
    return 0;
}

TASK_TEST(join_of_c11_is_woken_by_the_end_of_the_thread)
{
    struct joining j = {.rc = -1};
    coil_task *task;
    int number = 42;

    CHECK_INT(sem_init(&may_end, 0, 0), 0);
    CHECK_INT(thrd_create(&j.thread_of_c11, end_when_posted_in_c11, &number),
              thrd_success);
    task = start_task(join_in_c11, &j);
    settle();
    post(0);
    finish_task(task);
    CHECK_INT(j.rc, thrd_success);
    CHECK_INT(j.number, 42);
    CHECK_INT(coil_now(), 0);
}

/*
 * If a task is cancelled while it joins a thread, the join still succeeds, and the next
 * call returns the cancellation.
 */
IO_TEST(join_of_a_cancelled_task_is_finished)
{
    struct joining j = {.thread = start_thread(&j), .rc = -1};
    coil_task *task = start_task(join, &j);

    settle();
    coil_task_cancel(task, NULL);
    settle();
    CHECK_INT(j.rc, -1);
    post(0);
    CHECK_INT(coil_task_await(task), -ECANCELED);
    coil_task_release(task);
    CHECK_INT(j.rc, 0);
    CHECK(j.result == &j);
}

static int join_for_a_moment(void *arg)
{
    struct timespec soon = from_now(CLOCK_REALTIME, 20);
    struct joining *j = arg;

    j->rc = pthread_timedjoin_np(j->thread, &j->result, &soon);
    return 0;
}

IO_TEST(timed_join_of_a_cancelled_task_leaves_the_thread_joinable)
{
    struct joining j = {.thread = start_thread(&j), .rc = -1};
    coil_task *task = start_task(join_for_a_moment, &j);

    coil_yield();
    coil_task_cancel(task, NULL);
    coil_task_await(task);
    coil_task_release(task);
    CHECK_INT(j.rc, ETIMEDOUT);
    post(0);
    CHECK_INT(pthread_join(j.thread, &j.result), 0);
    CHECK(j.result == &j);
}

/*
 * Joins must not occupy all threads that coil has for waiting calls, because system()
 * needs such a thread too.
 */
IO_TEST(joins_in_great_number_leave_room_for_others)
{
    enum { COUNT = 300 };
    static struct joining many[COUNT];
    static coil_task *tasks[COUNT];
    pthread_attr_t small;

    if (test_under_valgrind())
        test_skip("600 threads are too many for Valgrind");
    CHECK_INT(sem_init(&may_end, 0, 0), 0);
    CHECK_INT(pthread_attr_init(&small), 0);
    CHECK_INT(pthread_attr_setstacksize(&small, (size_t)128 * 1024), 0);
    for (int i = 0; i < COUNT; i++) {
        CHECK_INT(pthread_create(&many[i].thread, &small, end_when_posted, NULL), 0);
        tasks[i] = start_task(join, &many[i]);
    }
    coil_sleep(COIL_MSEC(1));
    CHECK_INT(system("exit 0"), 0);
    for (int i = 0; i < COUNT; i++)
        post(0);
    for (int i = 0; i < COUNT; i++)
        finish_task(tasks[i]);
    pthread_attr_destroy(&small);
}

/* ---- without a separate lane ------------------------------------------------------- */

static int join_it(void *thread)
{
    CHECK_INT(pthread_join(*(pthread_t *)thread, NULL), 0);
    return 0;
}

/*
 * Joins must not occupy the eight threads of the file lane, on which coil runs file
 * operations, because they would delay these operations.
 */
TASK_TEST(join_takes_no_thread_of_the_file_lane)
{
    enum { JOINS = 10 };
    pthread_t threads[JOINS];
    coil_task *tasks[JOINS];
    coil_lane lane;

    while (coil_executor_create("other", 1, &lane) == 0)
        continue;
    CHECK_INT(sem_init(&may_end, 0, 0), 0);
    for (int i = 0; i < JOINS; i++) {
        CHECK_INT(pthread_create(&threads[i], NULL, end_when_posted, NULL), 0);
        tasks[i] = start_task(join_it, &threads[i]);
    }
    coil_sleep(COIL_MSEC(20));
    CHECK_INT(fsync(-1), -1);
    CHECK_INT(errno, EBADF);
    CHECK_INT(system("exit 0"), -1);
    CHECK_INT(errno, EAGAIN);
    for (int i = 0; i < JOINS; i++)
        post(0);
    for (int i = 0; i < JOINS; i++)
        finish_task(tasks[i]);
}

/* ---- the lane in debug mode -------------------------------------------------------- */

static void note_complaint(const coil_exception *exception, void *complaint)
{
    if (strstr(exception->message, "coil-posix") != NULL)
        snprintf(complaint, 512, "%s", exception->message);
}

static int run_command(void *complaint)
{
    coil_set_exception_handler(note_complaint, complaint);
    CHECK_INT(system("exit 0"), 0);
    return 0;
}

/*
 * A loop must not report the threads for waiting calls as a leak when it closes, because
 * they belong to the library.
 */
TEST(lane_of_waiting_calls_is_no_leak)
{
    coil_run_opts opts = {.loop = {.debug = true}};
    char complaint[512] = "";

    CHECK_INT(coil_run(run_command, complaint, &opts), 0);
    CHECK_STR(complaint, "");
}
