/*
 * test_locks.c - thread locks and file locks, which have the same results in a task and
 * outside tasks, and locks that tasks share.
 */
#include "differential.h"

#include <pthread.h>
#include <semaphore.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <time.h>

static void init_mutex(pthread_mutex_t *mutex, int type)
{
    pthread_mutexattr_t attributes;

    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, type);
    CHECK_INT(pthread_mutex_init(mutex, &attributes), 0);
    pthread_mutexattr_destroy(&attributes);
}

/* ---- shared with threads ----------------------------------------------------------- */

static pthread_mutex_t shared = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t shared_rw = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static sem_t semaphore;
static _Atomic bool flag, released;

static void hold_mutex(int unused)
{
    (void)unused;
    CHECK_INT(pthread_mutex_lock(&shared), 0);
    CHECK_INT(pthread_rwlock_wrlock(&shared_rw), 0);
    flag = true;
    while (!released)
        usleep(1000);
    CHECK_INT(pthread_rwlock_unlock(&shared_rw), 0);
    CHECK_INT(pthread_mutex_unlock(&shared), 0);
}

static void wait_for_holder(void)
{
    flag = released = false;
    later(0, hold_mutex, 0);
    while (!flag)
        usleep(1000);
}

static void release(int unused)
{
    (void)unused;
    released = true;
}

SAME(lock_what_another_thread_has, true)
{
    struct timespec soon;

    wait_for_holder();
    soon = from_now(CLOCK_REALTIME, 5);
    RECORD(pthread_mutex_trylock(&shared));
    RECORD(pthread_mutex_timedlock(&shared, &soon));
    later(20, release, 0);
    RECORD(pthread_mutex_lock(&shared));
    RECORD(pthread_rwlock_rdlock(&shared_rw));
    RECORD(pthread_rwlock_rdlock(&shared_rw));
    RECORD(pthread_rwlock_unlock(&shared_rw));
    RECORD(pthread_rwlock_unlock(&shared_rw));
    RECORD(pthread_rwlock_wrlock(&shared_rw));
    RECORD(pthread_rwlock_unlock(&shared_rw));
    RECORD(pthread_mutex_unlock(&shared));
    finish_later();
}

static void change(int unused)
{
    (void)unused;
    pthread_mutex_lock(&shared);
    flag = true;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&shared);
    sem_post(&semaphore);
}

SAME(wait_for_a_condition, true)
{
    struct timespec soon;
    int rc = 0;

    flag = false;
    CHECK_INT(sem_init(&semaphore, 0, 0), 0);
    RECORD(pthread_mutex_lock(&shared));
    soon = from_now(CLOCK_REALTIME, 30);
    while (rc == 0)
        rc = pthread_cond_timedwait(&changed, &shared, &soon);
    RECORD(rc);
    soon = from_now(CLOCK_MONOTONIC, 30);
    for (rc = 0; rc == 0;)
        rc = pthread_cond_clockwait(&changed, &shared, CLOCK_MONOTONIC, &soon);
    RECORD(rc);
    later(20, change, 0);
    while (!flag)
        CHECK_INT(pthread_cond_wait(&changed, &shared), 0);
    RECORD(pthread_mutex_trylock(&shared)); /* this thread holds the mutex again */
    RECORD(pthread_mutex_unlock(&shared));
    soon.tv_nsec = -1;
    RECORD(pthread_cond_timedwait(&changed, &shared, &soon));
    RECORD(sem_wait(&semaphore));
    finish_later();
    soon = from_now(CLOCK_REALTIME, 30);
    RECORD(sem_timedwait(&semaphore, &soon));
    record("%s", has_come(CLOCK_REALTIME, &soon) ? "it was time" : "too early");
    soon.tv_nsec = -1;
    RECORD(sem_timedwait(&semaphore, &soon));
    sem_destroy(&semaphore);
}

SAME(lock_by_kind, false)
{
    pthread_mutex_t mutex;

    init_mutex(&mutex, PTHREAD_MUTEX_ERRORCHECK);
    RECORD(pthread_mutex_lock(&mutex));
    RECORD(pthread_mutex_lock(&mutex));
    RECORD(pthread_mutex_timedlock(&mutex, &(struct timespec){0, 0}));
    RECORD(pthread_mutex_trylock(&mutex));
    RECORD(pthread_mutex_unlock(&mutex));
    RECORD(pthread_mutex_unlock(&mutex));
    RECORD(pthread_mutex_destroy(&mutex));
    init_mutex(&mutex, PTHREAD_MUTEX_RECURSIVE);
    RECORD(pthread_mutex_lock(&mutex));
    RECORD(pthread_mutex_lock(&mutex));
    RECORD(pthread_mutex_trylock(&mutex));
    RECORD(pthread_mutex_unlock(&mutex));
    RECORD(pthread_mutex_unlock(&mutex));
    RECORD(pthread_mutex_unlock(&mutex));
    RECORD(pthread_mutex_unlock(&mutex));
    RECORD(pthread_mutex_destroy(&mutex));
}

SAME(read_write_lock_of_its_own_writer, false)
{
    struct timespec later = from_now(CLOCK_REALTIME, 1000000);
    struct timespec much_later = from_now(CLOCK_MONOTONIC, 1000000);
    pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;

    for (int by_trying = 0; by_trying < 2; by_trying++) {
        RECORD(by_trying ? pthread_rwlock_trywrlock(&lock)
                         : pthread_rwlock_wrlock(&lock));
        RECORD(pthread_rwlock_wrlock(&lock));
        RECORD(pthread_rwlock_rdlock(&lock));
        RECORD(pthread_rwlock_timedwrlock(&lock, &later));
        RECORD(pthread_rwlock_timedrdlock(&lock, &later));
        RECORD(pthread_rwlock_clockwrlock(&lock, CLOCK_MONOTONIC, &much_later));
        RECORD(pthread_rwlock_clockrdlock(&lock, CLOCK_MONOTONIC, &much_later));
        RECORD(pthread_rwlock_trywrlock(&lock));
        RECORD(pthread_rwlock_tryrdlock(&lock));
        RECORD(pthread_rwlock_unlock(&lock));
    }
    /* more readers may enter, but a writer has to wait */
    RECORD(pthread_rwlock_rdlock(&lock));
    RECORD(pthread_rwlock_rdlock(&lock));
    later = from_now(CLOCK_REALTIME, 5);
    RECORD(pthread_rwlock_timedwrlock(&lock, &later));
    RECORD(pthread_rwlock_unlock(&lock));
    RECORD(pthread_rwlock_unlock(&lock));
    RECORD(pthread_rwlock_destroy(&lock));
}

/* ---- absolute time-outs, by each clock --------------------------------------------- */

static void time_out_everywhere(void)
{
    RECORD_DUE(CLOCK_MONOTONIC, pthread_mutex_clocklock(&shared, CLOCK_MONOTONIC, &due));
    RECORD_DUE(CLOCK_REALTIME, pthread_mutex_clocklock(&shared, CLOCK_REALTIME, &due));
    RECORD_DUE(CLOCK_REALTIME, pthread_rwlock_timedrdlock(&shared_rw, &due));
    RECORD_DUE(CLOCK_REALTIME, pthread_rwlock_timedwrlock(&shared_rw, &due));
    RECORD_DUE(CLOCK_MONOTONIC,
               pthread_rwlock_clockrdlock(&shared_rw, CLOCK_MONOTONIC, &due));
    RECORD_DUE(CLOCK_MONOTONIC,
               pthread_rwlock_clockwrlock(&shared_rw, CLOCK_MONOTONIC, &due));
}

SAME(locks_until_a_point_of_time, true)
{
    struct timespec never = from_now(CLOCK_MONOTONIC, 1000000), wrong = {.tv_nsec = -1};

    wait_for_holder();
    time_out_everywhere();
    RECORD(pthread_mutex_clocklock(&shared, CLOCK_MONOTONIC, &wrong));
    RECORD(pthread_mutex_clocklock(&shared, CLOCK_THREAD_CPUTIME_ID, &never));
    RECORD(pthread_rwlock_clockrdlock(&shared_rw, CLOCK_MONOTONIC, &wrong));
    RECORD(pthread_rwlock_clockrdlock(&shared_rw, CLOCK_THREAD_CPUTIME_ID, &never));
    later(20, release, 0);
    RECORD(pthread_mutex_clocklock(&shared, CLOCK_MONOTONIC, &never));
    RECORD(pthread_rwlock_clockrdlock(&shared_rw, CLOCK_MONOTONIC, &never));
    /* the lock is free, but the time is invalid */
    RECORD(pthread_rwlock_timedrdlock(&shared_rw, &wrong));
    RECORD(pthread_rwlock_unlock(&shared_rw));
    RECORD(pthread_rwlock_clockwrlock(&shared_rw, CLOCK_MONOTONIC, &never));
    RECORD(pthread_rwlock_unlock(&shared_rw));
    RECORD(pthread_mutex_unlock(&shared));
    finish_later();
}

static void post(int unused)
{
    (void)unused;
    sem_post(&semaphore);
}

SAME(semaphore_until_a_point_of_time, true)
{
    struct timespec never = from_now(CLOCK_MONOTONIC, 1000000), wrong = {.tv_nsec = -1};

    CHECK_INT(sem_init(&semaphore, 0, 0), 0);
    RECORD_DUE(CLOCK_MONOTONIC, sem_clockwait(&semaphore, CLOCK_MONOTONIC, &due));
    RECORD_DUE(CLOCK_REALTIME, sem_clockwait(&semaphore, CLOCK_REALTIME, &due));
    later(20, post, 0);
    RECORD(sem_clockwait(&semaphore, CLOCK_MONOTONIC, &never));
    RECORD(sem_clockwait(&semaphore, CLOCK_MONOTONIC, &wrong));
    RECORD(sem_clockwait(&semaphore, CLOCK_THREAD_CPUTIME_ID, &never));
    finish_later();
    sem_destroy(&semaphore);
}

/*
 * This deadline is so long ago that it would overflow if it were converted to
 * nanoseconds.
 */
SAME(locks_until_a_time_long_ago, false)
{
    struct timespec ago = {.tv_sec = -10000000000};
    pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
    int rc = 0;

    CHECK_INT(sem_init(&semaphore, 0, 0), 0);
    RECORD(sem_timedwait(&semaphore, &ago));
    RECORD(pthread_mutex_lock(&shared));
    while (rc == 0)
        rc = pthread_cond_timedwait(&cond, &shared, &ago);
    RECORD(rc);
    RECORD(pthread_mutex_unlock(&shared));
    sem_destroy(&semaphore);
}

/* ---- between tasks ----------------------------------------------------------------- */

struct contest {
    pthread_mutex_t mutex;
    int inside, most, done;
};

/* Hold the mutex during a wait. Lock a recursive mutex twice. */
static int hold_across_a_wait(void *arg)
{
    struct contest *c = arg;
    bool twice = c->mutex.__data.__kind == PTHREAD_MUTEX_RECURSIVE;

    CHECK_INT(pthread_mutex_lock(&c->mutex), 0);
    if (twice)
        CHECK_INT(pthread_mutex_lock(&c->mutex), 0);
    c->inside++;
    if (c->inside > c->most)
        c->most = c->inside;
    usleep(2000);
    c->inside--;
    if (twice)
        CHECK_INT(pthread_mutex_unlock(&c->mutex), 0);
    usleep(1000);
    CHECK_INT(pthread_mutex_unlock(&c->mutex), 0);
    c->done++;
    return 0;
}

IO_TEST(lock_held_by_another_task_of_the_thread)
{
    static const int kinds[] = {PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_RECURSIVE,
                                PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_ADAPTIVE_NP};

    for (int k = 0; k < 4; k++) {
        struct contest c = {.most = 0};
        coil_task *tasks[5];

        init_mutex(&c.mutex, kinds[k]);
        for (int i = 0; i < 5; i++)
            tasks[i] = start_task(hold_across_a_wait, &c);
        for (int i = 0; i < 5; i++)
            finish_task(tasks[i]);
        CHECK_INT(c.most, 1);
        CHECK_INT(c.done, 5);
        CHECK_INT(pthread_mutex_destroy(&c.mutex), 0);
    }
}

/*
 * As if tasks were threads, a task cannot unlock or lock a mutex that another task holds.
 */
static int unlock_and_try(void *mutex)
{
    CHECK_INT(pthread_mutex_unlock(mutex), EPERM);
    CHECK_INT(pthread_mutex_trylock(mutex), EBUSY);
    return 0;
}

/*
 * Hold the write lock during a wait. For the C library all tasks are one thread, so
 * without libcoil-posix a second task's attempt to lock would be reported as a deadlock.
 */
static int write_across_a_wait(void *arg)
{
    pthread_rwlock_t *lock = arg;

    CHECK_INT(pthread_rwlock_wrlock(lock), 0);
    CHECK_INT(pthread_rwlock_wrlock(lock), EDEADLK);
    usleep(2000);
    CHECK_INT(pthread_rwlock_rdlock(lock), EDEADLK);
    CHECK_INT(pthread_rwlock_unlock(lock), 0);
    CHECK_INT(pthread_rwlock_rdlock(lock), 0);
    CHECK_INT(pthread_rwlock_unlock(lock), 0);
    return 0;
}

IO_TEST(read_write_lock_of_another_task_s_writer)
{
    pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
    coil_task *tasks[5];

    for (int i = 0; i < 5; i++)
        tasks[i] = start_task(write_across_a_wait, &lock);
    for (int i = 0; i < 5; i++)
        finish_task(tasks[i]);
    CHECK_INT(pthread_rwlock_destroy(&lock), 0);
}

IO_TEST(mutex_of_another_task_is_not_unlocked)
{
    static const int kinds[] = {PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_ERRORCHECK};

    for (int k = 0; k < 2; k++) {
        pthread_mutex_t mutex;

        init_mutex(&mutex, kinds[k]);
        CHECK_INT(pthread_mutex_lock(&mutex), 0);
        finish_task(start_task(unlock_and_try, &mutex));
        CHECK_INT(pthread_mutex_unlock(&mutex), 0);
        CHECK_INT(pthread_mutex_destroy(&mutex), 0);
    }
}

static int find_locked(void *mutex)
{
    CHECK_INT(pthread_mutex_trylock(mutex), EBUSY);
    return 0;
}

IO_TEST(condition_wait_that_is_refused_leaves_the_mutex_locked)
{
    static const struct timespec wrong = {.tv_nsec = -1};
    pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
    pthread_mutex_t mutex;

    init_mutex(&mutex, PTHREAD_MUTEX_RECURSIVE);
    CHECK_INT(pthread_mutex_lock(&mutex), 0);
    CHECK_INT(pthread_cond_timedwait(&cond, &mutex, &wrong), EINVAL);
    finish_task(start_task(find_locked, &mutex));
    CHECK_INT(pthread_mutex_unlock(&mutex), 0);
}

/* Lock many mutexes, and unlock them in a different order. */
static int hold_many(void *arg)
{
    pthread_mutex_t *many = arg;

    for (int i = 0; i < 40; i++)
        CHECK_INT(pthread_mutex_lock(&many[i]), 0);
    usleep(2000);
    for (int i = 0; i < 40; i++)
        CHECK_INT(pthread_mutex_unlock(&many[i * 7 % 40]), 0);
    return 0;
}

IO_TEST(lock_many_recursive_ones)
{
    pthread_mutex_t many[40];
    coil_task *tasks[3];

    for (int i = 0; i < 40; i++)
        init_mutex(&many[i], PTHREAD_MUTEX_RECURSIVE);
    for (int i = 0; i < 3; i++)
        tasks[i] = start_task(hold_many, many);
    for (int i = 0; i < 3; i++)
        finish_task(tasks[i]);
    /* Lock a mutex, discard it, and initialise it again at the same address. */
    CHECK_INT(pthread_mutex_lock(&many[0]), 0);
    init_mutex(&many[0], PTHREAD_MUTEX_RECURSIVE);
    finish_task(start_task(hold_many, many));
}

/*
 * A cancelled task still acquires the lock. The next call that can fail reports the
 * cancellation.
 */
IO_TEST(lock_in_a_cancelled_task)
{
    struct contest c = {.most = 0};
    coil_task *tasks[2];

    init_mutex(&c.mutex, PTHREAD_MUTEX_NORMAL);
    tasks[0] = start_task(hold_across_a_wait, &c);
    tasks[1] = start_task(hold_across_a_wait, &c);
    settle();
    coil_task_cancel(tasks[1], NULL);
    finish_task(tasks[0]);
    CHECK_INT(coil_task_await(tasks[1]), 0);
    coil_task_release(tasks[1]);
    CHECK_INT(c.most, 1);
    CHECK_INT(c.done, 2);
}

struct exchange {
    pthread_mutex_t mutex;
    pthread_cond_t cond;
    int turn;
};

static int take_turns(void *arg, int mine)
{
    struct exchange *e = arg;

    for (int i = 0; i < 3; i++) {
        CHECK_INT(pthread_mutex_lock(&e->mutex), 0);
        while (e->turn % 2 != mine)
            CHECK_INT(pthread_cond_wait(&e->cond, &e->mutex), 0);
        e->turn++;
        CHECK_INT(pthread_cond_signal(&e->cond), 0);
        CHECK_INT(pthread_mutex_unlock(&e->mutex), 0);
    }
    return 0;
}

static int take_even_turns(void *arg)
{
    return take_turns(arg, 0);
}

static int take_odd_turns(void *arg)
{
    return take_turns(arg, 1);
}

IO_TEST(condition_between_tasks)
{
    struct exchange e = {.mutex = PTHREAD_MUTEX_INITIALIZER,
                         .cond = PTHREAD_COND_INITIALIZER};
    coil_task *odd = start_task(take_odd_turns, &e);

    finish_task(start_task(take_even_turns, &e));
    finish_task(odd);
    CHECK_INT(e.turn, 6);
}

/* ---- files ------------------------------------------------------------------------- */

static int open_file(void)
{
    char path[] = "/tmp/coil-posix-XXXXXX";
    int fd = mkstemp(path);

    CHECK_INT(fcntl(fd, F_SETFD, FD_CLOEXEC), 0);
    unlink(path);
    return fd;
}

static int open_again(int fd)
{
    char path[64];

    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return open(path, O_RDWR | O_CLOEXEC);
}

static void unlock(int fd)
{
    CHECK_INT(flock(fd, LOCK_UN), 0);
}

SAME(lock_a_file, true)
{
    int a = open_file(), b = open_again(a);

    RECORD(flock(a, LOCK_EX));
    RECORD(flock(b, LOCK_EX | LOCK_NB));
    later(30, unlock, a);
    RECORD_AT_LEAST(30, flock(b, LOCK_SH));
    RECORD(flock(a, LOCK_SH));
    RECORD(flock(b, LOCK_UN));
    finish_later();
    close(a);
    close(b);
    RECORD(flock(a, LOCK_EX));
}

static struct flock whole_file(short type)
{
    return (struct flock){.l_type = type, .l_whence = SEEK_SET};
}

static void unlock_description(int fd)
{
    struct flock lock = whole_file(F_UNLCK);

    CHECK_INT(fcntl(fd, F_OFD_SETLK, &lock), 0);
}

static void lock_by_description(void)
{
    struct flock lock = whole_file(F_WRLCK);
    int a = open_file(), b = open_again(a);

    RECORD(fcntl(a, F_OFD_SETLKW, &lock));
    RECORD(fcntl(b, F_OFD_SETLK, &lock));
    later(30, unlock_description, a);
    RECORD_AT_LEAST(30, fcntl(b, F_OFD_SETLKW, &lock));
    finish_later();
    RECORD(fcntl(a, F_GETFD));
    RECORD(fcntl(a, F_DUPFD_CLOEXEC, -1));
    close(a);
    close(b);
    RECORD(fcntl(a, F_OFD_SETLKW, &lock));
}

IO_TEST(lock_a_file_by_its_description)
{
    if (test_under_valgrind())
        test_skip(
            "Valgrind does not know that F_OFD_SETLKW waits, and stops all threads");
    compare_in_and_out(lock_by_description, true);
}

/*
 * Start a child that locks the file, reports that it has the lock, and holds it until the
 * parent writes to go[1].
 */
static pid_t lock_in_child(int fd, const int go[2])
{
    int ends[2];
    char byte;
    pid_t pid;

    make_pipe(ends);
    pid = fork();
    if (pid == 0) {
        if (lockf(fd, F_LOCK, 0) < 0 || write(ends[1], "x", 1) < 0)
            _exit(1);
        _exit(read(go[0], &byte, 1) != 1);
    }
    CHECK_INT(read(ends[0], &byte, 1), 1);
    close_both(ends);
    return pid;
}

SAME(lock_a_file_that_another_process_has, true)
{
    struct flock lock = whole_file(F_WRLCK);
    int fd = open_file(), status = -1, go[2];
    pid_t pid;

    make_pipe(go);
    for (int i = 0; i < 2; i++) {
        pid = lock_in_child(fd, go);
        RECORD(lockf(fd, F_TEST, 0));
        later(20, write_byte, go[1]);
        if (i == 0)
            RECORD(lockf(fd, F_LOCK, 0));
        else
            RECORD(fcntl(fd, F_SETLKW, &lock));
        RECORD(lockf(fd, F_ULOCK, 0));
        CHECK_INT(waitpid(pid, &status, 0), pid);
        RECORD(status);
        finish_later();
    }
    close_both(go);
    close(fd);
}

/* ---- barriers ---------------------------------------------------------------------- */

static pthread_barrier_t barrier;
static _Atomic int serial, arrived;

static int arrive(void *unused)
{
    int rc;

    (void)unused;
    for (int i = 0; i < 3; i++) {
        arrived++;
        rc = pthread_barrier_wait(&barrier);
        CHECK(arrived >= 5 * (i + 1));
        CHECK(rc == 0 || rc == PTHREAD_BARRIER_SERIAL_THREAD);
        serial += rc == PTHREAD_BARRIER_SERIAL_THREAD;
    }
    return 0;
}

static void *arrive_on_thread(void *unused)
{
    arrive(NULL);
    return unused;
}

IO_TEST(barrier_of_tasks_and_threads_lets_all_go)
{
    coil_task *tasks[3];
    pthread_t threads[2];

    CHECK_INT(pthread_barrier_init(&barrier, NULL, 5), 0);
    for (int i = 0; i < 2; i++)
        CHECK_INT(pthread_create(&threads[i], NULL, arrive_on_thread, NULL), 0);
    for (int i = 0; i < 3; i++)
        tasks[i] = start_task(arrive, NULL);
    for (int i = 0; i < 3; i++)
        finish_task(tasks[i]);
    for (int i = 0; i < 2; i++)
        CHECK_INT(pthread_join(threads[i], NULL), 0);
    CHECK_INT(serial, 3);
    CHECK_INT(pthread_barrier_destroy(&barrier), 0);
}

/* ---- fairness ---------------------------------------------------------------------- */

static bool served;

/*
 * Lock the mutex, wait and unlock it, again and again, until the other task has locked
 * it.
 */
static int hold_mutex_again_and_again(void *unused)
{
    (void)unused;
    for (int i = 0; i < 1000 && !served; i++) {
        CHECK_INT(pthread_mutex_lock(&shared), 0);
        usleep(100);
        CHECK_INT(pthread_mutex_unlock(&shared), 0);
    }
    CHECK(served);
    return 0;
}

static int hold_rwlock_again_and_again(void *unused)
{
    (void)unused;
    for (int i = 0; i < 1000 && !served; i++) {
        CHECK_INT(pthread_rwlock_wrlock(&shared_rw), 0);
        usleep(100);
        CHECK_INT(pthread_rwlock_unlock(&shared_rw), 0);
    }
    CHECK(served);
    return 0;
}

static int take_mutex(void *unused)
{
    (void)unused;
    for (int i = 0; i < 3; i++) {
        CHECK_INT(pthread_mutex_lock(&shared), 0);
        CHECK_INT(pthread_mutex_unlock(&shared), 0);
    }
    return served = true;
}

static int take_rwlock(void *unused)
{
    struct timespec soon = from_now(CLOCK_REALTIME, 60000);

    (void)unused;
    CHECK_INT(pthread_rwlock_rdlock(&shared_rw), 0);
    CHECK_INT(pthread_rwlock_unlock(&shared_rw), 0);
    CHECK_INT(pthread_rwlock_timedwrlock(&shared_rw, &soon), 0);
    CHECK_INT(pthread_rwlock_unlock(&shared_rw), 0);
    return served = true;
}

static int hold_semaphore_again_and_again(void *unused)
{
    (void)unused;
    for (int i = 0; i < 10000 && !served; i++) {
        CHECK_INT(sem_wait(&semaphore), 0);
        usleep(100);
        CHECK_INT(sem_post(&semaphore), 0);
    }
    CHECK(served);
    return 0;
}

static int take_semaphore(void *unused)
{
    (void)unused;
    for (int i = 0; i < 3; i++) {
        CHECK_INT(sem_wait(&semaphore), 0);
        CHECK_INT(sem_post(&semaphore), 0);
    }
    return served = true;
}

static void check_is_served(coil_task_fn hold, coil_task_fn take)
{
    coil_task *holder, *taker;

    served = false;
    CHECK_INT(coil_spawn(hold, NULL, NULL, &holder), 0);
    coil_yield();
    CHECK_INT(coil_spawn(take, NULL, NULL, &taker), 0);
    coil_task_await(holder);
    coil_task_await(taker);
    coil_task_release(holder);
    coil_task_release(taker);
}

IO_TEST(lock_that_a_task_takes_again_at_once_goes_to_a_waiter_first)
{
    check_is_served(hold_mutex_again_and_again, take_mutex);
    check_is_served(hold_rwlock_again_and_again, take_rwlock);
    CHECK_INT(sem_init(&semaphore, 0, 1), 0);
    check_is_served(hold_semaphore_again_and_again, take_semaphore);
}
