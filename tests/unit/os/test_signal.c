/*
 * test_signal.c - tasks that wait for signals, handlers in loops, dispositions, forks,
 * and many signals at once.
 */
#include "../../harness/harness.h"
#include "../../../src/base/compiler.h"

#include <coil.h>

#include <fcntl.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static sigset_t set_of(int a, int b)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, a);
    sigaddset(&set, b);
    return set;
}

static void emit(int signo)
{
    CHECK_INT(kill(getpid(), signo), 0);
}

static void queue(int signo, int value)
{
    CHECK_INT(sigqueue(getpid(), signo, (union sigval){.sival_int = value}), 0);
}

struct waiter {
    sigset_t set;
    siginfo_t info;
    int result;
    bool ended;
};

static int do_wait(void *arg)
{
    struct waiter *w = arg;

    w->result = coil_signal_wait(&w->set, &w->info);
    w->ended = true;
    return w->result;
}

static coil_task *start(struct waiter *w)
{
    coil_task *task = NULL;

    CHECK_INT(coil_spawn(do_wait, w, NULL, &task), 0);
    CHECK_INT(coil_wait_all_blocked(), 0);
    return task;
}

static void finish(coil_task *task, int result)
{
    CHECK_INT(coil_task_await(task), result);
    coil_task_release(task);
}

static void on_unwanted(int signo)
{
    (void)signo;
}

static bool is_default(int signo)
{
    struct sigaction now;

    sigaction(signo, NULL, &now);
    return now.sa_handler == SIG_DFL;
}

/* ---- waiting ----------------------------------------------------------------------- */

IO_TEST(signal_is_waited_for)
{
    struct waiter w = {.set = set_of(SIGUSR1, SIGTERM)};
    coil_task *task = start(&w);

    CHECK(!w.ended);
    emit(SIGTERM);
    finish(task, SIGTERM);
    CHECK_INT(w.info.si_signo, SIGTERM);
    CHECK_INT(w.info.si_pid, getpid());
}

IO_TEST(signal_goes_to_all_tasks_that_want_it_and_no_other)
{
    struct waiter w[3] = {{.set = set_of(SIGUSR1, SIGTERM)},
                          {.set = set_of(SIGUSR1, SIGUSR2)},
                          {.set = set_of(SIGUSR2, SIGHUP)}};
    coil_task *tasks[3];

    for (int i = 0; i < 3; i++)
        tasks[i] = start(&w[i]);
    emit(SIGUSR1);
    finish(tasks[0], SIGUSR1);
    finish(tasks[1], SIGUSR1);
    CHECK(!w[2].ended);
    emit(SIGUSR2);
    finish(tasks[2], SIGUSR2);
}

IO_TEST(signal_is_kept_while_nobody_waits)
{
    sigset_t set = set_of(SIGUSR1, SIGUSR2), one = set_of(SIGUSR2, SIGUSR2);
    struct waiter w = {.set = set};
    coil_task *task = start(&w);
    siginfo_t info;

    emit(SIGUSR1);
    finish(task, SIGUSR1);
    emit(SIGUSR1);
    emit(SIGUSR2);
    emit(SIGUSR1);
    CHECK_INT(coil_sleep(COIL_MSEC(1)), 0);
    CHECK_INT(coil_signal_wait(&one, NULL), SIGUSR2);
    CHECK_INT(coil_signal_wait(&set, &info), SIGUSR1);
    task = start(&w);
    CHECK(info.si_pid == getpid());
    /* the task is waiting again, because only one SIGUSR1 was stored */
    CHECK_INT(coil_task_cancel(task, NULL), true);
    finish(task, -ECANCELED);
}

IO_TEST(signal_set_is_checked)
{
    sigset_t set;

    sigemptyset(&set);
    CHECK_INT(coil_signal_wait(&set, NULL), -EINVAL);
    set = set_of(SIGUSR1, SIGKILL);
    CHECK_INT(coil_signal_wait(&set, NULL), -EINVAL);
    set = set_of(SIGSEGV, SIGUSR1);
    CHECK_INT(coil_signal_wait(&set, NULL), -EINVAL);
    sigfillset(&set);
    CHECK_INT(coil_signal_wait(&set, NULL), -EINVAL);
    CHECK(is_default(SIGUSR1));
}

IO_TEST(signal_wait_that_is_cancelled_loses_none)
{
    struct waiter w = {.set = set_of(SIGUSR1, SIGUSR1)};
    coil_task *task = start(&w);

    coil_task_cancel(task, NULL);
    finish(task, -ECANCELED);
    emit(SIGUSR1);
    CHECK_INT(coil_signal_wait(&w.set, NULL), SIGUSR1);
}

IO_TEST(signal_is_restored_and_what_was_kept_forgotten)
{
    sigset_t one = set_of(SIGUSR1, SIGUSR1), both = set_of(SIGUSR1, SIGUSR2);
    struct waiter w = {.set = both};
    coil_task *task;

    signal(SIGUSR1, on_unwanted);
    coil_signal_restore(&one); /* nothing to restore */
    task = start(&w);
    emit(SIGUSR2);
    finish(task, SIGUSR2);
    emit(SIGUSR1);
    CHECK_INT(coil_sleep(COIL_MSEC(1)), 0);
    coil_signal_restore(&one);
    CHECK(signal(SIGUSR1, on_unwanted) == on_unwanted);
    emit(SIGUSR2);
    CHECK_INT(coil_signal_wait(&both, NULL), SIGUSR2);
}

IO_TEST(signal_realtime_is_queued_with_its_value)
{
    sigset_t set = set_of(SIGRTMIN, SIGRTMIN + 1);
    struct waiter w = {.set = set};
    coil_task *task;
    siginfo_t info;

    if (test_under_valgrind() || COIL__TSAN)
        test_skip("the tool loses queued signals");
    task = start(&w);
    for (int i = 0; i < 5; i++)
        queue(i % 2 ? SIGRTMIN + 1 : SIGRTMIN, i);
    finish(task, SIGRTMIN);
    CHECK_INT(w.info.si_value.sival_int, 0);
    for (int i = 1; i < 5; i++) {
        CHECK_INT(coil_signal_wait(&set, &info), i % 2 ? SIGRTMIN + 1 : SIGRTMIN);
        CHECK_INT(info.si_value.sival_int, i);
    }
}

IO_TEST(signal_realtime_is_kept_up_to_64)
{
    sigset_t set = set_of(SIGRTMIN, SIGUSR1);
    struct waiter w = {.set = set};
    coil_task *task;
    siginfo_t info;

    if (test_under_valgrind() || COIL__TSAN)
        test_skip("the tool loses queued signals");
    task = start(&w);
    emit(SIGUSR1);
    finish(task, SIGUSR1);
    for (int i = 0; i < 100; i++)
        queue(SIGRTMIN, i);
    CHECK_INT(coil_sleep(COIL_MSEC(1)), 0);
    for (int i = 0; i < 64; i++) {
        CHECK_INT(coil_signal_wait(&set, &info), SIGRTMIN);
        CHECK_INT(info.si_value.sival_int, i);
    }
    emit(SIGUSR1);
    CHECK_INT(coil_signal_wait(&set, &info), SIGUSR1);
}

/* ---- callbacks --------------------------------------------------------------------- */

static void trace(void *arg)
{
    test_trace("%s ", (const char *)arg);
}

/* Sleep, so that the loop handles pending signals. */
static void look(void)
{
    CHECK_INT(coil_sleep(COIL_MSEC(1)), 0);
}

IO_TEST(signal_handler_is_called_in_the_loop)
{
    CHECK_INT(coil_add_signal_handler(SIGUSR1, trace, "a"), 0);
    CHECK_INT(coil_add_signal_handler(SIGUSR2, trace, "b"), 0);
    emit(SIGUSR1);
    emit(SIGUSR2);
    CHECK_TRACE("");
    look();
    CHECK_TRACE("a b ");
    CHECK_INT(coil_add_signal_handler(SIGUSR1, trace, "new"), 0);
    emit(SIGUSR1);
    look();
    CHECK_TRACE("new ");
    CHECK_INT(coil_remove_signal_handler(SIGUSR1), 1);
    CHECK_INT(coil_remove_signal_handler(SIGUSR1), 0);
    CHECK(is_default(SIGUSR1));
    CHECK(!is_default(SIGUSR2));
}

IO_TEST(signal_handler_arguments_are_checked)
{
    static const int bad[] = {0, -1, 65, 1000, SIGKILL, SIGSTOP, SIGSEGV, SIGFPE, 32};

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        CHECK_INT(coil_add_signal_handler(bad[i], trace, "a"), -EINVAL);
        CHECK_INT(coil_remove_signal_handler(bad[i]), -EINVAL);
    }
    CHECK_INT(coil_add_signal_handler(SIGUSR1, NULL, NULL), -EINVAL);
    CHECK_INT(coil_remove_signal_handler(SIGUSR1), 0);
    CHECK(is_default(SIGUSR1));
}

static void remove_itself(void *arg)
{
    test_trace("once ");
    CHECK_INT(coil_remove_signal_handler(*(int *)arg), 1);
    CHECK_INT(coil_add_signal_handler(SIGUSR2, trace, "later"), 0);
}

IO_TEST(signal_handler_may_remove_itself_and_add_another)
{
    int signo = SIGUSR1;

    CHECK_INT(coil_add_signal_handler(SIGUSR1, remove_itself, &signo), 0);
    emit(SIGUSR1);
    look();
    CHECK(is_default(SIGUSR1));
    emit(SIGUSR2);
    look();
    CHECK_TRACE("once later ");
}

IO_TEST(signal_handler_removed_before_the_loop_looked_is_not_called)
{
    CHECK_INT(coil_add_signal_handler(SIGUSR1, trace, "a"), 0);
    emit(SIGUSR1);
    CHECK_INT(coil_remove_signal_handler(SIGUSR1), 1);
    look();
    CHECK_TRACE("");
}

IO_TEST(signal_handler_and_tasks_both_get_it)
{
    struct waiter w = {.set = set_of(SIGUSR1, SIGUSR1)};
    coil_task *task = start(&w);

    CHECK_INT(coil_add_signal_handler(SIGUSR1, trace, "a"), 0);
    emit(SIGUSR1);
    finish(task, SIGUSR1);
    CHECK_TRACE("a ");
    coil_signal_restore(&w.set);
    emit(SIGUSR1);
    look();
    CHECK_TRACE("a ");
    CHECK_INT(coil_remove_signal_handler(SIGUSR1), 1);
    CHECK(is_default(SIGUSR1));
}

static coil_var name = COIL_VAR_INIT("name", "none");

static void trace_name(void *arg)
{
    (void)arg;
    test_trace("%s ", (const char *)coil_var_get(&name));
}

IO_TEST(signal_handler_runs_in_the_context_it_was_added_in)
{
    CHECK_INT(coil_var_set(&name, "then", NULL), 0);
    CHECK_INT(coil_add_signal_handler(SIGUSR1, trace_name, NULL), 0);
    CHECK_INT(coil_var_set(&name, "now", NULL), 0);
    emit(SIGUSR1);
    look();
    CHECK_TRACE("then ");
}

static void set_true(void *arg)
{
    *(bool *)arg = true;
}

IO_TEST(signal_is_seen_by_a_busy_loop)
{
    bool seen = false;

    CHECK_INT(coil_add_signal_handler(SIGUSR1, set_true, &seen), 0);
    emit(SIGUSR1);
    while (!seen)
        CHECK_INT(coil_yield(), 0);
}

/* ---- dispositions ------------------------------------------------------------------ */

static int want_and_return(void *arg)
{
    sigset_t set = set_of(SIGUSR1, SIGUSR1);
    struct waiter w = {.set = set};
    coil_task *task = start(&w);

    (void)arg;
    CHECK_INT(coil_add_signal_handler(SIGUSR2, trace, "a"), 0);
    emit(SIGUSR1);
    finish(task, SIGUSR1);
    CHECK(signal(SIGTERM, SIG_IGN) == SIG_DFL);
    CHECK_INT(coil_add_signal_handler(SIGTERM, trace, "a"), 0);
    CHECK_INT(coil_add_signal_handler(SIGHUP, trace, "a"), 0);
    signal(SIGHUP, on_unwanted); /* the program has changed the disposition again */
    return 0;
}

TEST(signal_dispositions_are_restored_at_the_loops_end)
{
    signal(SIGUSR1, on_unwanted);
    CHECK_INT(coil_run(want_and_return, NULL, NULL), 0);
    CHECK(signal(SIGUSR1, SIG_DFL) == on_unwanted);
    CHECK(is_default(SIGUSR2));
    CHECK(signal(SIGTERM, SIG_DFL) == SIG_IGN);
    CHECK(signal(SIGHUP, SIG_DFL) == on_unwanted);
}

/* ---- Ctrl-C ------------------------------------------------------------------------ */

static int handle_interrupt(void *arg)
{
    bool seen = false;

    (void)arg;
    CHECK_INT(coil_add_signal_handler(SIGINT, set_true, &seen), 0);
    emit(SIGINT);
    emit(SIGINT);
    while (!seen)
        CHECK_INT(coil_sleep(COIL_MSEC(1)), 0);
    CHECK_INT(coil_remove_signal_handler(SIGINT), 1);
    emit(SIGINT); /* coil_run's handler again */
    return coil_sleep(COIL_SEC(1000));
}

static int keep_interrupt(void *arg)
{
    CHECK_INT(coil_add_signal_handler(SIGINT, set_true, arg), 0);
    return 0;
}

static int be_interrupted(void *arg)
{
    (void)arg;
    emit(SIGINT);
    return coil_sleep(COIL_SEC(1000));
}

TEST(signal_handler_of_sigint_takes_it_from_run_and_gives_it_back)
{
    bool unused;

    CHECK_INT(coil_run(handle_interrupt, NULL, NULL), -EINTR);
    CHECK(is_default(SIGINT));
    CHECK_INT(coil_run(keep_interrupt, &unused, NULL), 0);
    CHECK_INT(coil_run(be_interrupted, NULL, NULL), -EINTR);
    CHECK(is_default(SIGINT));
}

static int look_for_interrupt(void *arg)
{
    bool *seen = arg;

    emit(SIGINT);
    while (!*seen)
        CHECK_INT(coil_sleep(COIL_MSEC(1)), 0);
    return 0;
}

TEST(signal_handler_of_sigint_stays_from_run_to_run)
{
    coil_runner *runner;
    bool seen = false;

    CHECK_INT(coil_runner_create(NULL, &runner), 0);
    CHECK_INT(coil_runner_run(runner, keep_interrupt, &seen), 0);
    CHECK_INT(coil_runner_run(runner, look_for_interrupt, &seen), 0);
    coil_runner_destroy(runner);
}

static int keep_quit(void *arg)
{
    CHECK_INT(coil_add_signal_handler(SIGQUIT, set_true, arg), 0);
    emit(SIGQUIT);
    while (!*(bool *)arg)
        CHECK_INT(coil_sleep(COIL_MSEC(1)), 0);
    return 0;
}

static void quit_after_run(void *arg)
{
    bool seen = false;

    (void)arg;
    coil_run(keep_quit, &seen, NULL);
    fputs(seen ? "seen" : "unseen", stderr);
    raise(SIGQUIT);
}

static void interrupt_after_run(void *arg)
{
    bool seen = false;

    (void)arg;
    coil_run(keep_interrupt, &seen, NULL);
    fputs("run", stderr);
    raise(SIGINT);
}

TEST(signals_handled_by_a_run_have_their_default_effect_after_it)
{
    test_dies_by_signal(interrupt_after_run, NULL, SIGINT, "run");
    if (test_under_valgrind())
        test_skip("valgrind uses the alternate stack that was freed");
    test_dies_by_signal(quit_after_run, NULL, SIGQUIT, "seen");
}

/* ---- several loops, forks ---------------------------------------------------------- */

struct other {
    _Atomic bool ready;
    int result;
};

static void set_ready(void *arg)
{
    ((struct other *)arg)->ready = true;
}

static int wait_elsewhere(void *arg)
{
    sigset_t set = set_of(SIGUSR1, SIGUSR1);

    /* The callback runs when this task waits. */
    CHECK_INT(coil_call_soon(set_ready, arg, NULL), 0);
    return coil_signal_wait(&set, NULL);
}

static void *run_other(void *arg)
{
    struct other *other = arg;

    other->result = coil_run(wait_elsewhere, other, NULL);
    return NULL;
}

IO_TEST(signal_goes_to_every_loop_that_wants_it)
{
    struct waiter w = {.set = set_of(SIGUSR1, SIGUSR1)};
    /* static, because the thread writes to it while this task waits */
    static struct other other;
    coil_task *task = start(&w);
    pthread_t thread;

    CHECK_INT(pthread_create(&thread, NULL, run_other, &other), 0);
    while (!other.ready)
        look();
    emit(SIGUSR1);
    finish(task, SIGUSR1);
    pthread_join(thread, NULL);
    CHECK_INT(other.result, SIGUSR1);
    /* After the other loop was closed, this one still handles the signal. */
    emit(SIGUSR1);
    CHECK_INT(coil_signal_wait(&w.set, NULL), SIGUSR1);
}

static void *storm(void *arg)
{
    _Atomic bool *stop = arg;

    while (!*stop)
        kill(getpid(), SIGUSR1);
    return NULL;
}

static int want_for_a_moment(void *arg)
{
    CHECK_INT(coil_add_signal_handler(SIGUSR1, set_true, arg), 0);
    return coil_yield();
}

static void *come_and_go(void *arg)
{
    for (int i = 0; i < 50; i++) {
        bool seen;

        CHECK_INT(coil_run(want_for_a_moment, &seen, NULL), 0);
    }
    *(_Atomic bool *)arg = true;
    return NULL;
}

TEST(signal_storm_while_loops_come_and_go)
{
    pthread_t threads[3];
    _Atomic bool stop = false;

    if (test_under_valgrind())
        test_skip("valgrind uses the alternate stack that was freed");
    signal(SIGUSR1, on_unwanted);
    CHECK_INT(pthread_create(&threads[0], NULL, storm, &stop), 0);
    CHECK_INT(pthread_create(&threads[1], NULL, come_and_go, &stop), 0);
    CHECK_INT(pthread_create(&threads[2], NULL, come_and_go, &stop), 0);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    CHECK(signal(SIGUSR1, SIG_DFL) == on_unwanted);
}

static void send_usr2(void *arg)
{
    (void)arg;
    emit(SIGUSR2);
}

static int wait_in_forked_child(void *arg)
{
    sigset_t set = set_of(SIGUSR2, SIGUSR2);

    (void)arg;
    CHECK_INT(coil_call_soon(send_usr2, NULL, NULL), 0);
    return coil_signal_wait(&set, NULL) == SIGUSR2 ? 0 : -EIO;
}

/* A child of fork(2) does not affect the loops and dispositions of its parent. */
IO_TEST(signal_in_a_forked_child_is_its_own)
{
    pid_t pid;
    int status = 0;

    CHECK_INT(coil_add_signal_handler(SIGUSR2, trace, "parent"), 0);
    pid = fork();
    if (pid == 0) {
        raise(SIGUSR2);
        _exit(0);
    }
    CHECK_INT(waitpid(pid, &status, 0), pid);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGUSR2);
    pid = fork();
    if (pid == 0) {
        bool restored = is_default(SIGUSR2);

        coil_set_allocator(NULL);
        _exit(restored ? 0 : 1);
    }
    CHECK_INT(waitpid(pid, &status, 0), pid);
    CHECK_INT(status, 0);
    look();
    CHECK_TRACE("");
    emit(SIGUSR2);
    look();
    CHECK_TRACE("parent ");
}

static int want_usr2(void *arg)
{
    return coil_add_signal_handler(SIGUSR2, trace, arg);
}

TEST(signal_is_wanted_by_a_forked_childs_own_loop)
{
    coil_runner *runner;
    pid_t pid;
    int status = 0;

    CHECK_INT(coil_runner_create(NULL, &runner), 0);
    CHECK_INT(coil_runner_run(runner, want_usr2, "parent"), 0);
    pid = fork();
    if (pid == 0)
        _exit(coil_run(wait_in_forked_child, NULL, NULL) == 0 ? 0 : 1);
    CHECK_INT(waitpid(pid, &status, 0), pid);
    CHECK_INT(status, 0);
    coil_runner_destroy(runner);
    CHECK(is_default(SIGUSR2));
}

/* ---- limits ------------------------------------------------------------------------ */

/*
 * If the only task waits for a signal, this is not a deadlock, even with a virtual clock,
 * because a signal may arrive.
 */
TASK_TEST(signal_alone_is_no_deadlock)
{
    sigset_t set = set_of(SIGUSR1, SIGUSR2);
    struct waiter w = {.set = set};
    pid_t parent = getpid(), pid;
    coil_task *task = start(&w);

    emit(SIGUSR2);
    finish(task, SIGUSR2);
    pid = fork();
    if (pid == 0) {
        usleep(300000); /* enough time for the parent to report a deadlock */
        kill(parent, SIGUSR1);
        _exit(0);
    }
    CHECK_INT(coil_signal_wait(&set, NULL), SIGUSR1);
    waitpid(pid, NULL, 0);
}

static void count(void *arg)
{
    ++*(int *)arg;
}

IO_TEST(signal_that_comes_when_the_queue_is_full_is_not_lost)
{
    int terms = 0, others = 0;

    CHECK_INT(coil_add_signal_handler(SIGRTMIN, count, &others), 0);
    CHECK_INT(coil_add_signal_handler(SIGTERM, count, &terms), 0);
    for (int i = 0; i < 5000; i++)
        raise(SIGRTMIN);
    raise(SIGTERM);
    raise(SIGTERM);
    while (terms == 0)
        look();
    CHECK_INT(terms, 1);
    CHECK(others > 256 && others <= 5000);
}

IO_TEST(signal_needs_two_descriptors)
{
    sigset_t set = set_of(SIGUSR1, SIGUSR1);
    struct rlimit limit, none;
    int first_free = fcntl(0, F_DUPFD, 0);

    close(first_free);
    getrlimit(RLIMIT_NOFILE, &limit);
    for (int more = 0; more < 2; more++) {
        none = limit;
        none.rlim_cur = (rlim_t)(first_free + more);
        setrlimit(RLIMIT_NOFILE, &none);
        CHECK_INT(coil_signal_wait(&set, NULL), -EMFILE);
        CHECK_INT(coil_add_signal_handler(SIGUSR1, trace, "a"), -EMFILE);
        setrlimit(RLIMIT_NOFILE, &limit);
    }
    CHECK(is_default(SIGUSR1));
    test_fail_allocation(1);
    CHECK_INT(coil_add_signal_handler(SIGUSR1, trace, "a"), -ENOMEM);
    CHECK_INT(coil_add_signal_handler(SIGUSR1, trace, "a"), 0);
}

IO_TEST(signal_bears_every_failing_system_call)
{
    int rc = -1;

    for (unsigned n = 1; rc < 0; n++) {
        coil_testing_fail_system_call(n, 0);
        rc = coil_add_signal_handler(SIGUSR1, trace, "a");
        coil_testing_fail_system_call(0, 0);
        CHECK(is_default(SIGUSR1) == (rc < 0));
    }
    CHECK_INT(rc, 0);
}

/* If the wait has begun, send the second signal, which ends the wait. */
static void emit_second(void *arg)
{
    (void)arg;
    coil_testing_fail_system_call(0, 0);
    if (!is_default(SIGUSR2))
        emit(SIGUSR2);
}

/*
 * Wait for both signals while the n-th system call fails. Returns the error, or SIGUSR2
 * if no call has failed.
 */
static int wait_while_the_nth_call_fails(unsigned n)
{
    sigset_t set = set_of(SIGUSR1, SIGUSR2);
    int rc;

    CHECK_INT(coil_call_soon(emit_second, NULL, NULL), 0);
    coil_testing_fail_system_call(n, 0);
    rc = coil_signal_wait(&set, NULL);
    coil_testing_fail_system_call(0, 0);
    coil_yield();
    return rc;
}

IO_TEST(signal_wait_that_cannot_take_over_all_of_its_set_takes_over_none)
{
    sigset_t both = set_of(SIGUSR1, SIGUSR2), second = set_of(SIGUSR2, SIGUSR2);

    /* creates the objects that all waits need */
    CHECK_INT(wait_while_the_nth_call_fails(0), SIGUSR2);
    coil_signal_restore(&both);
    for (unsigned n = 1; n <= 2; n++) {
        CHECK_INT(wait_while_the_nth_call_fails(n), -EINVAL);
        CHECK(is_default(SIGUSR1) && is_default(SIGUSR2));
    }
    CHECK_INT(wait_while_the_nth_call_fails(3), SIGUSR2);
    CHECK(!is_default(SIGUSR1) && !is_default(SIGUSR2));

    /* A failed wait does not affect signals that coil already handled before. */
    coil_signal_restore(&second);
    CHECK_INT(wait_while_the_nth_call_fails(1), -EINVAL);
    CHECK(!is_default(SIGUSR1) && is_default(SIGUSR2));
}
