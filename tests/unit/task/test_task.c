/*
 * test_task.c - spawning tasks, waiting for them, and cancelling them. (docs/seeds.md,
 * rows 64 to 70, 82, 85)
 */
#include "../../harness/harness.h"

#include "../../../src/base/compiler.h"

#include <coil.h>

#include <pthread.h>

#include <string.h>
#include <unistd.h>

static const char *name(void)
{
    return coil_task_name(coil_task_current());
}

static coil_task *spawn(coil_task_fn fn, void *arg, const char *task_name)
{
    coil_task *task;

    CHECK_INT(coil_spawn(fn, arg, &(coil_spawn_opts){.name = task_name}, &task), 0);
    return task;
}

static int note(void *arg)
{
    test_trace("%s ", (const char *)arg);
    return 0;
}

TASK_TEST(spawn_never_runs_the_body_itself)
{
    coil_spawn(note, "a", NULL, NULL);
    coil_spawn(note, "b", NULL, NULL);
    CHECK_TRACE("");
    CHECK_INT(coil_yield(), 0);
    CHECK_TRACE("a b ");
}

static int add_one(void *arg)
{
    return *(int *)arg + 1;
}

TASK_TEST(a_task_is_a_future_of_its_result)
{
    int n = 41;
    coil_task *task = spawn(add_one, &n, "t");

    CHECK_INT(coil_future_get_state(coil_task_future(task)), COIL_PENDING);
    CHECK_INT(coil_task_await(task), 42);
    CHECK_INT(coil_task_await(task), 42);
    CHECK_INT(coil_future_result(coil_task_future(task)), 42);
    CHECK(!coil_task_cancel(task, NULL));
    coil_task_release(task);
}

TASK_TEST(arguments_are_copied_to_the_stack_of_the_task)
{
    int n = 9;
    coil_task *task;

    CHECK_INT(coil_spawn(add_one, &n, &(coil_spawn_opts){.arg_bytes = sizeof n}, &task),
              0);
    n = 0;
    CHECK_INT(test_join(task), 10);
    CHECK_INT(coil_spawn(add_one, &n, &(coil_spawn_opts){.arg_bytes = 4000}, &task),
              -EINVAL);
}

static int say_name(void *arg)
{
    (void)arg;
    test_trace("%s ", name());
    coil_task_set_name(coil_task_current(),
                       "a name that is longer than there is room for");
    test_trace("%s ", name());
    return 0;
}

TASK_TEST(tasks_have_names)
{
    CHECK_STR(name(), "main");
    CHECK_INT(test_join(spawn(say_name, NULL, "given")), 0);
    CHECK_TRACE("given a name that is longer than ther ");
    CHECK_INT(coil_spawn(say_name, NULL, NULL, NULL), 0);
    coil_yield();
    CHECK(strncmp(test_trace_text(), "task-", 5) == 0);
    test_trace_clear();
}

static int sleeper(void *arg)
{
    int64_t *ms = arg;
    int rc = coil_sleep(COIL_MSEC(*ms));

    test_trace("%s:%d@%ld ", name(), rc, (long)(coil_now() / COIL_MSEC(1)));
    return rc;
}

static int use_stack(void *bytes)
{
    volatile char *frame = __builtin_alloca((size_t)(uintptr_t)bytes);

    frame[0] = 1;
    coil_yield();
    return frame[0];
}

/*
 * Check the measured peak of stack use, which may exceed `used` by 8 KiB for coil's own
 * frames, and by two pages, because whole pages are counted.
 */
static void check_peak(coil_task *task, ssize_t used)
{
    ssize_t page = sysconf(_SC_PAGESIZE), peak = coil_task_stack_peak(task);

    CHECK(peak >= used);
    CHECK(peak <= used + 8192 + 2 * page);
}

TASK_TEST(stack_peak_is_each_tasks_own_while_it_runs_and_after)
{
    static const ssize_t used[] = {90000, 1000, 40000, 2000};
    coil_task *task;

    if (COIL__ASAN || COIL__TSAN || test_under_valgrind())
        test_skip("the tool makes frames larger");
    CHECK(coil_task_stack_peak(coil_task_current()) > 0);
    for (size_t i = 0; i < sizeof used / sizeof *used; i++) {
        CHECK_INT(coil_spawn(use_stack, (void *)used[i], NULL, &task), 0);
        coil_yield();
        check_peak(task, used[i]);
        CHECK_INT(coil_task_await(task), 1);
        check_peak(task, used[i]);
        coil_task_release(task);
    }
}

TASK_TEST(sleeping_tasks_wake_by_deadline)
{
    int64_t ms[] = {30, 10, 20, 10};
    coil_task *t[4];

    for (int i = 0; i < 4; i++)
        t[i] = spawn(sleeper, &ms[i], (char[]){(char)('a' + i), 0});
    for (int i = 0; i < 4; i++)
        CHECK_INT(test_join(t[i]), 0);
    CHECK_TRACE("b:0@10 d:0@10 c:0@20 a:0@30 ");
}

TASK_TEST(a_sleep_of_nothing_is_a_yield)
{
    coil_spawn(note, "other", NULL, NULL);
    CHECK_INT(coil_sleep(0), 0);
    CHECK_TRACE("other ");
    CHECK_INT(coil_sleep(-COIL_SEC(1)), 0);
    CHECK_INT(coil_now(), 0);
    CHECK_INT(coil_sleep_until(COIL_MSEC(7)), 0);
    CHECK_INT(coil_now(), COIL_MSEC(7));
    CHECK_INT(coil_sleep_until(COIL_MSEC(3)), 0);
    CHECK_INT(coil_now(), COIL_MSEC(7));
}

/*
 * Sleep for 0.1 s five times. Five of these tasks together take 0.5 s. (docs/seeds.md,
 * row 33)
 */
static int sleepy(void *arg)
{
    for (int i = 0; i < 5; i++) {
        int rc = coil_sleep(COIL_MSEC(100));

        if (rc < 0)
            return rc;
        test_trace("%s", (const char *)arg);
    }
    return 0;
}

TASK_TEST(five_sleepy_coroutines_take_as_long_as_one)
{
    static const char *const names[] = {"0", "1", "2", "3", "4"};
    coil_future *futures[5];
    coil_task *tasks[5];

    for (int i = 0; i < 5; i++) {
        tasks[i] = spawn(sleepy, (void *)names[i], NULL);
        futures[i] = coil_task_future(tasks[i]);
    }
    CHECK_INT(coil_gather(futures, 5, 0, NULL), 0);
    CHECK_INT(coil_now(), COIL_MSEC(500));
    CHECK_TRACE("0123401234012340123401234");
    for (int i = 0; i < 5; i++)
        coil_task_release(tasks[i]);
}

/* ---- cancellation ------------------------------------------------------------------ */

static int64_t long_time = 1000;

TASK_TEST(cancelled_before_the_first_step_never_runs)
{
    coil_task *t = spawn(note, "ran", "t");

    CHECK(coil_task_cancel(t, NULL));
    CHECK_INT(test_join(t), -ECANCELED);
    CHECK_TRACE("");
}

TASK_TEST(cancelled_while_sleeping_leaves_no_timer)
{
    coil_task *t = spawn(sleeper, &long_time, "t");

    coil_yield();
    CHECK(coil_task_cancel(t, NULL));
    CHECK_INT(test_join(t), -ECANCELED);
    CHECK_TRACE("t:-125@0 ");
    coil_stats stats;
    coil_stats_get(&stats);
    CHECK_INT(stats.timers, 0);
}

static int await_task(void *arg)
{
    int rc = coil_task_await(arg);

    test_trace("%s:%d ", name(), rc);
    return rc;
}

TASK_TEST(cancellation_is_passed_on_down_a_chain)
{
    coil_task *c = spawn(sleeper, &long_time, "c");
    coil_task *b = spawn(await_task, c, "b");
    coil_task *a = spawn(await_task, b, "a");

    coil_yield();
    coil_task_cancel(a, NULL);
    CHECK_INT(coil_task_await(a), -ECANCELED);
    CHECK_TRACE("c:-125@0 b:-125 a:-125 ");
    CHECK(coil_future_cancelled(coil_task_future(c)));
    CHECK_INT(coil_task_cancelling(c), 1);
    coil_task_release(a);
    coil_task_release(b);
    coil_task_release(c);
}

static int swallow(void *arg)
{
    (void)arg;
    CHECK_INT(coil_sleep(COIL_SEC(1)), -ECANCELED);
    coil_cancel_caught();
    CHECK_INT(coil_sleep(COIL_MSEC(5)), 0);
    return 3;
}

TASK_TEST(a_child_that_catches_the_cancellation_returns_its_result_to_its_parent)
{
    coil_task *child = spawn(swallow, NULL, "child");
    coil_task *parent = spawn(await_task, child, "parent");

    coil_yield();
    coil_task_cancel(parent, NULL);
    CHECK_INT(coil_task_await(parent), 3);
    CHECK_INT(coil_task_cancelling(parent), 1);
    CHECK_TRACE("parent:3 ");
    coil_task_release(child);
    coil_task_release(parent);
}

static int cancel_myself(void *arg)
{
    (void)arg;
    CHECK(coil_task_cancel(coil_task_current(), "me"));
    CHECK_INT(coil_task_cancelling(coil_task_current()), 1);
    CHECK_STR(coil_cancel_reason(), "me");
    test_trace("still here ");
    CHECK_INT(coil_yield(), -ECANCELED);
    return -ECANCELED;
}

TASK_TEST(cancelling_oneself_takes_effect_at_the_next_wait)
{
    CHECK_INT(test_join(spawn(cancel_myself, NULL, "t")), -ECANCELED);
    CHECK_TRACE("still here ");
}

static int cancel_myself_and_return(void *arg)
{
    (void)arg;
    coil_task_cancel(coil_task_current(), NULL);
    return 5;
}

static int cancel_and_uncancel(void *arg)
{
    (void)arg;
    coil_task_cancel(coil_task_current(), NULL);
    CHECK_INT(coil_uncancel(), 0);
    CHECK_INT(coil_yield(), 0); /* the request is no longer counted or pending */
    return 6;
}

TASK_TEST(cancelled_just_before_the_body_returns)
{
    CHECK_INT(test_join(spawn(cancel_myself_and_return, NULL, "t")), -ECANCELED);
    CHECK_INT(test_join(spawn(cancel_and_uncancel, NULL, "t")), 6);
}

static int await_future(void *arg)
{
    int rc = coil_await(arg);

    test_trace("%s:%d ", name(), rc);
    return rc;
}

TASK_TEST(cancelled_in_the_turn_in_which_it_was_woken)
{
    coil_future *f;
    coil_task *t;

    coil_future_create(&f);
    t = spawn(await_future, f, "t");
    coil_yield();
    coil_future_set(f, 1, NULL, NULL);
    CHECK(coil_task_cancel(t, NULL));
    CHECK_INT(test_join(t), -ECANCELED);
    CHECK_TRACE("t:-125 ");
    coil_future_release(f);
}

/*
 * Ignore return codes, as C code may. So after a cancellation was delivered, every wait
 * must fail with -ECANCELED until the cancellation is caught.
 */
static int forgetful(void *arg)
{
    coil_sleep(COIL_SEC(1));
    for (int i = 0; i < 3; i++)
        test_trace("%d ", coil_sleep(COIL_SEC(1)));
    test_trace("%d ", coil_await(arg));
    coil_cancel_caught();
    test_trace("%d ", coil_sleep(COIL_MSEC(1)));
    return 0;
}

TASK_TEST(a_delivered_cancellation_is_repeated_until_caught)
{
    coil_future *f;
    coil_task *t;

    coil_future_create(&f);
    t = spawn(forgetful, f, "t");
    coil_yield();
    coil_task_cancel(t, NULL);
    CHECK_INT(test_join(t), 0);
    CHECK_TRACE("-125 -125 -125 -125 0 ");
    /* the future that the task tried to await is not affected */
    CHECK(!coil_future_done(f));
    CHECK_INT(coil_now(), COIL_MSEC(1));
    coil_future_release(f);
}

static int deaf(void *arg)
{
    while (!*(bool *)arg)
        coil_sleep(COIL_SEC(1));
    return 0;
}

TASK_TEST(a_task_that_ignores_its_cancellation_blocks_no_other)
{
    bool enough = false;
    coil_task *t = spawn(deaf, &enough, "deaf one");

    coil_yield();
    coil_task_cancel(t, NULL);
    for (int i = 0; i < 2000; i++)
        CHECK_INT(coil_yield(), 0);
    CHECK_INT(coil_now(), 0);
    enough = true;
    CHECK_INT(test_join(t), 0);
}

static int count_requests(void *arg)
{
    (void)arg;
    for (int i = 0; i < 2; i++) {
        CHECK_INT(coil_sleep(COIL_SEC(1)), -ECANCELED);
        coil_cancel_caught();
    }
    CHECK_INT(coil_task_cancelling(coil_task_current()), 2);
    CHECK_INT(coil_uncancel(), 1);
    CHECK_INT(coil_uncancel(), 0);
    CHECK_INT(coil_uncancel(), 0);
    return 1;
}

TASK_TEST(requests_are_counted_apart_from_deliveries)
{
    coil_task *t = spawn(count_requests, NULL, "t");

    coil_yield();
    coil_task_cancel(t, NULL);
    coil_yield();
    coil_task_cancel(t, NULL);
    CHECK_INT(test_join(t), 1);
}

/* ---- parking ----------------------------------------------------------------------- */

static int park(void *arg)
{
    int rc = coil_park();

    (void)arg;
    test_trace("%s:%d ", name(), rc);
    return rc;
}

TASK_TEST(parked_tasks_are_unparked_or_cancelled)
{
    coil_task *a = spawn(park, NULL, "a"), *b = spawn(park, NULL, "b");

    CHECK_INT(coil_unpark(a, 1), -EALREADY);
    coil_yield();
    CHECK_INT(coil_unpark(a, 1), 0);
    CHECK_INT(coil_unpark(a, 2), -EALREADY);
    coil_task_cancel(b, NULL);
    CHECK_INT(coil_unpark(b, 2), -EALREADY);
    CHECK_INT(test_join(a), 1);
    CHECK_INT(test_join(b), -ECANCELED);
    CHECK_TRACE("a:1 b:-125 ");
}

/* A custom awaitable. (docs/seeds.md, rows 21, 22, 29, 83) */
struct async_sleep {
    coil_awaitable awaitable;
    int64_t until;
    coil_task *task;
};

static void wake_async_sleep(void *arg)
{
    coil_unpark(((struct async_sleep *)arg)->task, 0);
}

static int async_sleep_await(void *self)
{
    struct async_sleep *s = self;
    coil_handle *timer;
    int rc;

    s->task = coil_task_current();
    rc = coil_call_at(s->until, wake_async_sleep, s, &timer);
    if (rc < 0)
        return rc;
    rc = coil_park();
    coil_handle_cancel(timer);
    coil_handle_release(timer);
    return rc;
}

TASK_TEST(an_awaitable_of_ones_own)
{
    struct async_sleep s = {{async_sleep_await}, COIL_MSEC(12), NULL};

    CHECK_INT(coil_awaitable_await(&s.awaitable), 0);
    CHECK_INT(coil_now(), COIL_MSEC(12));
}

/*
 * The implementation of an awaitable can be replaced without changing its callers.
 * (docs/seeds.md, row 27)
 */
static void set_to_five(void *future)
{
    coil_future_set(future, 5, NULL, NULL);
}

static int get_by_a_future(void)
{
    coil_future *future;
    int rc = coil_future_create(&future);

    if (rc == 0)
        rc = coil_call_later(COIL_MSEC(10), set_to_five, future, NULL);
    if (rc == 0)
        rc = coil_await(future);
    coil_future_release(future);
    return rc;
}

static int get_by_itself(void)
{
    int rc = coil_sleep(COIL_MSEC(10));

    return rc < 0 ? rc : 5;
}

TASK_TEST(a_function_may_await_a_future_or_do_the_work_itself)
{
    int (*const ways[])(void) = {get_by_a_future, get_by_itself};

    for (int i = 0; i < 2; i++) {
        int64_t begin = coil_now();

        CHECK_INT(ways[i](), 5);
        CHECK_INT(coil_now() - begin, COIL_MSEC(10));
    }
}

/* ---- all and current --------------------------------------------------------------- */

static int trace_name(coil_task *task, void *arg)
{
    (void)arg;
    test_trace("%s ", coil_task_name(task));
    return 0;
}

static void check_no_current(void *arg)
{
    *(bool *)arg = coil_task_current() == NULL;
}

TASK_TEST(current_and_all_tasks)
{
    bool none = false;
    coil_task *a = spawn(park, NULL, "a"), *b = spawn(note, "x", "b");

    coil_task_each(trace_name, NULL);
    CHECK_TRACE("main a b ");
    coil_call_soon(check_no_current, &none, NULL);
    coil_yield();
    CHECK(none);
    CHECK_INT(test_join(b), 0);
    CHECK_TRACE("x ");
    coil_task_each(trace_name, NULL);
    CHECK_TRACE("main a ");
    coil_unpark(a, 0);
    CHECK_INT(test_join(a), 0);
    test_trace_clear();
}

TASK_TEST(releasing_a_running_task_does_not_stop_it)
{
    coil_task *t = spawn(sleeper, &(int64_t){5}, "t");

    coil_task_release(t);
    CHECK_INT(coil_sleep(COIL_MSEC(10)), 0);
    CHECK_TRACE("t:0@5 ");
}

static int set_errno(void *arg)
{
    errno = *(int *)arg;
    for (int i = 0; i < 3; i++) {
        coil_yield();
        CHECK_INT(errno, *(int *)arg);
    }
    return 0;
}

TASK_TEST(errno_is_the_tasks_own)
{
    int one = ENOENT, two = EAGAIN;
    coil_task *a = spawn(set_errno, &one, "a"), *b = spawn(set_errno, &two, "b");

    CHECK_INT(test_join(a), 0);
    CHECK_INT(test_join(b), 0);
}

static void clobber_errno(void *arg)
{
    errno = EPROTO;
    --*(int *)arg;
}

/*
 * The system calls with which the loop collects posts while a task waits must not change
 * the task's errno.
 */
IO_TEST(errno_survives_posts_that_are_collected_while_the_task_waits)
{
    int left = 0;

    for (int i = 0; i < 300; i++) {
        CHECK_INT(coil_post(coil_loop_current(), clobber_errno, &left), 0);
        left++;
        errno = ENOENT;
        CHECK_INT(i % 2 == 0 ? coil_yield() : coil_sleep(1), 0);
        CHECK_INT(errno, ENOENT);
    }
    while (left > 0)
        CHECK_INT(coil_yield(), 0);
}

TASK_TEST(spawn_without_memory_is_an_error_return)
{
    coil_task *t;
    int rc;

    rc = coil_spawn(note, "x", &(coil_spawn_opts){.stack_bytes = (size_t)1 << 40}, &t);
    CHECK(rc == -ENOMEM || rc == -EINVAL);
    CHECK_INT(coil_sleep(1), 0);
}

static int await_the_next(void *arg)
{
    coil_task **next = arg;

    return *next != NULL ? coil_task_await(*next) : coil_sleep(COIL_SEC(1));
}

#define CHAIN 20000

static int cancel_it(void *arg)
{
    CHECK(coil_task_cancel(arg, "chain"));
    return 0;
}

/*
 * A task with a stack of the usual size cancels the chain, because the main stack is
 * large enough to hide a recursion.
 */
TASK_TEST(cancelling_down_a_chain_of_twenty_thousand_needs_no_deep_stack)
{
    static coil_task *chain[CHAIN + 1];

    for (int i = CHAIN; i-- > 0;)
        chain[i] = spawn(await_the_next, &chain[i + 1], NULL);
    coil_sleep(1);
    CHECK_INT(test_join(spawn(cancel_it, chain[0], NULL)), 0);
    CHECK_INT(coil_task_cancelling(chain[CHAIN - 1]), 1);
    CHECK_INT(coil_task_await(chain[0]), -ECANCELED);
    for (int i = 0; i < CHAIN; i++)
        CHECK_INT(test_join(chain[i]), -ECANCELED);
}

/* ---- mistakes ---------------------------------------------------------------------- */

static int await_myself(void *arg)
{
    (void)arg;
    return coil_await(coil_task_future(coil_task_current()));
}

static void run_await_myself(void *arg)
{
    (void)arg;
    coil_run(await_myself, NULL, NULL);
}

static void suspend_in_callback(void *arg)
{
    (void)arg;
    coil_sleep(1);
}

static int call_that(void *arg)
{
    (void)arg;
    coil_call_soon(suspend_in_callback, NULL, NULL);
    return coil_yield();
}

static void run_suspend_in_callback(void *arg)
{
    (void)arg;
    coil_run(call_that, NULL, NULL);
}

static int run_inside(void *arg)
{
    (void)arg;
    return coil_run(note, "x", NULL);
}

static void run_run_inside(void *arg)
{
    (void)arg;
    coil_run(run_inside, NULL, NULL);
}

static int shield_myself(void *arg)
{
    (void)arg;
    return coil_shield(coil_task_future(coil_task_current()));
}

static int gather_myself(void *arg)
{
    coil_future *self = coil_task_future(coil_task_current());

    (void)arg;
    return coil_gather(&self, 1, 0, NULL);
}

static int wait_for_myself(void *arg)
{
    coil_future *self = coil_task_future(coil_task_current());

    (void)arg;
    return coil_wait(&self, 1, COIL_WAIT_ALL, COIL_NEVER);
}

static void run_shield_myself(void *arg)
{
    (void)arg;
    coil_run(shield_myself, NULL, NULL);
}

static void run_gather_myself(void *arg)
{
    (void)arg;
    coil_run(gather_myself, NULL, NULL);
}

static void run_wait_for_myself(void *arg)
{
    (void)arg;
    coil_run(wait_for_myself, NULL, NULL);
}

static int await_in_a_circle(void *arg)
{
    coil_task *pair[2], *outside;

    (void)arg;
    coil_spawn(await_the_next, &pair[1], &(coil_spawn_opts){.name = "one"}, &pair[0]);
    coil_spawn(await_the_next, &pair[0], &(coil_spawn_opts){.name = "two"}, &pair[1]);
    coil_spawn(await_the_next, &pair[0], NULL, &outside);
    coil_sleep(1);
    coil_task_cancel(outside, NULL);
    return 0;
}

static void run_await_in_a_circle(void *arg)
{
    (void)arg;
    coil_run(await_in_a_circle, NULL, NULL);
}

/* Sleep repeatedly, ignoring the cancellation. The program must abort with a message. */
static int sleep_on_and_on(void *arg)
{
    (void)arg;
    coil_task_cancel(coil_task_current(), NULL);
    for (int i = 0; i < 2000; i++)
        coil_sleep(COIL_SEC(1));
    abort();
}

static void run_sleep_on_and_on(void *arg)
{
    (void)arg;
    coil_run(sleep_on_and_on, NULL, NULL);
}

static void *cancel_from_here(void *task)
{
    coil_task_cancel(task, NULL);
    return NULL;
}

static void ignore_end(coil_future *future, void *arg)
{
    (void)future;
    (void)arg;
}

static void *subscribe_from_here(void *future)
{
    coil_future_add_callback(future, ignore_end, NULL);
    return NULL;
}

static int touched_by_another_thread(void *(*touch)(void *), void *what)
{
    pthread_t thread;

    pthread_create(&thread, NULL, touch, what);
    pthread_join(thread, NULL);
    return 0;
}

static int cancel_elsewhere(void *arg)
{
    coil_task *t;

    (void)arg;
    /* Cancelling the new task does not schedule it, because it is already ready. */
    coil_spawn(note, "x", NULL, &t);
    return touched_by_another_thread(cancel_from_here, t);
}

static int subscribe_elsewhere(void *arg)
{
    coil_future *f;

    (void)arg;
    coil_future_create(&f);
    return touched_by_another_thread(subscribe_from_here, f);
}

static void *spawn_from_here(void *group)
{
    coil_loop *loop;

    coil_loop_create(NULL, &loop);
    coil_group_spawn(group, note, "x", NULL, NULL);
    return NULL;
}

static int spawn_elsewhere(void *arg)
{
    coil_group group;

    (void)arg;
    coil_group_enter(&group);
    touched_by_another_thread(spawn_from_here, &group);
    return coil_group_exit(&group, 0);
}

static void run_spawn_elsewhere(void *arg)
{
    (void)arg;
    coil_run(spawn_elsewhere, NULL, NULL);
}

static void run_cancel_elsewhere(void *arg)
{
    (void)arg;
    coil_run(cancel_elsewhere, NULL, NULL);
}

static void run_subscribe_elsewhere(void *arg)
{
    (void)arg;
    coil_run(subscribe_elsewhere, NULL, NULL);
}

TEST(another_threads_tasks_are_not_to_be_touched)
{
    test_dies(run_cancel_elsewhere, NULL, "this thread does not run the loop");
    test_dies(run_spawn_elsewhere, NULL, "this thread does not run the loop");
    test_dies(run_subscribe_elsewhere, NULL, "this thread does not run the loop");
}

TEST(a_task_that_ignores_its_cancellation_is_named_wherever_it_waits)
{
    test_dies(run_sleep_on_and_on, NULL, "call coil_cancel_caught() (task 'main')");
}

TEST(tasks_that_await_each_other_are_told_so_when_cancelled)
{
    test_dies(run_await_in_a_circle, NULL, "await each other");
}

TEST(mistakes_with_tasks_stop_the_program_with_a_sentence)
{
    test_dies(run_await_myself, NULL, "awaits itself");
    test_dies(run_shield_myself, NULL, "awaits itself");
    test_dies(run_gather_myself, NULL, "awaits itself");
    test_dies(run_wait_for_myself, NULL, "awaits itself");
    test_dies(run_suspend_in_callback, NULL, "no task is running here");
    test_dies(run_run_inside, NULL, "inside a running loop");
}

static int name_is(void *arg)
{
    CHECK_STR(coil_task_name(coil_task_current()), arg);
    return 0;
}

TASK_TEST(tasks_without_a_name_are_numbered)
{
    for (int i = 2; i <= 1001; i++) { /* the main task is the first */
        char name[32];
        coil_task *task;

        snprintf(name, sizeof name, "task-%d", i);
        CHECK_INT(coil_spawn(name_is, name, NULL, &task), 0);
        CHECK_INT(coil_task_await(task), 0);
        coil_task_release(task);
    }
}

static int look_at_stack(void *arg)
{
    void *low, *high;
    char here;

    (void)arg;
    coil_task_stack(coil_task_current(), &low, &high);
    CHECK((char *)low < &here && &here < (char *)high);
    return coil_yield();
}

TASK_TEST(task_stack_bounds)
{
    coil_task *task = test_spawn(look_at_stack, NULL);
    void *low, *high, *own_low, *own_high;

    CHECK_INT(look_at_stack(NULL), 0);
    coil_task_stack(task, &low, &high);
    coil_task_stack(coil_task_current(), &own_low, &own_high);
    CHECK(low < high && (high <= own_low || own_high <= low));
    CHECK_INT(test_join(task), 0);
}
