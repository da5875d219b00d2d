/*
 * test_deadlocks.c - tasks that wait for locks. The loop must report a deadlock if only
 * tasks of this thread could release the locks, but not if something else could, such as
 * another thread or a signal handler.
 */
#include "differential.h"

#include <dlfcn.h>
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>

#define LATE_US 700000 /* longer than it takes to report a deadlock */

static _Atomic uint32_t word, *shared_word;
static char message[400];

static void note_message(const coil_exception *exception, void *unused)
{
    (void)unused;
    if (message[0] == '\0')
        snprintf(message, sizeof message, "%s", exception->message);
}

static void wait_once(void)
{
    coil_set_exception_handler(note_message, NULL);
    syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
}

static void wake(void)
{
    word = 1;
    syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static int run_with_backend(coil_task_fn fn)
{
    word = 0;
    message[0] = '\0';
    return coil_run(fn, NULL, NULL);
}

/* ---- deadlocks --------------------------------------------------------------------- */

static int wait_for_futex(void *unused)
{
    (void)unused;
    wait_once();
    return 0;
}

static int wait_for_futex_and_event(void *unused)
{
    coil_task *task;

    CHECK_INT(coil_spawn(wait_for_futex, unused, NULL, &task), 0);
    coil_task_await(task);
    coil_task_release(task);
    return 0;
}

static void check_message(void)
{
    CHECK(strstr(message, "Deadlock") == message);
    CHECK(strstr(message, "docs/manual/posix.md") != NULL);
}

TEST(deadlock_of_a_futex_is_reported_with_the_module_that_waits)
{
    CHECK_INT(run_with_backend(wait_for_futex), -EDEADLK);
    check_message();
    CHECK(strstr(message, "posix-tests") != NULL);
}

TEST(deadlock_of_a_futex_and_of_an_event_is_reported)
{
    CHECK_INT(run_with_backend(wait_for_futex_and_event), -EDEADLK);
    check_message();
}

/* Run `fn` in a child process, because its tasks cannot be cancelled. */
static void check_deadlock_in_child(coil_task_fn fn)
{
    int status = -1;
    pid_t child = fork();

    if (child == 0) {
        alarm(60);
        status = run_with_backend(fn) == -EDEADLK && strstr(message, "Futexes") != NULL;
        _exit(status ? 0 : 1);
    }
    CHECK_INT(waitpid(child, &status, 0), child);
    CHECK_INT(status, 0);
}

static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER, two = PTHREAD_MUTEX_INITIALIZER;

static int lock_both(void *arg)
{
    pthread_mutex_t *first = arg != NULL ? &one : &two, *second = arg ? &two : &one;

    coil_set_exception_handler(note_message, NULL);
    pthread_mutex_lock(first);
    coil_yield();
    return pthread_mutex_lock(second);
}

static int lock_in_both_orders(void *unused)
{
    coil_task *task;

    (void)unused;
    CHECK_INT(coil_spawn(lock_both, &one, NULL, &task), 0);
    return lock_both(NULL);
}

static int lock_twice(void *unused)
{
    (void)unused;
    coil_set_exception_handler(note_message, NULL);
    pthread_mutex_lock(&one);
    return pthread_mutex_lock(&one);
}

static int read_twice(void *unused)
{
    pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;

    (void)unused;
    coil_set_exception_handler(note_message, NULL);
    pthread_rwlock_rdlock(&lock);
    return pthread_rwlock_wrlock(&lock);
}

static sem_t semaphore;

static int wait_for_post(void *unused)
{
    (void)unused;
    coil_set_exception_handler(note_message, NULL);
    return sem_wait(&semaphore);
}

static int post(void *unused)
{
    (void)unused;
    return sem_post(&semaphore);
}

/*
 * Wait for a semaphore first, so that libcoil-posix starts its thread for waking tasks,
 * and then cause a deadlock.
 */
static int lock_in_both_orders_after_a_post(void *unused)
{
    coil_task *task;

    CHECK_INT(coil_spawn(post, unused, NULL, &task), 0);
    CHECK_INT(wait_for_post(unused), 0);
    coil_task_await(task);
    return lock_in_both_orders(unused);
}

static int wait_for_signal(void *unused)
{
    pthread_cond_t cond = PTHREAD_COND_INITIALIZER;

    (void)unused;
    coil_set_exception_handler(note_message, NULL);
    pthread_mutex_lock(&one);
    while (word == 0)
        pthread_cond_wait(&cond, &one);
    return 0;
}

TEST(deadlock_of_two_mutexes_is_reported)
{
    check_deadlock_in_child(lock_in_both_orders);
}

TEST(deadlock_of_a_mutex_that_its_task_holds_is_reported)
{
    check_deadlock_in_child(lock_twice);
}

TEST(deadlock_of_a_read_write_lock_is_reported)
{
    check_deadlock_in_child(read_twice);
}

static pthread_cond_t conds[2] = {PTHREAD_COND_INITIALIZER, PTHREAD_COND_INITIALIZER};

/* Wait for a condition that only the other task could signal. */
static int wait_for_condition(void *cond)
{
    coil_set_exception_handler(note_message, NULL);
    pthread_mutex_lock(&one);
    while (word == 0)
        pthread_cond_wait(cond, &one);
    return pthread_mutex_unlock(&one);
}

static int wait_for_two_conditions(void *unused)
{
    coil_task *task;

    (void)unused;
    CHECK_INT(coil_spawn(wait_for_condition, &conds[0], NULL, &task), 0);
    return wait_for_condition(&conds[1]);
}

static int wait_for_condition_and_mutex(void *unused)
{
    coil_task *task;

    (void)unused;
    pthread_mutex_lock(&two);
    CHECK_INT(coil_spawn(lock_both, &two, NULL, &task), 0);
    return wait_for_condition(&conds[0]);
}

TEST(deadlock_of_a_semaphore_is_reported)
{
    CHECK_INT(sem_init(&semaphore, 0, 0), 0);
    check_deadlock_in_child(wait_for_post);
}

TEST(deadlock_of_mutexes_after_a_wait_for_a_semaphore_is_reported)
{
    CHECK_INT(sem_init(&semaphore, 0, 0), 0);
    check_deadlock_in_child(lock_in_both_orders_after_a_post);
}

TEST(deadlock_of_a_condition_is_reported)
{
    check_deadlock_in_child(wait_for_signal);
}

static int64_t time_of_report(coil_task_fn fn)
{
    struct timespec start, end;

    clock_gettime(CLOCK_MONOTONIC, &start);
    check_deadlock_in_child(fn);
    clock_gettime(CLOCK_MONOTONIC, &end);
    return (end.tv_sec - start.tv_sec) * 1000 + (end.tv_nsec - start.tv_nsec) / 1000000;
}

/*
 * A deadlock is reported after each task has checked what it waits for: a lock every 100
 * ms, and a condition every second.
 */
TEST(deadlock_is_reported_once_each_task_has_checked)
{
    int64_t of_locks = time_of_report(lock_in_both_orders);

    CHECK(time_of_report(wait_for_two_conditions) > of_locks);
    CHECK(time_of_report(wait_for_condition_and_mutex) > of_locks);
}

/* ---- waits that end ---------------------------------------------------------------- */

static void *wake_late(void *unused)
{
    usleep(LATE_US);
    wake();
    return unused;
}

static int wake_late_in_task(void *unused)
{
    wake_late(unused);
    return 0;
}

static int wait_beside_a_sleep(void *unused)
{
    coil_task *task;

    CHECK_INT(coil_spawn(wake_late_in_task, unused, NULL, &task), 0);
    wait_once();
    coil_task_await(task);
    coil_task_release(task);
    return 0;
}

static int wait_beside_a_reader(void *unused)
{
    coil_task *task;
    int ends[2];
    char byte;

    (void)unused;
    CHECK_INT(pipe(ends), 0);
    if (fork() == 0) {
        usleep(LATE_US);
        _exit(write(ends[1], "x", 1) != 1);
    }
    CHECK_INT(coil_spawn(wait_for_futex, NULL, NULL, &task), 0);
    CHECK_INT(read(ends[0], &byte, 1), 1);
    wake();
    coil_task_await(task);
    coil_task_release(task);
    wait(NULL);
    close(ends[0]);
    close(ends[1]);
    return 0;
}

static int wait_for_thread(void *unused)
{
    pthread_t thread;

    (void)unused;
    CHECK_INT(pthread_create(&thread, NULL, wake_late, NULL), 0);
    wait_once();
    return pthread_join(thread, NULL);
}

static int wait_for_job(void *unused)
{
    coil_task *task;

    (void)unused;
    CHECK_INT(coil_spawn(wait_for_futex, NULL, NULL, &task), 0);
    CHECK_INT(coil_blocking(COIL_LANE_FILE, wake_late_in_task, NULL), 0);
    coil_task_await(task);
    coil_task_release(task);
    return 0;
}

/*
 * Change the word in a signal handler, which must not call libcoil. The task notices the
 * change at its next check.
 */
static void on_alarm(int signo)
{
    (void)signo;
    word = 1;
}

static int wait_for_handler(void *unused)
{
    struct itimerval late = {.it_value = {.tv_usec = LATE_US}};

    (void)unused;
    signal(SIGALRM, on_alarm);
    setitimer(ITIMER_REAL, &late, NULL);
    wait_once();
    signal(SIGALRM, SIG_DFL);
    return 0;
}

static int wait_for_process(void *unused)
{
    (void)unused;
    coil_set_exception_handler(note_message, NULL);
    if (fork() == 0) {
        usleep(LATE_US);
        *shared_word = 1;
        _exit(0);
    }
    syscall(SYS_futex, shared_word, FUTEX_WAIT, 0, NULL, NULL, 0);
    wait(NULL);
    return 0;
}

static int wait_for_mutex_of_process(void *unused)
{
    pthread_mutex_t *mutex = (pthread_mutex_t *)(void *)(shared_word + 16);
    pthread_mutexattr_t attributes;

    (void)unused;
    coil_set_exception_handler(note_message, NULL);
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_mutex_init(mutex, &attributes);
    *shared_word = 0;
    if (fork() == 0) {
        pthread_mutex_lock(mutex);
        *shared_word = 1;
        usleep(LATE_US);
        pthread_mutex_unlock(mutex);
        _exit(0);
    }
    while (*shared_word == 0)
        usleep(1000);
    CHECK_INT(pthread_mutex_lock(mutex), 0);
    CHECK_INT(pthread_mutex_unlock(mutex), 0);
    wait(NULL);
    return 0;
}

/*
 * Signal a condition with the C library's own function, which does not wake tasks. Any
 * code that bypasses libcoil-posix has the same effect.
 */
static void signal_without_library(pthread_cond_t *cond)
{
    int (*signal_of_libc)(pthread_cond_t *) = (int (*)(pthread_cond_t *))(uintptr_t)dlsym(
        dlopen("libc.so.6", RTLD_LAZY), "pthread_cond_signal");

    word = 1;
    CHECK(signal_of_libc != pthread_cond_signal);
    CHECK_INT(signal_of_libc(cond), 0);
}

static int signal_and_end(void *cond)
{
    signal_without_library(cond);
    return 0;
}

static int wait_for_condition_of_task(void *unused)
{
    coil_task *task;

    (void)unused;
    CHECK_INT(coil_spawn(signal_and_end, &conds[0], NULL, &task), 0);
    CHECK_INT(wait_for_condition(&conds[0]), 0);
    coil_task_await(task);
    coil_task_release(task);
    return 0;
}

static int wait_for_condition_of_job(void *unused)
{
    coil_task *task;

    (void)unused;
    CHECK_INT(coil_spawn(wait_for_condition, &conds[0], NULL, &task), 0);
    CHECK_INT(coil_blocking(COIL_LANE_FILE, signal_and_end, &conds[0]), 0);
    coil_task_await(task);
    coil_task_release(task);
    return 0;
}

static void *signal_in_thread(void *cond)
{
    usleep(300000);
    signal_without_library(cond);
    return NULL;
}

/*
 * Wait for a condition that a thread signals. When the task notices the signal, the
 * thread has long ended.
 */
static int wait_for_condition_of_thread(void *unused)
{
    pthread_t thread;

    (void)unused;
    CHECK_INT(pthread_create(&thread, NULL, signal_in_thread, &conds[0]), 0);
    CHECK_INT(pthread_detach(thread), 0);
    return wait_for_condition(&conds[0]);
}

static void *signal_of_timer;

static void on_timer(int signo)
{
    (void)signo;
    word = 1;
    ((int (*)(pthread_cond_t *))(uintptr_t)signal_of_timer)(&conds[0]);
    signal(SIGALRM, SIG_DFL); /* now no handler can end the wait any more */
}

static int wait_for_condition_of_handler(void *unused)
{
    struct itimerval soon = {.it_value = {.tv_usec = 150000}};

    (void)unused;
    signal_of_timer = dlsym(dlopen("libc.so.6", RTLD_LAZY), "pthread_cond_signal");
    signal(SIGALRM, on_timer);
    setitimer(ITIMER_REAL, &soon, NULL);
    return wait_for_condition(&conds[0]);
}

/*
 * Alternate with another task. The signals bypass libcoil-posix, so a task notices each
 * of them only after a second.
 */
static int take_turns(void *arg)
{
    unsigned own = arg == &conds[1];
    uint32_t next;

    coil_set_exception_handler(note_message, NULL);
    for (int i = 0; i < 3; i++) {
        pthread_mutex_lock(&one);
        while (word % 2 != own)
            pthread_cond_wait(&conds[own], &one);
        next = word + 1;
        signal_without_library(&conds[!own]);
        word = next;
        pthread_mutex_unlock(&one);
    }
    return 0;
}

static int take_turns_with_a_task(void *unused)
{
    coil_task *task;

    (void)unused;
    CHECK_INT(coil_spawn(take_turns, &conds[1], NULL, &task), 0);
    CHECK_INT(take_turns(&conds[0]), 0);
    coil_task_await(task);
    coil_task_release(task);
    return 0;
}

static void *post_late(void *unused)
{
    usleep(LATE_US);
    sem_post(&semaphore);
    return unused;
}

static int wait_for_post_of_thread(void *unused)
{
    pthread_t thread;

    CHECK_INT(pthread_create(&thread, NULL, post_late, NULL), 0);
    CHECK_INT(wait_for_post(unused), 0);
    return pthread_join(thread, NULL);
}

static void post_on_alarm(int signo)
{
    (void)signo;
    sem_post(&semaphore);
}

static int wait_for_post_of_handler(void *unused)
{
    struct itimerval late = {.it_value = {.tv_usec = LATE_US}};

    signal(SIGALRM, post_on_alarm);
    setitimer(ITIMER_REAL, &late, NULL);
    CHECK_INT(wait_for_post(unused), 0);
    signal(SIGALRM, SIG_DFL);
    return 0;
}

static int wait_for_post_of_process(void *unused)
{
    sem_t *shared = (sem_t *)(void *)(shared_word + 32);

    (void)unused;
    coil_set_exception_handler(note_message, NULL);
    CHECK_INT(sem_init(shared, 1, 0), 0);
    if (fork() == 0) {
        usleep(LATE_US);
        sem_post(shared);
        _exit(0);
    }
    CHECK_INT(sem_wait(shared), 0);
    wait(NULL);
    return 0;
}

static int wait_in_scope(void *unused)
{
    coil_scope scope;

    CHECK_INT(coil_scope_enter(&scope, coil_in(COIL_USEC(LATE_US))), 0);
    wait_for_futex(unused);
    return coil_scope_exit(&scope, -ECANCELED) == -ETIMEDOUT ? 0 : -1;
}

static int wait_with_limit(void *unused)
{
    struct timespec span = {.tv_nsec = LATE_US * 1000L};

    (void)unused;
    coil_set_exception_handler(note_message, NULL);
    CHECK_INT(syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &span, NULL, 0), -1);
    CHECK_INT(errno, ETIMEDOUT);
    return 0;
}

static void check_no_deadlock(coil_task_fn fn)
{
    CHECK_INT(run_with_backend(fn), 0);
    CHECK_STR(message, "");
}

IO_TEST(lock_wait_beside_a_sleep_is_no_deadlock)
{
    word = 0;
    wait_beside_a_sleep(NULL);
    CHECK_STR(message, "");
}

IO_TEST(lock_wait_beside_a_reader_is_no_deadlock)
{
    word = 0;
    wait_beside_a_reader(NULL);
    CHECK_STR(message, "");
}

TEST(lock_wait_that_a_thread_ends_is_no_deadlock)
{
    check_no_deadlock(wait_for_thread);
    CHECK_INT(sem_init(&semaphore, 0, 0), 0);
    check_no_deadlock(wait_for_post_of_thread);
}

TEST(lock_wait_that_a_blocking_job_ends_is_no_deadlock)
{
    check_no_deadlock(wait_for_job);
}

TEST(lock_wait_that_a_signal_handler_ends_is_no_deadlock)
{
    check_no_deadlock(wait_for_handler);
    CHECK_INT(sem_init(&semaphore, 0, 0), 0);
    check_no_deadlock(wait_for_post_of_handler);
}

TEST(condition_that_is_signalled_without_the_library_is_no_deadlock)
{
    check_no_deadlock(wait_for_condition_of_task);
    check_no_deadlock(wait_for_condition_of_job);
    check_no_deadlock(wait_for_condition_of_thread);
    check_no_deadlock(wait_for_condition_of_handler);
}

TEST(condition_that_tasks_signal_in_turns_without_the_library_is_no_deadlock)
{
    check_no_deadlock(take_turns_with_a_task);
}

TEST(lock_wait_that_another_process_ends_is_no_deadlock)
{
    shared_word =
        mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    check_no_deadlock(wait_for_process);
    check_no_deadlock(wait_for_mutex_of_process);
    check_no_deadlock(wait_for_post_of_process);
    munmap((void *)shared_word, 4096);
}

TEST(lock_wait_that_a_deadline_ends_is_no_deadlock)
{
    check_no_deadlock(wait_in_scope);
    check_no_deadlock(wait_with_limit);
}

/* ---- threads that block ------------------------------------------------------------ */

static void block_in_callback(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&one);
}

static int block_for_ever(void *unused)
{
    coil_watch_locks();
    CHECK_INT(coil_call_soon(block_in_callback, unused, NULL), 0);
    return coil_sleep(COIL_SEC(60));
}

static void *run_blocked_loop(void *unused)
{
    coil_run(block_for_ever, NULL, &(coil_run_opts){.no_signals = true});
    return unused;
}

static int wait_in_vain(void *unused)
{
    coil_event event;

    (void)unused;
    coil_event_init(&event);
    return coil_event_wait(&event);
}

/*
 * If the thread of one loop is blocked, and another loop waits without a timeout, coil
 * must not abort. Ctrl-C ends the second loop.
 */
TEST(blocked_thread_beside_an_idle_loop_does_not_abort)
{
    pthread_t thread;
    int status = -1;
    pid_t child = fork();

    if (child == 0) {
        alarm(60);
        pthread_mutex_lock(&one);
        pthread_create(&thread, NULL, run_blocked_loop, NULL);
        _exit(coil_run(wait_in_vain, NULL, NULL) == -EINTR ? 0 : 1);
    }
    usleep(3500000); /* if coil aborted, it would do so within 3 s */
    CHECK_INT(kill(child, SIGINT), 0);
    CHECK_INT(waitpid(child, &status, 0), child);
    CHECK_INT(status, 0);
}
