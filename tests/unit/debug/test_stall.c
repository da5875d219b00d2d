/*
 * test_stall.c - coil_watch_locks() reports a step that waits too long for a lock.
 */
#include "../../harness/harness.h"

#include "../../../src/base/compiler.h"
#include "../../../src/loop/stall.h"

#include <coil.h>

#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static _Atomic int lock;
static int pipe_ends[2], usual_stderr;
static char reported[4096];

static void wait_for_lock(void)
{
    while (lock == 1)
        syscall(SYS_futex, &lock, FUTEX_WAIT_PRIVATE, 1, NULL, NULL, 0);
}

static void unlock(void)
{
    lock = 0;
    syscall(SYS_futex, &lock, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

/* Read a whole line of a report from the pipe, and unlock. */
static void *read_report(void *unused)
{
    size_t n = 0;
    ssize_t got = 1;

    while (got > 0 && strchr(reported, '\n') == NULL) {
        got = read(pipe_ends[0], reported + n, sizeof reported - 1 - n);
        n += got > 0 ? (size_t)got : 0;
    }
    unlock();
    return unused;
}

/* Unlock after the time that 30 checks take. */
static void *unlock_later(void *unused)
{
    nanosleep(&(struct timespec){.tv_nsec = 30 * coil__stall_check_ns}, NULL);
    unlock();
    return unused;
}

static void begin(pthread_t *thread, void *(*fn)(void *arg))
{
    lock = 1;
    coil__stall_check_ns = COIL_MSEC(5);
    CHECK_INT(pipe(pipe_ends), 0);
    usual_stderr = dup(STDERR_FILENO);
    dup2(pipe_ends[1], STDERR_FILENO);
    CHECK_INT(pthread_create(thread, NULL, fn, NULL), 0);
}

static void *do_nothing(void *unused)
{
    return unused;
}

static bool was_reported(void)
{
    return poll(&(struct pollfd){.fd = pipe_ends[0], .events = POLLIN}, 1, 0) > 0;
}

static void end(pthread_t thread)
{
    CHECK_INT(pthread_join(thread, NULL), 0);
    dup2(usual_stderr, STDERR_FILENO);
    close(usual_stderr);
    close(pipe_ends[0]);
    close(pipe_ends[1]);
}

static int wait_in_a_task(void *unused)
{
    (void)unused;
    coil_watch_locks();
    coil_watch_locks();
    wait_for_lock();
    return 0;
}

static void skip_without_proc(void)
{
    if (test_under_valgrind())
        test_skip("loops are not watched under Valgrind");
    if (access("/proc/self/task", R_OK) != 0 || access("/proc/self/syscall", R_OK) != 0)
        test_skip("this system does not show what threads wait for");
}

TEST(stall_of_a_task_is_reported_with_its_place)
{
    pthread_t thread;

    skip_without_proc();
    begin(&thread, read_report);
    CHECK_INT(coil_run(wait_in_a_task, NULL, NULL), 0);
    end(thread);
    CHECK(strstr(reported, "coil: A task or callback has blocked its thread for ") ==
          reported);
    CHECK(strstr(reported, "docs/manual/posix.md") != NULL);
    if (!COIL__TSAN && !COIL__ASAN)
        CHECK(strstr(reported, "in syscall in libc") != NULL);
}

/*
 * The only thread waits for a lock, which no signal handler could release, so the program
 * must abort.
 */
TEST(stall_of_the_only_thread_aborts)
{
    size_t n = 0;
    ssize_t got;
    pid_t child;
    int status;

    skip_without_proc();
    CHECK_INT(pipe(pipe_ends), 0);
    child = fork();
    if (child == 0) {
        alarm(60);
        lock = 1;
        coil__stall_check_ns = COIL_MSEC(5);
        dup2(pipe_ends[1], STDERR_FILENO);
        coil_run(wait_in_a_task, NULL, &(coil_run_opts){.no_signals = true});
        _exit(0);
    }
    close(pipe_ends[1]);
    while ((got = read(pipe_ends[0], reported + n, sizeof reported - 1 - n)) > 0)
        n += (size_t)got;
    close(pipe_ends[0]);
    CHECK_INT(waitpid(child, &status, 0), child);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    CHECK(strstr(reported, "all threads wait for locks: see Futexes in docs/manual/") !=
          NULL);
}

static void on_alarm(int signo)
{
    (void)signo;
    lock = 0;
}

/* Wait for a lock that a signal handler releases. The signal interrupts futex(2). */
static int wait_for_handler(void *unused)
{
    struct sigaction action = {.sa_handler = on_alarm};
    struct itimerval late = {.it_value = {.tv_usec = 300000}};

    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &late, NULL);
    return wait_in_a_task(unused);
}

TEST(stall_that_a_signal_handler_may_end_does_not_abort)
{
    pthread_t thread;

    begin(&thread, do_nothing);
    CHECK_INT(coil_run(wait_for_handler, NULL, &(coil_run_opts){.no_signals = true}), 0);
    end(thread);
}

static void wait_in_a_callback(void *unused)
{
    (void)unused;
    wait_for_lock();
}

static int call_back(void *unused)
{
    (void)unused;
    coil_watch_locks();
    CHECK_INT(coil_call_soon(wait_in_a_callback, NULL, NULL), 0);
    return coil_yield();
}

TEST(stall_of_a_callback_is_reported)
{
    pthread_t thread;

    skip_without_proc();
    begin(&thread, read_report);
    CHECK_INT(coil_run(call_back, NULL, NULL), 0);
    end(thread);
    CHECK(strstr(reported, "coil: A task or callback") == reported);
}

static int wait_often(void *unused)
{
    (void)unused;
    coil_watch_locks();
    while (lock == 1) {
        struct timespec span = {.tv_nsec = coil__stall_check_ns};

        syscall(SYS_futex, &lock, FUTEX_WAIT_PRIVATE, 1, &span, NULL, 0);
    }
    return 0;
}

TEST(stall_is_not_reported_of_short_waits)
{
    pthread_t thread;

    begin(&thread, unlock_later);
    CHECK_INT(coil_run(wait_often, NULL, NULL), 0);
    CHECK(!was_reported());
    end(thread);
}

static int sleep_while_locked(void *unused)
{
    (void)unused;
    coil_watch_locks();
    return coil_sleep(30 * coil__stall_check_ns);
}

TEST(stall_is_not_reported_of_a_loop_that_is_idle)
{
    pthread_t thread;

    begin(&thread, unlock_later);
    CHECK_INT(coil_run(sleep_while_locked, NULL, NULL), 0);
    CHECK(!was_reported());
    end(thread);
}

static int watch(void *unused)
{
    (void)unused;
    coil_watch_locks();
    return 0;
}

TEST(stall_is_not_reported_outside_of_the_loop)
{
    coil_loop *loop;
    coil_task *task;
    pthread_t thread;

    begin(&thread, unlock_later);
    CHECK_INT(coil_loop_create(NULL, &loop), 0);
    CHECK_INT(coil_spawn(watch, NULL, NULL, &task), 0);
    CHECK_INT(coil_run_until_complete(coil_task_future(task)), 0);
    coil_task_release(task);
    wait_for_lock();
    coil_loop_close(loop);
    CHECK(!was_reported());
    end(thread);
}

static int wait_for_nothing(void *unused)
{
    coil_event event;

    (void)unused;
    coil_watch_locks();
    coil_event_init(&event);
    return coil_event_wait(&event);
}

/* The watching thread never posts, so it does not hide a deadlock. */
TEST(stall_watch_leaves_deadlocks_to_be_found)
{
    CHECK_INT(coil_run(wait_for_nothing, NULL, NULL), -EDEADLK);
}

/* ---- tasks that wait for locks ----------------------------------------------------- */

/* Wait for a lock as libcoil-posix does: check it repeatedly, and sleep in between. */
static int wait_suspended(void *unused)
{
    coil_lock_wait wait;
    int rc = 0;

    (void)unused;
    coil_lock_wait_begin(&wait, (const void *)(uintptr_t)wait_suspended, 0);
    while (lock == 1 && rc == 0) {
        coil_lock_wait_checked(&wait);
        rc = coil_sleep(coil__stall_check_ns);
    }
    coil_lock_wait_end(&wait);
    return rc;
}

TEST(stall_of_all_tasks_in_locks_of_threads_is_reported)
{
    pthread_t thread;

    begin(&thread, read_report);
    CHECK_INT(coil_run(wait_suspended, NULL, NULL), 0);
    end(thread);
    CHECK(strstr(reported, "coil: All tasks of a thread have waited for locks for ") ==
          reported);
    CHECK(strstr(reported, " in coil-tests") != NULL);
    CHECK(strstr(reported, "docs/manual/posix.md") != NULL);
}

static int wait_beside_a_sleeper(void *unused)
{
    coil_task *task;

    CHECK_INT(coil_spawn(wait_suspended, unused, NULL, &task), 0);
    CHECK_INT(coil_sleep(COIL_SEC(1) / 2), 0);
    unlock();
    CHECK_INT(coil_task_await(task), 0);
    coil_task_release(task);
    return 0;
}

TEST(stall_is_not_reported_while_a_task_sleeps)
{
    pthread_t thread;

    begin(&thread, do_nothing);
    CHECK_INT(coil_run(wait_beside_a_sleeper, NULL, NULL), 0);
    CHECK(!was_reported());
    end(thread);
}

/* Compute for half a second without a pause, and unlock. */
static void *compute(void *unused)
{
    int64_t end = coil_now() + COIL_SEC(1) / 2;

    while (coil_now() < end)
        continue;
    unlock();
    return unused;
}

TEST(stall_is_not_reported_while_another_thread_computes)
{
    pthread_t thread;

    begin(&thread, compute);
    CHECK_INT(coil_run(wait_suspended, NULL, NULL), 0);
    CHECK(!was_reported());
    end(thread);
}

TEST(stall_of_all_tasks_in_locks_is_a_deadlock_without_threads)
{
    lock = 1;
    CHECK_INT(coil_run(wait_suspended, NULL,
                       &(coil_run_opts){.no_report = true, .no_signals = true}),
              -EDEADLK);
}
