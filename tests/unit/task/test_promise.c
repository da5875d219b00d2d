/*
 * test_promise.c - results that are passed from one thread to another.
 */
#include "../../harness/harness.h"

#include <coil.h>

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

static coil_promise *create(void)
{
    coil_promise *promise = NULL;

    CHECK_INT(coil_promise_create(&promise), 0);
    return promise;
}

static pthread_t start(void *(*fn)(void *), void *arg)
{
    pthread_t thread;

    CHECK_INT(pthread_create(&thread, NULL, fn, arg), 0);
    return thread;
}

static void nap(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 10 * 1000 * 1000}, NULL);
}

/* ---- without threads --------------------------------------------------------------- */

static int destroyed;

static void count_destroyed(void *value)
{
    destroyed += *(int *)value;
}

TEST(promise_has_one_result)
{
    coil_promise *promise = create();
    int value = 1;

    CHECK(!coil_promise_done(promise));
    CHECK_INT(coil_promise_result(promise), -EINPROGRESS);
    CHECK(coil_promise_value(promise) == NULL);
    CHECK_INT(coil_promise_wait(promise, 0), -ETIMEDOUT);
    CHECK_INT(coil_promise_set(promise, 3, &value, count_destroyed), 0);
    CHECK_INT(coil_promise_set(promise, 4, NULL, NULL), -EALREADY);
    CHECK(!coil_promise_cancel(promise, NULL));
    CHECK_INT(coil_promise_result(promise), 3);
    CHECK_INT(coil_promise_wait(promise, 0), 3);
    CHECK_PTR(coil_promise_value(promise), &value);
    coil_promise_release(promise);
    CHECK_INT(destroyed, 1);
    coil_promise_release(NULL);
}

TEST(promise_value_that_was_taken_is_the_callers)
{
    coil_promise *promise = create();
    int value = 1;

    CHECK_PTR(coil_promise_take_value(promise), NULL);
    CHECK_INT(coil_promise_set(promise, 0, &value, count_destroyed), 0);
    CHECK_PTR(coil_promise_take_value(promise), &value);
    CHECK_PTR(coil_promise_take_value(promise), NULL);
    CHECK_PTR(coil_promise_value(promise), NULL);
    coil_promise_release(promise);
    CHECK_INT(destroyed, 0);
}

TEST(promise_wait_times_out)
{
    coil_promise *promise = create();

    CHECK_INT(coil_promise_wait(promise, COIL_MSEC(1)), -ETIMEDOUT);
    CHECK(coil_promise_cancel(promise, NULL));
    CHECK_INT(coil_promise_wait(promise, COIL_NEVER), -ECANCELED);
    coil_promise_release(promise);
}

static int await_promise(void *promise)
{
    int rc = coil_promise_await(promise);

    test_trace("%d ", rc);
    return rc;
}

TASK_TEST(promise_awaited_by_several_tasks)
{
    coil_promise *promise = create();
    coil_task *a = test_spawn(await_promise, promise),
              *b = test_spawn(await_promise, promise);
    coil_waiting waiting;

    CHECK_INT(coil_yield(), 0);
    CHECK(coil_task_waiting(a, &waiting));
    CHECK_STR(waiting.what, "promise");
    CHECK_PTR(waiting.object, promise);
    CHECK_INT(coil_promise_set(promise, 5, NULL, NULL), 0);
    CHECK_INT(coil_yield(), 0); /* this turn runs the posts */
    CHECK_TRACE("");
    CHECK_INT(coil_yield(), 0); /* this turn runs the tasks */
    CHECK_TRACE("5 5 ");
    CHECK_INT(test_join(a), 5);
    CHECK_INT(test_join(b), 5);
    CHECK_INT(coil_promise_await(promise), 5);
    coil_promise_release(promise);
}

TASK_TEST(promise_await_is_cancelled_and_cancels)
{
    coil_promise *promise = create();
    coil_task *a = test_spawn(await_promise, promise),
              *b = test_spawn(await_promise, promise);

    CHECK_INT(coil_yield(), 0);
    CHECK(coil_task_cancel(a, "enough"));
    /* the promise is not cancelled until the task continues */
    CHECK(!coil_promise_done(promise));
    CHECK_INT(test_join(a), -ECANCELED);
    CHECK_INT(coil_promise_result(promise), -ECANCELED);
    CHECK_INT(test_join(b), -ECANCELED);
    CHECK_TRACE("-125 -125 ");
    coil_promise_release(promise);
}

TASK_TEST(promise_set_and_then_the_awaiter_cancelled)
{
    coil_promise *promise = create();
    coil_task *task = test_spawn(await_promise, promise);

    CHECK_INT(coil_yield(), 0);
    CHECK_INT(coil_promise_set(promise, 5, NULL, NULL), 0);
    coil_task_cancel(task, NULL); /* withdraws the post, which has not arrived yet */
    CHECK_INT(test_join(task), -ECANCELED);
    CHECK_TRACE("-125 ");
    CHECK_INT(coil_promise_result(promise), 5);
    coil_promise_release(promise);
}

TASK_TEST(promise_await_by_a_task_that_was_told_is_refused)
{
    coil_promise *promise = create();

    coil_task_cancel(coil_task_current(), NULL);
    CHECK_INT(coil_yield(), -ECANCELED);
    CHECK_INT(coil_promise_await(promise), -ECANCELED);
    CHECK(!coil_promise_done(promise));
    coil_cancel_caught();
    coil_uncancel();
    coil_promise_release(promise);
}

static int wait_in_loop(void *promise)
{
    return coil_promise_wait(promise, COIL_NEVER);
}

static void run_wait_in_loop(void *promise)
{
    coil_run(wait_in_loop, promise, NULL);
}

TEST(promise_wait_would_stop_a_running_loop)
{
    coil_promise *promise = create();

    test_dies(run_wait_in_loop, promise, "the call would block the loop of this thread");
    CHECK_INT(coil_promise_set(promise, 7, NULL, NULL), 0);
    CHECK_INT(coil_run(wait_in_loop, promise, NULL), 7);
    coil_promise_release(promise);
}

/* ---- set by a thread --------------------------------------------------------------- */

static void *set_nine(void *promise)
{
    nap();
    coil_promise_set(promise, 9, NULL, NULL);
    coil_promise_release(promise);
    return NULL;
}

IO_TEST(promise_of_a_thread_awaited_in_a_task)
{
    coil_promise *promise = create();
    pthread_t thread = start(set_nine, coil_promise_retain(promise));

    CHECK_INT(coil_promise_await(promise), 9);
    pthread_join(thread, NULL);
    coil_promise_release(promise);
}

TEST(promise_of_a_thread_waited_for_by_another)
{
    coil_promise *promise = create();
    pthread_t thread = start(set_nine, coil_promise_retain(promise));

    CHECK_INT(coil_promise_wait(promise, COIL_SEC(15)), 9);
    pthread_join(thread, NULL);
    coil_promise_release(promise);
}

#define ROUNDS 200

static void *set_many(void *arg)
{
    coil_promise **promises = arg;

    for (int i = 0; i < ROUNDS; i++) {
        coil_promise_set(promises[i], i, NULL, NULL);
        coil_promise_release(promises[i]);
    }
    return NULL;
}

/* No result must be lost, whether the result or the cancellation comes first. */
IO_TEST(promises_set_while_their_awaiters_are_cancelled)
{
    coil_promise *promises[ROUNDS];
    coil_task *tasks[ROUNDS];
    pthread_t thread;

    for (int i = 0; i < ROUNDS; i++) {
        promises[i] = create();
        tasks[i] = test_spawn(await_promise, promises[i]);
    }
    CHECK_INT(coil_yield(), 0);
    for (int i = 0; i < ROUNDS; i++)
        coil_promise_retain(promises[i]);
    thread = start(set_many, promises);
    for (int i = ROUNDS; i-- > 0;)
        coil_task_cancel(tasks[i], NULL);
    for (int i = 0; i < ROUNDS; i++) {
        int rc = test_join(tasks[i]), result = coil_promise_result(promises[i]);

        CHECK(rc == i || rc == -ECANCELED);
        CHECK(result == i || result == -ECANCELED);
        coil_promise_release(promises[i]);
    }
    pthread_join(thread, NULL);
    test_trace_clear();
}

/* ---- tasks from other threads ------------------------------------------------------ */

struct remote {
    coil_loop *loop;
    int rc; /* the result of the thread's call */
    int numbers[2];
    coil_future *leave; /* completed by a post when the other thread has finished */
};

static void let_leave(void *arg)
{
    struct remote *remote = arg;

    coil_future_set(remote->leave, 0, NULL, NULL);
}

/* Run `fn` on another thread, and wait until it has finished. */
static int beside(void *(*fn)(void *), struct remote *remote)
{
    pthread_t thread;
    int rc;

    remote->loop = coil_loop_retain(coil_loop_current());
    CHECK_INT(coil_future_create(&remote->leave), 0);
    thread = start(fn, remote);
    rc = coil_await(remote->leave);
    CHECK_INT(rc, 0);
    pthread_join(thread, NULL);
    coil_future_release(remote->leave);
    for (int i = 0; i < 4; i++)
        /* let recently cancelled tasks end */
        CHECK_INT(coil_yield(), 0);
    return remote->rc;
}

static void *end_remote(struct remote *remote)
{
    CHECK_INT(coil_post(remote->loop, let_leave, remote), 0);
    coil_loop_release(remote->loop);
    return NULL;
}

static int add(void *arg)
{
    int *numbers = arg;
    int rc = coil_sleep(COIL_MSEC(1));

    test_trace("%s ", coil_task_name(coil_task_current()));
    return rc < 0 ? rc : numbers[0] + numbers[1];
}

static void *spawn_add(void *arg)
{
    struct remote *remote = arg;
    int numbers[2] = {20, 22};
    coil_spawn_opts opts = {.name = "adder", .arg_bytes = sizeof numbers};
    coil_promise *promise;

    CHECK_INT(coil_spawn_threadsafe(remote->loop, add, numbers, &opts, &promise), 0);
    numbers[0] = 0;
    remote->rc = coil_promise_wait(promise, COIL_SEC(15));
    coil_promise_release(promise);
    return end_remote(remote);
}

IO_TEST(spawn_threadsafe_runs_a_task_on_the_loop)
{
    struct remote remote = {.rc = 0};

    CHECK_INT(beside(spawn_add, &remote), 42);
    CHECK_TRACE("adder ");
}

static int sleep_long(void *arg)
{
    int rc;

    (void)arg;
    test_trace("begun ");
    rc = coil_sleep(COIL_SEC(100));
    test_trace("%d %s ", rc, coil_cancel_reason());
    return rc;
}

static void *spawn_and_cancel(void *arg)
{
    struct remote *remote = arg;
    coil_promise *promise;

    CHECK_INT(coil_spawn_threadsafe(remote->loop, sleep_long, NULL, NULL, &promise), 0);
    CHECK_INT(coil_promise_wait(promise, COIL_MSEC(20)), -ETIMEDOUT);
    CHECK(coil_promise_cancel(promise, "no longer"));
    remote->rc = coil_promise_wait(promise, COIL_NEVER);
    coil_promise_release(promise);
    return end_remote(remote);
}

IO_TEST(spawn_threadsafe_cancelled_by_its_promise)
{
    struct remote remote = {.rc = 0};

    CHECK_INT(beside(spawn_and_cancel, &remote), -ECANCELED);
    CHECK_TRACE("begun -125 no longer ");
}

static void *spawn_and_cancel_at_once(void *arg)
{
    struct remote *remote = arg;

    for (int i = 0; i < ROUNDS; i++) {
        coil_promise *promise;

        CHECK_INT(coil_spawn_threadsafe(remote->loop, sleep_long, NULL, NULL, &promise),
                  0);
        CHECK(coil_promise_cancel(promise, NULL));
        coil_promise_release(promise);
    }
    return end_remote(remote);
}

static int count_task(coil_task *task, void *count)
{
    (void)task;
    ++*(int *)count;
    return 0;
}

IO_TEST(spawn_threadsafe_cancelled_before_it_is_started_runs_all_the_same)
{
    struct remote remote = {.rc = 0};
    int count = 0;

    beside(spawn_and_cancel_at_once, &remote);
    CHECK_INT(coil_task_each(count_task, &count), 0);
    CHECK_INT(count, 1); /* only this task is left */
    CHECK(strncmp(test_trace_text(), "begun ", 6) == 0);
    test_trace_clear();
}

TASK_TEST(spawn_threadsafe_within_the_thread)
{
    int numbers[2] = {1, 2};
    coil_spawn_opts eager = {.eager = true, .name = "eager"};
    coil_promise *promise;

    CHECK_INT(coil_spawn_threadsafe(coil_loop_current(), add, numbers, &eager, &promise),
              0);
    CHECK_INT(coil_promise_await(promise), 3);
    coil_promise_release(promise);
    CHECK_INT(coil_spawn_threadsafe(coil_loop_current(), add, numbers, NULL, NULL), 0);
    CHECK_INT(coil_sleep(COIL_SEC(1)), 0);
    CHECK_TRACE("eager task-3 ");
}

static coil_var color = COIL_VAR_INIT("color", (void *)"none");

static int get_color(void *arg)
{
    (void)arg;
    test_trace("%s ", (const char *)coil_var_get(&color));
    return 0;
}

static void *spawn_with_context(void *arg)
{
    struct remote *remote = arg;
    coil_promise *promise;

    CHECK_INT(coil_var_set(&color, (void *)(uintptr_t) "red", NULL), 0);
    CHECK_INT(coil_spawn_threadsafe(remote->loop, get_color, NULL, NULL, &promise), 0);
    remote->rc = coil_promise_wait(promise, COIL_NEVER);
    coil_promise_release(promise);
    return end_remote(remote);
}

TASK_TEST(spawn_threadsafe_carries_the_context)
{
    struct remote remote = {.rc = 0};

    CHECK_INT(beside(spawn_with_context, &remote), 0);
    CHECK_TRACE("red ");
}

/* ---- loops that close -------------------------------------------------------------- */

TEST(spawn_threadsafe_on_a_loop_that_closes_or_has_closed)
{
    coil_promise *never_begun, *begun, *none;
    coil_loop *loop;

    CHECK_INT(coil_loop_create(NULL, &loop), 0);
    coil_loop_retain(loop);
    CHECK_INT(coil_spawn_threadsafe(loop, get_color, NULL, NULL, &never_begun), 0);
    coil_loop_close(loop);
    CHECK_INT(coil_promise_wait(never_begun, 0), -ESHUTDOWN);
    coil_promise_release(never_begun);
    CHECK_INT(coil_spawn_threadsafe(loop, get_color, NULL, NULL, &none), -ESHUTDOWN);
    coil_loop_release(loop);

    CHECK_INT(coil_loop_create(NULL, &loop), 0);
    CHECK_INT(coil_spawn_threadsafe(loop, get_color, NULL, NULL, &begun), 0);
    coil_loop_stop(loop);
    CHECK_INT(coil_loop_run_forever(loop), 0); /* the task is spawned, but has not run */
    coil_loop_close(loop);
    CHECK_INT(coil_promise_wait(begun, 0), -ESHUTDOWN);
    coil_promise_release(begun);
    CHECK_TRACE("");
}

TASK_TEST(promises_without_memory)
{
    coil_promise *promise;

    test_fail_allocation(1);
    CHECK_INT(coil_promise_create(&promise), -ENOMEM);
    test_fail_allocation(1);
    CHECK_INT(coil_spawn_threadsafe(coil_loop_current(), get_color, NULL, NULL, &promise),
              -ENOMEM);
    test_fail_allocation(0);
    CHECK_INT(coil_spawn_threadsafe(coil_loop_current(), get_color, NULL,
                                    &(coil_spawn_opts){.arg_bytes = 4096}, &promise),
              -EINVAL);
    CHECK_INT(coil_spawn_threadsafe(coil_loop_current(), get_color, NULL,
                                    &(coil_spawn_opts){.stack_bytes = SIZE_MAX},
                                    &promise),
              0);
    CHECK_INT(coil_promise_await(promise), -EINVAL);
    coil_promise_release(promise);
}
