/*
 * test_no_suspend.c - regions in which no call may wait.
 */
#include "../../harness/harness.h"

#include "../../../src/base/compiler.h"

#include <coil.h>

#include <pthread.h>
#include <signal.h>
#include <stdio.h>

static void run_in_a_task(coil_task_fn fn)
{
    coil_run_opts opts = {.loop.virtual_clock = true, .no_signals = true};

    coil_run(fn, NULL, &opts);
}

static int sleep_in_a_region(void *arg)
{
    coil_no_suspend region;

    (void)arg;
    coil_no_suspend_enter(&region, "seen is checked and changed");
    return coil_sleep(COIL_SEC(1));
}

static int yield_in_the_outer_region(void *arg)
{
    coil_no_suspend outer, inner;

    (void)arg;
    coil_no_suspend_enter(&outer, "outer");
    coil_no_suspend_enter(&inner, "inner");
    coil_no_suspend_exit(&inner);
    return coil_yield();
}

static int exit_the_outer_first(void *arg)
{
    coil_no_suspend outer, inner;

    (void)arg;
    coil_no_suspend_enter(&outer, "outer");
    coil_no_suspend_enter(&inner, "inner");
    coil_no_suspend_exit(&outer);
    return 0;
}

static int end_in_a_region(void *arg)
{
    coil_no_suspend_enter(arg, "for ever");
    return 0;
}

static COIL__NOINLINE int forget_the_exit(int rc)
{
    coil_no_suspend region;

    coil_no_suspend_enter(&region, "somewhere below");
    return rc;
}

static COIL__NOINLINE int use_the_stack(int rc)
{
    volatile char bytes[4096];

    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = 'x';
    return rc;
}

/*
 * End a task after a function has returned without leaving its region, and after the
 * memory of the region was overwritten.
 */
static int end_after_a_region(void *arg)
{
    (void)arg;
    return use_the_stack(forget_the_exit(0));
}

static void run_end_after(void *arg)
{
    (void)arg;
    run_in_a_task(end_after_a_region);
}

static int exit_twice(void *arg)
{
    coil_no_suspend region;

    (void)arg;
    coil_no_suspend_enter(&region, "once");
    coil_no_suspend_exit(&region);
    coil_no_suspend_exit(&region);
    return 0;
}

static void run_exit_twice(void *arg)
{
    (void)arg;
    run_in_a_task(exit_twice);
}

static void run_sleep(void *arg)
{
    (void)arg;
    run_in_a_task(sleep_in_a_region);
}

static void run_yield(void *arg)
{
    (void)arg;
    run_in_a_task(yield_in_the_outer_region);
}

static void run_wrong_exit(void *arg)
{
    (void)arg;
    run_in_a_task(exit_the_outer_first);
}

static int spawn_end(void *arg)
{
    static coil_no_suspend region;
    coil_task *task;

    (void)arg;
    coil_spawn(end_in_a_region, &region, NULL, &task);
    return coil_task_await(task);
}

static void run_end(void *arg)
{
    (void)arg;
    run_in_a_task(spawn_end);
}

TEST(no_suspend_names_the_task_the_wait_and_the_reason)
{
    test_dies(run_sleep, NULL,
              "task 'main' would wait (sleep) where it must not: seen is checked");
    test_dies(run_yield, NULL, "task 'main' would wait (yield) where it must not: outer");
}

TEST(no_suspend_regions_close_in_order_and_before_the_task_ends)
{
    test_dies(
        run_wrong_exit, NULL,
        "coil_no_suspend_exit: another region is the innermost open one: inner, entered "
        "at exit_the_outer_first");
    test_dies(run_exit_twice, NULL, "coil_no_suspend_exit: no region is open");
    test_dies(run_end, NULL,
              "has ended in a region where it must not wait: for ever, entered at "
              "end_in_a_region");
    test_dies(run_end_after, NULL,
              "has ended in a region where it must not wait: somewhere below, entered at "
              "forget_the_exit");
}

static int wait_in_a_child(void *arg)
{
    (void)arg;
    return coil_sleep(COIL_SEC(1));
}

TASK_TEST(no_suspend_allows_what_need_not_wait)
{
    coil_spawn_opts eagerly = {.eager = true};
    coil_no_suspend region;
    coil_event event = COIL_EVENT_INIT;
    coil_task *child;

    coil_event_set(&event);
    coil_no_suspend_enter(&region, "nothing else may run");
    CHECK_INT(coil_event_wait(&event), 0);
    CHECK_INT(coil_spawn(wait_in_a_child, NULL, &eagerly, &child), 0);
    coil_no_suspend_exit(&region);
    CHECK_INT(coil_task_await(child), 0);
    coil_task_release(child);
}

static void enter_and_exit(void *arg)
{
    coil_no_suspend region;

    coil_no_suspend_enter(&region, "a callback cannot wait anyhow");
    coil_no_suspend_exit(&region);
    *(bool *)arg = true;
}

TASK_TEST(no_suspend_in_a_callback)
{
    bool called = false;

    coil_call_soon(enter_and_exit, &called, NULL);
    coil_yield();
    coil_yield();
    CHECK(called);
}

static void ask_in_a_callback(void *arg)
{
    *(bool *)arg = coil_may_suspend();
}

TASK_TEST(no_suspend_regions_are_seen_by_may_suspend)
{
    coil_no_suspend outer, inner;
    bool in_callback = true;

    CHECK(coil_may_suspend());
    coil_no_suspend_enter(&outer, "outer");
    coil_no_suspend_enter(&inner, "inner");
    CHECK(!coil_may_suspend());
    coil_no_suspend_exit(&inner);
    CHECK(!coil_may_suspend());
    coil_no_suspend_exit(&outer);
    CHECK(coil_may_suspend());
    CHECK_INT(coil_call_soon(ask_in_a_callback, &in_callback, NULL), 0);
    coil_sleep(COIL_SEC(1));
    CHECK(!in_callback);
}

TEST(no_suspend_outside_of_tasks)
{
    CHECK(!coil_may_suspend());
}

/* ---- callbacks of the user --------------------------------------------------------- */

static int wait_in_a_visitor(coil_task *task, void *arg)
{
    (void)task, (void)arg;
    return coil_yield();
}

static int visit_each_task(void *arg)
{
    return coil_task_each(wait_in_a_visitor, arg);
}

static int sleep_for_ever(void *arg)
{
    (void)arg;
    return coil_sleep(COIL_NEVER);
}

static int await_task(void *task)
{
    return coil_task_await(task);
}

static int visit_awaiters(void *arg)
{
    coil_task *task;

    coil_spawn(sleep_for_ever, NULL, NULL, &task);
    coil_spawn(await_task, task, NULL, NULL);
    coil_yield();
    coil_yield();
    return coil_task_awaiters(task, wait_in_a_visitor, arg);
}

static void *wait_and_retain(void *value)
{
    coil_yield();
    return value;
}

static void wait_and_release(void *value)
{
    (void)value;
    coil_yield();
}

static int set_and_retain(void *arg)
{
    static coil_var var = {.name = "v", .retain = wait_and_retain};

    return coil_var_set(&var, &arg, NULL);
}

static int set_and_release(void *arg)
{
    static coil_var var = {.name = "v", .release = wait_and_release};

    CHECK_INT(coil_var_set(&var, &arg, NULL), 0);
    return coil_var_set(&var, NULL, NULL);
}

static int wait_and_compare(const void *a, const void *b)
{
    coil_yield();
    return *(const int *)a - *(const int *)b;
}

static int put_twice(void *arg)
{
    coil_queue queue;
    int item = 1;

    (void)arg;
    coil_queue_init_priority(&queue, sizeof item, 0, wait_and_compare);
    coil_queue_put(&queue, &item);
    return coil_queue_put(&queue, &item);
}

static ssize_t wait_and_write(void *cookie, const char *buf, size_t n)
{
    (void)cookie, (void)buf;
    coil_yield();
    return (ssize_t)n;
}

static FILE *open_waiting_file(void)
{
    FILE *file = fopencookie(NULL, "w", (cookie_io_functions_t){.write = wait_and_write});

    setvbuf(file, NULL, _IONBF, 0);
    return file;
}

static int dump_to_waiting_file(void *arg)
{
    (void)arg;
    coil_dump(open_waiting_file());
    return 0;
}

static int print_to_waiting_file(void *arg)
{
    (void)arg;
    coil_print_call_graph(NULL, open_waiting_file());
    return 0;
}

/*
 * The write function of a FILE for dumps. It waits at each line of a backtrace, which
 * begins with six spaces, because coil is looking up symbols at that time.
 */
static ssize_t wait_at_a_function(void *cookie, const char *buf, size_t n)
{
    if (n >= 6 && memcmp(buf, "      ", 6) == 0)
        return wait_and_write(cookie, buf, n);
    return (ssize_t)n;
}

static int dump_to_file_that_waits_at_a_function(void *arg)
{
    FILE *file =
        fopencookie(NULL, "w", (cookie_io_functions_t){.write = wait_at_a_function});

    (void)arg;
    setvbuf(file, NULL, _IONBF, 0);
    coil_dump(file);
    return 0;
}

static void wait_and_destroy(void *value)
{
    (void)value;
    coil_yield();
}

static int release_future(void *arg)
{
    coil_future *future;

    CHECK_INT(coil_future_create(&future), 0);
    CHECK_INT(coil_future_set(future, 0, arg, wait_and_destroy), 0);
    coil_future_release(future);
    return 0;
}

static int release_promise(void *arg)
{
    coil_promise *promise;

    CHECK_INT(coil_promise_create(&promise), 0);
    CHECK_INT(coil_promise_set(promise, 0, arg, wait_and_destroy), 0);
    coil_promise_release(promise);
    return 0;
}

static void run_body(void *body)
{
    run_in_a_task(*(coil_task_fn *)body);
}

/*
 * A callback that is called while coil iterates over a list must not wait: in the
 * meantime, other tasks could change the list, or take an item that is being moved.
 */
TEST(callbacks_that_would_wait_in_a_walk_are_named)
{
    static const struct {
        coil_task_fn body;
        const char *why;
    } rows[] = {
        {visit_each_task, "not: coil_task_each() calls its visitor"},
        {visit_awaiters, "not: coil_future_awaiters() calls its visitor"},
        {set_and_retain, "not: a coil_var's retain or release is called"},
        {set_and_release, "not: a coil_var's retain or release is called"},
        {release_future, "not: coil_future_release() destroys a value"},
        {release_promise, "not: coil_promise_release() destroys a value"},
        {put_twice, "not: a priority queue calls its compare function"},
        {dump_to_waiting_file, "not: coil_dump() prints"},
        {dump_to_file_that_waits_at_a_function, "not: coil_dump() prints"},
        {print_to_waiting_file, "not: coil_print_call_graph() prints"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        test_dies(run_body, (void *)&rows[i].body, rows[i].why);
}

static int ask(coil_task *task, void *arg)
{
    (void)task;
    *(bool *)arg = coil_may_suspend();
    return 0;
}

/*
 * In a callback that must not wait, coil_may_suspend() returns false, so libcoil-posix
 * blocks instead of suspending.
 */
TASK_TEST(callbacks_in_a_walk_are_told_that_they_may_not_wait)
{
    bool may = true;

    CHECK_INT(coil_task_each(ask, &may), 0);
    CHECK(!may);
    CHECK(coil_may_suspend());
}

/* ---- the task's stack -------------------------------------------------------------- */

static void ask_for_the_stack(void *answer)
{
    *(bool *)answer = coil_on_task_stack();
}

static void *ask_on_a_thread(void *answer)
{
    ask_for_the_stack(answer);
    return NULL;
}

static int ask_in_a_generator(coil_gen *gen, void *answer)
{
    (void)gen;
    ask_for_the_stack(answer);
    return 0;
}

static volatile bool in_handler;

static void ask_in_a_handler(int signo)
{
    (void)signo;
    in_handler = coil_on_task_stack();
}

static bool asked_in_a_handler(int flags)
{
    struct sigaction action = {.sa_handler = ask_in_a_handler, .sa_flags = flags};

    CHECK_INT(sigaction(SIGUSR1, &action, NULL), 0);
    CHECK_INT(raise(SIGUSR1), 0);
    return in_handler;
}

TASK_TEST(on_task_stack_is_true_on_the_tasks_own_stack_alone)
{
    static _Alignas(16) char memory[1 << 16];
    const stack_t alternate = {.ss_sp = memory, .ss_size = sizeof memory};
    bool in_callback = true, on_thread = true, in_generator = true;
    coil_gen *gen;
    pthread_t thread;

    CHECK(coil_on_task_stack());
    CHECK_INT(coil_call_soon(ask_for_the_stack, &in_callback, NULL), 0);
    CHECK_INT(coil_yield(), 0);
    CHECK(!in_callback);
    CHECK_INT(pthread_create(&thread, NULL, ask_on_a_thread, &on_thread), 0);
    pthread_join(thread, NULL);
    CHECK(!on_thread);
    CHECK_INT(coil_gen_create(ask_in_a_generator, &in_generator, NULL, &gen), 0);
    CHECK_INT(coil_gen_next(gen, NULL), COIL_GEN_ENDED);
    coil_gen_destroy(gen);
    CHECK(!in_generator);
    CHECK_INT(sigaltstack(&alternate, NULL), 0);
    CHECK(asked_in_a_handler(0));
    CHECK(!asked_in_a_handler(SA_ONSTACK));
}

/* ---- coil's own calls -------------------------------------------------------------- */

/* From base/own.h. Calls by libcoil return to addresses between these symbols. */
extern const char coil__own_begin[], coil__own_end[];

TEST(own_calls_are_those_that_return_into_libcoil)
{
    CHECK((uintptr_t)coil__own_begin < (uintptr_t)coil__own_end);
    CHECK(!coil_is_own_call(coil__own_begin));
    CHECK(coil_is_own_call(coil__own_begin + 1));
    CHECK(coil_is_own_call(coil__own_end));
    CHECK(!coil_is_own_call(coil__own_end + 1));
    CHECK(!coil_is_own_call(__builtin_return_address(0)));
}
