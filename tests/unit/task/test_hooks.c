/*
 * test_hooks.c - hooks are called whenever a task starts or stops running, whatever it
 * waits for.
 */
#include "../../harness/harness.h"

#include <coil.h>

#include <locale.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>

/*
 * The state of a library that has a value per thread, in which a hook stores the value of
 * the running task.
 */
static int of_thread;

struct state {
    int own;
    int outer;
    int entered;
};

static void enter(void *memory, void *data)
{
    struct state *state = memory;

    CHECK_INT(state->entered++, 0);
    state->outer = of_thread;
    of_thread = state->own;
    if (data != NULL)
        test_trace("+%s", (char *)data);
    errno = EBADF;
}

static void leave(void *memory, void *data)
{
    struct state *state = memory;

    CHECK_INT(--state->entered, 0);
    state->own = of_thread;
    of_thread = state->outer;
    if (data != NULL)
        test_trace("-%s", (char *)data);
    errno = EBADF;
}

static void end(void *memory, void *data)
{
    leave(memory, NULL);
    test_trace("!%s", (char *)data);
}

static const coil_task_hooks quiet = {sizeof(struct state), enter, leave, NULL, NULL};
static const coil_task_hooks *const quiet_alone[] = {&quiet, NULL};
static const coil_task_hooks a = {sizeof(struct state), enter, leave, NULL, "a"};
static const coil_task_hooks b = {sizeof(struct state), enter, leave, end, "b"};
static const coil_task_hooks *const a_and_b[] = {&a, &b, NULL};
static const coil_task_hooks *const none[] = {NULL};

static void spawn_and_await(coil_task_fn fn, void *arg, const coil_spawn_opts *opts)
{
    coil_task *task;

    CHECK_INT(coil_spawn(fn, arg, opts, &task), 0);
    CHECK_INT(coil_task_await(task), 0);
    coil_task_release(task);
}

/* ---- when hooks are called --------------------------------------------------------- */

static int yield_once(void *arg)
{
    test_trace("%s", (const char *)arg);
    coil_yield();
    test_trace("%s", (const char *)arg);
    return 0;
}

TASK_TEST(hooks_are_entered_in_order_and_left_in_the_opposite_one)
{
    coil_spawn_opts opts = {.hooks = a_and_b};

    spawn_and_await(yield_once, "x", &opts);
    CHECK_TRACE("+a+bx-b-a+a+bx!b-a");
}

static int set_and_keep(void *arg)
{
    int number = *(int *)arg;

    CHECK_INT(of_thread, 0);
    for (int i = 0; i < 10; i++) {
        of_thread = number + i;
        errno = number;
        if (i % 2 == 0)
            coil_yield();
        else
            coil_sleep(COIL_MSEC(number));
        CHECK_INT(of_thread, number + i);
        CHECK_INT(errno, number);
    }
    return 0;
}

TASK_TEST(hooks_keep_what_is_the_threads_for_each_task)
{
    int numbers[] = {1, 2, 30};
    coil_spawn_opts opts = {.hooks = quiet_alone};
    coil_group group;

    coil_group_enter(&group);
    for (int i = 0; i < 3; i++)
        coil_group_spawn(&group, set_and_keep, &numbers[i], &opts, NULL);
    for (int i = 0; i < 20; i++) {
        CHECK_INT(of_thread, 0);
        coil_sleep(COIL_MSEC(7));
    }
    CHECK_INT(coil_group_exit(&group, 0), 0);
    CHECK_INT(of_thread, 0);
}

static int wait_in_generator(coil_gen *gen, void *arg)
{
    (void)gen, (void)arg;
    of_thread = 5;
    coil_sleep(COIL_MSEC(1));
    CHECK_INT(of_thread, 5);
    coil_gen_yield(NULL, NULL);
    return 0;
}

static int drive_generator(void *arg)
{
    coil_gen *gen;

    (void)arg;
    CHECK_INT(coil_gen_create(wait_in_generator, NULL, NULL, &gen), 0);
    CHECK_INT(coil_gen_next(gen, NULL), COIL_GEN_YIELDED);
    CHECK_INT(of_thread, 5);
    CHECK_INT(coil_gen_next(gen, NULL), COIL_GEN_ENDED);
    coil_gen_destroy(gen);
    return 0;
}

TASK_TEST(hooks_are_called_where_a_generator_waits_and_not_where_it_yields)
{
    static const coil_task_hooks *const only_a[] = {&a, NULL};
    coil_spawn_opts opts = {.hooks = only_a};

    spawn_and_await(drive_generator, NULL, &opts);
    CHECK_TRACE("+a-a+a-a");
    CHECK_INT(of_thread, 0);
}

static void note_deferred(void *arg)
{
    (void)arg;
    test_trace("deferred");
    coil_yield();
}

static int defer_one(void *arg)
{
    (void)arg;
    return coil_defer(note_deferred, NULL);
}

TASK_TEST(hooks_end_after_what_was_deferred)
{
    coil_spawn_opts opts = {.hooks = a_and_b};

    spawn_and_await(defer_one, NULL, &opts);
    CHECK_TRACE("+a+bdeferred-b-a+a+b!b-a");
}

static int note(void *arg)
{
    test_trace("%s", (const char *)arg);
    return 0;
}

TASK_TEST(hooks_are_not_called_for_a_task_cancelled_before_it_begins)
{
    coil_spawn_opts opts = {.hooks = a_and_b};
    coil_task *task;

    CHECK_INT(coil_spawn(note, "x", &opts, &task), 0);
    coil_task_cancel(task, NULL);
    CHECK_INT(coil_task_await(task), -ECANCELED);
    coil_task_release(task);
    CHECK_TRACE("");
}

/* ---- the state of each task -------------------------------------------------------- */

static int spawn_two(void *arg)
{
    coil_spawn_opts without = {.hooks = none};

    (void)arg;
    spawn_and_await(note, "child", NULL);
    spawn_and_await(note, "without", &without);
    return 0;
}

TASK_TEST(hooks_are_the_spawners_unless_told_otherwise)
{
    static const coil_task_hooks *const only_a[] = {&a, NULL};
    coil_spawn_opts opts = {.hooks = only_a};

    spawn_and_await(spawn_two, NULL, &opts);
    CHECK_TRACE("+a-a+achild-a+a-awithout+a-a");
}

static int spawn_eagerly(void *arg)
{
    coil_spawn_opts opts = {.eager = true};
    coil_task *task;

    (void)arg;
    of_thread = 3;
    CHECK_INT(coil_spawn(yield_once, "x", &opts, &task), 0);
    CHECK_INT(of_thread, 3);
    CHECK_INT(coil_task_await(task), 0);
    CHECK_INT(of_thread, 3);
    coil_task_release(task);
    return 0;
}

TASK_TEST(hooks_leave_the_spawner_of_an_eager_task)
{
    static const coil_task_hooks *const only_a[] = {&a, NULL};
    coil_spawn_opts opts = {.hooks = only_a};

    spawn_and_await(spawn_eagerly, NULL, &opts);
    CHECK_TRACE("+a-a+ax-a+a-a+ax-a+a-a");
}

/* ---- misuse, limits ---------------------------------------------------------------- */

static void wait_in_hook(void *state, void *data)
{
    (void)state, (void)data;
    coil_yield();
}

static int spawn_with_waiting_hook(void *arg)
{
    static const coil_task_hooks waits = {.enter = wait_in_hook};
    static const coil_task_hooks *const hooks[] = {&waits, NULL};
    coil_spawn_opts opts = {.name = "hooked", .hooks = hooks};

    (void)arg;
    spawn_and_await(note, "x", &opts);
    return 0;
}

static void run_waiting_hook(void *arg)
{
    (void)arg;
    coil_run(spawn_with_waiting_hook, NULL, NULL);
}

TEST(hooks_must_not_wait)
{
    test_dies(run_waiting_hook, NULL,
              "task 'hooked' would wait (yield) where it must not: one of its "
              "coil_task_hooks is called");
}

TASK_TEST(hooks_whose_states_are_too_large_are_refused)
{
    coil_task_hooks large = {.state_bytes = COIL_HOOK_STATES_BYTES - 8};
    const coil_task_hooks *alone[] = {&large, NULL}, *two[] = {&large, &quiet, NULL};
    coil_spawn_opts opts = {.hooks = alone};

    spawn_and_await(note, "x", &opts);
    opts.hooks = two;
    CHECK_INT(coil_spawn(note, "x", &opts, NULL), -EINVAL);
    large.state_bytes = SIZE_MAX;
    opts.hooks = alone;
    CHECK_INT(coil_spawn(note, "x", &opts, NULL), -EINVAL);
    CHECK_TRACE("x");
}

static int end_at_once(void *arg)
{
    (void)arg;
    return 0;
}

static int count_what_runs(void *arg)
{
    coil_task *child;

    CHECK(*(int *)arg > 0); /* entered */
    coil_yield();
    CHECK_INT(coil_spawn(end_at_once, NULL, NULL, &child), 0);
    CHECK_INT(coil_task_await(child), 0);
    coil_task_release(child);
    return 0;
}

static void count_enters(void *state, void *data)
{
    (void)state;
    ++*(int *)data;
}

static void count_nothing(void *state, void *data)
{
    (void)state;
    (void)data;
}

TEST(hooks_of_the_main_task_are_given_to_coil_run)
{
    int enters = 0;
    const coil_task_hooks counting = {
        .enter = count_enters, .leave = count_nothing, .data = &enters};
    const coil_task_hooks *hooks[] = {&counting, NULL};
    coil_run_opts opts = {.hooks = hooks};

    CHECK_INT(coil_run(count_what_runs, &enters, &opts), 0);
    /* three times for this task (start, yield, await), once for its child */
    CHECK(enters >= 4);
}

/* ---- ready to use ------------------------------------------------------------------ */

static int set_locale(void *arg)
{
    locale_t own = newlocale(LC_ALL_MASK, arg, NULL), before = uselocale(0);

    CHECK(own != NULL);
    uselocale(own);
    for (int i = 0; i < 3; i++) {
        coil_sleep(COIL_MSEC(1));
        CHECK(uselocale(0) == own);
    }
    uselocale(before);
    freelocale(own);
    return 0;
}

TASK_TEST(hooks_keep_the_locale)
{
    const coil_task_hooks *hooks[] = {coil_hooks_locale(), NULL};
    coil_spawn_opts opts = {.hooks = hooks};
    locale_t before = uselocale(0);
    coil_group group;

    coil_group_enter(&group);
    coil_group_spawn(&group, set_locale, "C", &opts, NULL);
    coil_group_spawn(&group, set_locale, "C.UTF-8", &opts, NULL);
    CHECK_INT(coil_group_exit(&group, 0), 0);
    CHECK(uselocale(0) == before);
}

static bool is_blocked(int signo)
{
    sigset_t now;

    pthread_sigmask(SIG_SETMASK, NULL, &now);
    return sigismember(&now, signo) == 1;
}

static int block_signal(void *arg)
{
    int signo = (int)(intptr_t)arg;
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, signo);
    pthread_sigmask(SIG_SETMASK, &set, NULL);
    for (int i = 0; i < 3; i++) {
        coil_sleep(COIL_MSEC(1));
        CHECK(is_blocked(signo));
        CHECK_INT(is_blocked(SIGUSR1) + is_blocked(SIGUSR2), 1);
    }
    return 0;
}

static int find_nothing_blocked(void *unused)
{
    (void)unused;
    for (int i = 0; i < 3; i++) {
        CHECK(!is_blocked(SIGUSR1) && !is_blocked(SIGUSR2));
        coil_sleep(COIL_MSEC(1));
    }
    return 0;
}

TASK_TEST(hooks_keep_the_signal_mask)
{
    const coil_task_hooks *hooks[] = {coil_hooks_signal_mask(), NULL};
    coil_spawn_opts opts = {.hooks = hooks};
    coil_group group;

    coil_group_enter(&group);
    coil_group_spawn(&group, block_signal, (void *)(intptr_t)SIGUSR1, &opts, NULL);
    coil_group_spawn(&group, block_signal, (void *)(intptr_t)SIGUSR2, &opts, NULL);
    coil_group_spawn(&group, find_nothing_blocked, NULL, &opts, NULL);
    coil_group_spawn(&group, find_nothing_blocked, NULL, NULL, NULL);
    CHECK_INT(coil_group_exit(&group, 0), 0);
    CHECK(!is_blocked(SIGUSR1) && !is_blocked(SIGUSR2));
}

static void check_cancel_state(int state, int type)
{
    int now, now_type;

    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &now);
    pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &now_type);
    CHECK_INT(now, state);
    CHECK_INT(now_type, type);
    pthread_setcanceltype(type, NULL);
    pthread_setcancelstate(state, NULL);
}

static int disable_cancel(void *unused)
{
    (void)unused;
    check_cancel_state(PTHREAD_CANCEL_ENABLE, PTHREAD_CANCEL_DEFERRED);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    for (int i = 0; i < 3; i++) {
        coil_sleep(COIL_MSEC(1));
        check_cancel_state(PTHREAD_CANCEL_DISABLE, PTHREAD_CANCEL_ASYNCHRONOUS);
    }
    return 0;
}

static int find_cancel_enabled(void *unused)
{
    (void)unused;
    for (int i = 0; i < 4; i++) {
        check_cancel_state(PTHREAD_CANCEL_ENABLE, PTHREAD_CANCEL_DEFERRED);
        coil_sleep(COIL_MSEC(1));
    }
    return 0;
}

TASK_TEST(hooks_keep_the_cancel_state_of_threads)
{
    const coil_task_hooks *hooks[] = {coil_hooks_cancel_state(), NULL};
    coil_spawn_opts opts = {.hooks = hooks};
    coil_group group;

    coil_group_enter(&group);
    coil_group_spawn(&group, disable_cancel, NULL, &opts, NULL);
    coil_group_spawn(&group, find_cancel_enabled, NULL, &opts, NULL);
    coil_group_spawn(&group, find_cancel_enabled, NULL, NULL, NULL);
    CHECK_INT(coil_group_exit(&group, 0), 0);
    check_cancel_state(PTHREAD_CANCEL_ENABLE, PTHREAD_CANCEL_DEFERRED);
}
