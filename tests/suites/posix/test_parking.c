/*
 * test_parking.c - tasks that wait for locks, conditions and semaphores: which of them
 * are woken, how often, and at what cost.
 */
#include "differential.h"

#include <netdb.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/wait.h>
#include <time.h>

/* Many tasks that wait for one condition until the test releases them. */
struct crowd {
    pthread_mutex_t mutex;
    pthread_cond_t cond;
    int waiting, may_go, gone, returns;
};

static struct crowd crowd;

static void begin_crowd(void)
{
    crowd = (struct crowd){.mutex = PTHREAD_MUTEX_INITIALIZER,
                           .cond = PTHREAD_COND_INITIALIZER};
}

static int wait_in_crowd(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&crowd.mutex);
    crowd.waiting++;
    while (crowd.may_go == 0) {
        CHECK_INT(pthread_cond_wait(&crowd.cond, &crowd.mutex), 0);
        crowd.returns++;
    }
    crowd.may_go--;
    crowd.gone++;
    pthread_mutex_unlock(&crowd.mutex);
    return 0;
}

static void *wait_on_thread(void *unused)
{
    wait_in_crowd(unused);
    return NULL;
}

static void wait_for_crowd(const int *number, int n)
{
    int now;

    do {
        usleep(500);
        pthread_mutex_lock(&crowd.mutex);
        now = *number;
        pthread_mutex_unlock(&crowd.mutex);
    } while (now < n);
}

static void let_go(int n)
{
    pthread_mutex_lock(&crowd.mutex);
    crowd.may_go += n;
    pthread_mutex_unlock(&crowd.mutex);
}

static void *signal_once(void *unused)
{
    let_go(1);
    pthread_cond_signal(&crowd.cond);
    return unused;
}

IO_TEST(condition_wakes_one_task_for_each_signal_of_any_thread)
{
    coil_task *tasks[4];
    pthread_t thread;

    begin_crowd();
    for (int i = 0; i < 4; i++)
        tasks[i] = start_task(wait_in_crowd, NULL);
    wait_for_crowd(&crowd.waiting, 4);
    signal_once(NULL);
    wait_for_crowd(&crowd.gone, 1);
    CHECK_INT(pthread_create(&thread, NULL, signal_once, NULL), 0);
    wait_for_crowd(&crowd.gone, 2);
    CHECK_INT(pthread_join(thread, NULL), 0);
    let_go(2);
    pthread_cond_broadcast(&crowd.cond);
    for (int i = 0; i < 4; i++)
        finish_task(tasks[i]);
    CHECK_INT(crowd.returns, 4);
}

IO_TEST(condition_of_a_task_and_a_thread_loses_no_signal)
{
    coil_task *task;
    pthread_t thread;

    begin_crowd();
    CHECK_INT(pthread_create(&thread, NULL, wait_on_thread, NULL), 0);
    task = start_task(wait_in_crowd, NULL);
    wait_for_crowd(&crowd.waiting, 2);
    signal_once(NULL);
    wait_for_crowd(&crowd.gone, 1);
    signal_once(NULL);
    finish_task(task);
    CHECK_INT(pthread_join(thread, NULL), 0);
    CHECK_INT(crowd.gone, 2);
}

IO_TEST(condition_waited_for_with_a_new_deadline_each_time_times_out)
{
    struct timespec until;

    begin_crowd();
    pthread_mutex_lock(&crowd.mutex);
    for (int i = 0; i < 5; i++) {
        until = from_now(CLOCK_REALTIME, 10);
        CHECK_INT(pthread_cond_timedwait(&crowd.cond, &crowd.mutex, &until), ETIMEDOUT);
    }
    pthread_mutex_unlock(&crowd.mutex);
}

IO_TEST(condition_wait_that_is_cancelled_returns_once)
{
    coil_task *task;

    begin_crowd();
    task = start_task(wait_in_crowd, NULL);
    wait_for_crowd(&crowd.waiting, 1);
    coil_task_cancel(task, NULL);
    wait_for_crowd(&crowd.returns, 1);
    coil_sleep(COIL_MSEC(50));
    CHECK_INT(crowd.returns, 1);
    signal_once(NULL);
    coil_task_await(task);
    coil_task_release(task);
    CHECK_INT(crowd.returns, 2);
}

static int64_t processor_time(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return COIL_SEC(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           COIL_USEC(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

IO_TEST(condition_with_a_thousand_idle_waiters_costs_next_to_nothing)
{
    enum { COUNT = 1000 };
    static coil_task *tasks[COUNT];
    int64_t before;

    if (test_under_valgrind())
        test_skip("it is about what waiting costs, and Valgrind makes all dear");
    begin_crowd();
    for (int i = 0; i < COUNT; i++)
        CHECK_INT(coil_spawn(wait_in_crowd, NULL, NULL, &tasks[i]), 0);
    wait_for_crowd(&crowd.waiting, COUNT);
    coil_sleep(COIL_MSEC(20));
    before = processor_time();
    coil_sleep(COIL_MSEC(500));
    /* at most 10 % of the time; usually far below 1 % */
    CHECK(processor_time() - before < COIL_MSEC(50));
    let_go(COUNT);
    pthread_cond_broadcast(&crowd.cond);
    for (int i = 0; i < COUNT; i++)
        finish_task(tasks[i]);
}

/* ---- shared between processes ------------------------------------------------------ */

struct shared {
    pthread_mutex_t mutex;
    pthread_cond_t cond;
    sem_t posted;
    bool changed;
};

static struct shared *share(void)
{
    struct shared *s =
        mmap(NULL, sizeof *s, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pthread_mutexattr_t of_mutex;
    pthread_condattr_t of_cond;

    CHECK(s != MAP_FAILED);
    pthread_mutexattr_init(&of_mutex);
    pthread_mutexattr_setpshared(&of_mutex, PTHREAD_PROCESS_SHARED);
    pthread_condattr_init(&of_cond);
    pthread_condattr_setpshared(&of_cond, PTHREAD_PROCESS_SHARED);
    CHECK_INT(pthread_mutex_init(&s->mutex, &of_mutex), 0);
    CHECK_INT(pthread_cond_init(&s->cond, &of_cond), 0);
    CHECK_INT(sem_init(&s->posted, 1, 0), 0);
    return s;
}

/*
 * Set the flag, and wake the parent. The child can lock the mutex only while the parent
 * waits for the condition.
 */
static void change_and_post(struct shared *s)
{
    pthread_mutex_lock(&s->mutex);
    s->changed = true;
    pthread_cond_signal(&s->cond);
    pthread_mutex_unlock(&s->mutex);
    pthread_mutex_lock(&s->mutex);
    sem_post(&s->posted);
    usleep(5000);
    pthread_mutex_unlock(&s->mutex);
}

IO_TEST(locks_shared_with_a_process_are_had)
{
    struct shared *s = share();
    int status = -1;
    pid_t pid;

    CHECK_INT(pthread_mutex_lock(&s->mutex), 0);
    pid = fork();
    if (pid == 0) {
        alarm(60);
        change_and_post(s);
        _exit(0);
    }
    while (!s->changed)
        CHECK_INT(pthread_cond_wait(&s->cond, &s->mutex), 0);
    CHECK_INT(pthread_mutex_unlock(&s->mutex), 0);
    CHECK_INT(sem_wait(&s->posted), 0);
    CHECK_INT(pthread_mutex_lock(&s->mutex), 0);
    CHECK_INT(pthread_mutex_unlock(&s->mutex), 0);
    CHECK_INT(waitpid(pid, &status, 0), pid);
    CHECK_INT(status, 0);
    CHECK_INT(munmap(s, sizeof *s), 0);
}

/* ---- locks released by others ------------------------------------------------------ */

static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static sem_t semaphore;

static int write_locked(void *unused)
{
    (void)unused;
    CHECK_INT(pthread_rwlock_wrlock(&rwlock), 0);
    CHECK_INT(pthread_rwlock_unlock(&rwlock), 0);
    return 0;
}

static int take_semaphore(void *unused)
{
    (void)unused;
    CHECK_INT(sem_wait(&semaphore), 0);
    return 0;
}

static void post(int unused)
{
    (void)unused;
    sem_post(&semaphore);
}

IO_TEST(rwlock_unlocked_wakes_those_that_wait)
{
    coil_task *tasks[3];

    CHECK_INT(pthread_rwlock_rdlock(&rwlock), 0);
    for (int i = 0; i < 3; i++)
        tasks[i] = start_task(write_locked, NULL);
    coil_sleep(COIL_MSEC(10));
    CHECK_INT(pthread_rwlock_unlock(&rwlock), 0);
    for (int i = 0; i < 3; i++)
        finish_task(tasks[i]);
}

IO_TEST(semaphore_posted_by_a_signal_handler_wakes)
{
    struct sigaction action = {.sa_handler = post}, before;
    coil_task *tasks[3];

    CHECK_INT(sem_init(&semaphore, 0, 0), 0);
    CHECK_INT(sigaction(SIGUSR2, &action, &before), 0);
    for (int i = 0; i < 3; i++)
        tasks[i] = start_task(take_semaphore, NULL);
    coil_sleep(COIL_MSEC(10));
    for (int i = 0; i < 3; i++)
        raise(SIGUSR2);
    for (int i = 0; i < 3; i++)
        finish_task(tasks[i]);
    CHECK_INT(sigaction(SIGUSR2, &before, NULL), 0);
}

static int take_two(void *sem)
{
    CHECK_INT(sem_wait(sem), 0);
    CHECK_INT(sem_wait(sem), 0);
    return 0;
}

/*
 * Semaphores share the slots of a table for waiting tasks, so a post may wake a task that
 * waits for another semaphore of the same slot. That task waits again, and the same post
 * must not wake it twice.
 */
IO_TEST(semaphores_in_great_number_wake_no_more_than_they_must)
{
    enum { COUNT = 512 };
    static coil_task *tasks[COUNT];
    static sem_t many[COUNT];
    int64_t before;

    if (test_under_valgrind())
        test_skip("it is about what waiting costs, and Valgrind makes all dear");
    for (int i = 0; i < COUNT; i++) {
        CHECK_INT(sem_init(&many[i], 0, 0), 0);
        CHECK_INT(coil_spawn(take_two, &many[i], NULL, &tasks[i]), 0);
    }
    settle();
    for (int i = 0; i < COUNT; i++)
        CHECK_INT(sem_post(&many[i]), 0);
    coil_sleep(COIL_MSEC(20));
    before = processor_time();
    coil_sleep(COIL_MSEC(500));
    CHECK(processor_time() - before < COIL_MSEC(100));
    for (int i = 0; i < COUNT; i++)
        CHECK_INT(sem_post(&many[i]), 0);
    for (int i = 0; i < COUNT; i++)
        finish_task(tasks[i]);
}

static int lock_a_thousand(void *arg)
{
    pthread_mutex_t *many = arg;

    for (int i = 0; i < 1000; i++)
        CHECK_INT(pthread_mutex_lock(&many[i]), 0);
    coil_sleep(COIL_MSEC(1));
    for (int i = 0; i < 1000; i++)
        CHECK_INT(pthread_mutex_unlock(&many[i]), 0);
    return 0;
}

static int find_all_locked(void *arg)
{
    pthread_mutex_t *many = arg;

    for (int i = 0; i < 1000; i++)
        CHECK_INT(pthread_mutex_trylock(&many[i]), EBUSY);
    return 0;
}

IO_TEST(recursive_mutexes_are_known_however_many_are_held)
{
    static pthread_mutex_t many[1000];
    pthread_mutexattr_t attributes;
    coil_task *holder;

    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
    for (int i = 0; i < 1000; i++)
        CHECK_INT(pthread_mutex_init(&many[i], &attributes), 0);
    holder = start_task(lock_a_thousand, many);
    coil_yield();
    finish_task(start_task(find_all_locked, many));
    finish_task(holder);
    finish_task(start_task(lock_a_thousand, many));
}

/* ---- a delayed cancellation -------------------------------------------------------- */

static int quiet[2];
static bool was_read;

static int read_then_sleep(void *unused)
{
    char byte;

    (void)unused;
    was_read = read(quiet[0], &byte, 1) == 1;
    return coil_sleep(COIL_SEC(1000));
}

static int read_under_a_deadline(void *unused)
{
    coil_scope scope;
    char byte;
    int rc;

    (void)unused;
    CHECK_INT(coil_scope_enter(&scope, coil_in(COIL_MSEC(5))), 0);
    was_read = read(quiet[0], &byte, 1) == 1;
    rc = coil_scope_exit(&scope, coil_sleep(COIL_SEC(1000)));
    CHECK_INT(rc, -ETIMEDOUT);
    return 0;
}

IO_TEST(held_cancellation_waits_for_a_call_of_coils)
{
    coil_spawn_opts opts = {.hold_cancel = true};
    coil_task *task;

    make_pipe(quiet);
    was_read = false;
    CHECK_INT(coil_spawn(read_then_sleep, NULL, &opts, &task), 0);
    coil_sleep(COIL_MSEC(5));
    coil_task_cancel(task, NULL);
    coil_sleep(COIL_MSEC(5));
    CHECK_INT(write(quiet[1], "x", 1), 1);
    CHECK_INT(coil_task_await(task), -ECANCELED);
    CHECK(was_read);
    coil_task_release(task);
    close_both(quiet);
}

IO_TEST(held_deadline_is_not_lost)
{
    coil_spawn_opts opts = {.hold_cancel = true};
    coil_task *task;

    make_pipe(quiet);
    was_read = false;
    CHECK_INT(coil_spawn(read_under_a_deadline, NULL, &opts, &task), 0);
    coil_sleep(COIL_MSEC(20));
    CHECK_INT(write(quiet[1], "x", 1), 1);
    CHECK_INT(coil_task_await(task), 0);
    CHECK(was_read);
    coil_task_release(task);
    close_both(quiet);
}

/* ---- memory of the caller ---------------------------------------------------------- */

static struct {
    fd_mask set[1];
    long behind;
} small;

static int select_small(void *unused)
{
    struct timeval time = {.tv_sec = 100};

    (void)unused;
    small.set[0] = (fd_mask)1 << quiet[0];
    CHECK_INT(select(quiet[0] + 1, (fd_set *)(void *)small.set, NULL, NULL, &time), 1);
    return 0;
}

IO_TEST(select_leaves_alone_what_lies_behind_a_small_set)
{
    coil_task *task;

    make_pipe(quiet);
    CHECK(quiet[0] < NFDBITS);
    task = start_task(select_small, NULL);
    coil_sleep(COIL_MSEC(2));
    small.behind = 30;
    CHECK_INT(write(quiet[1], "x", 1), 1);
    finish_task(task);
    CHECK_INT(small.behind, 30);
    close_both(quiet);
}

static int keep_host(void *address)
{
    struct hostent *entry = gethostbyname(address);
    struct hostent *other;

    CHECK(entry != NULL);
    coil_sleep(COIL_MSEC(5));
    CHECK_STR(entry->h_name, address);
    other = gethostbyaddr(entry->h_addr_list[0], 4, AF_INET);
    (void)other;
    CHECK_STR(entry->h_name, address);
    return 0;
}

IO_TEST(look_up_keeps_the_answer_of_each_task)
{
    coil_task *tasks[2] = {start_task(keep_host, "127.0.0.1"),
                           start_task(keep_host, "127.0.0.2")};

    finish_task(tasks[0]);
    finish_task(tasks[1]);
}
