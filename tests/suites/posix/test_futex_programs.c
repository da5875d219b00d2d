/*
 * test_futex_programs.c - random programs that use locks based on futexes in tasks, in
 * threads, or in both at once.
 *
 * The locks are textbook implementations: a mutex with three states (Drepper, "Futexes
 * Are Tricky"), a condition variable with a sequence number, whose broadcast moves the
 * waiters to the mutex, and a semaphore. Each worker takes random steps, which depend on
 * the seed. The test checks that the mutex provides mutual exclusion, that every item
 * arrives exactly once, and that all workers end.
 */
#include "differential.h"

#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/syscall.h>

typedef _Atomic uint32_t futex;

/* Under ThreadSanitizer no function is interposed: see posix/interpose.h. */
#ifdef POSIX__ALONE
#define syscall posix__syscall_of_futex
long posix__syscall_of_futex(long number, futex *f, long operation, long value,
                             const struct timespec *time, futex *second, long third);
#endif

static long call_futex(futex *f, int operation, uint32_t value,
                       const struct timespec *time, futex *second, uint32_t third)
{
    return syscall(SYS_futex, f, operation, value, time, second, third);
}

static void wait_at(futex *f, uint32_t value)
{
    call_futex(f, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
}

static void wake_at(futex *f, int n)
{
    call_futex(f, FUTEX_WAKE_PRIVATE, (uint32_t)n, NULL, NULL, 0);
}

/* ---- a mutex: 0 is free, 1 is locked, 2 is locked and others wait ------------------- */

static void lock_contended(futex *lock)
{
    while (atomic_exchange(lock, 2) != 0)
        wait_at(lock, 2);
}

static void lock(futex *lock)
{
    uint32_t unlocked = 0;

    if (!atomic_compare_exchange_strong(lock, &unlocked, 1))
        lock_contended(lock);
}

static void unlock(futex *lock)
{
    if (atomic_exchange(lock, 0) == 2)
        wake_at(lock, 1);
}

/* ---- a condition variable ---------------------------------------------------------- */

/* Wait for the condition variable. Returns false on timeout. */
static bool wait_for_signal(futex *cond, futex *mutex, const struct timespec *until)
{
    uint32_t before = *cond;
    bool in_time;

    unlock(mutex);
    in_time = call_futex(cond, FUTEX_WAIT_BITSET_PRIVATE, before, until, NULL,
                         FUTEX_BITSET_MATCH_ANY) == 0 ||
              errno != ETIMEDOUT;
    lock_contended(mutex);
    return in_time;
}

static void signal_one(futex *cond)
{
    (*cond)++;
    wake_at(cond, 1);
}

/*
 * Wake one waiter of the condition variable, and make the others wait for the mutex,
 * which the caller holds. They are woken one by one as the mutex is unlocked.
 */
static void broadcast(futex *cond, futex *mutex)
{
    uint32_t value = ++*cond;

    atomic_store(mutex, 2);
    while (call_futex(cond, FUTEX_CMP_REQUEUE_PRIVATE, 1,
                      (const struct timespec *)(uintptr_t)INT_MAX, mutex, value) < 0)
        value = *cond;
}

/* ---- a semaphore ------------------------------------------------------------------- */

static void take(futex *sem)
{
    for (;;) {
        uint32_t count = *sem;

        if (count == 0)
            wait_at(sem, 0);
        else if (atomic_compare_exchange_strong(sem, &count, count - 1))
            return;
    }
}

static void post(futex *sem)
{
    atomic_fetch_add(sem, 1);
    wake_at(sem, 1);
}

/* ---- the program ------------------------------------------------------------------- */

#define WORKERS 12 /* half of the workers produce items, the others consume them */
#define ITEMS 40   /* per producer */
#define ROOM 3

static struct {
    futex mutex, not_empty, not_full, tickets;
    int items[ROOM], count; /* guarded by `mutex` */
    int produced, consumed; /* also guarded by `mutex` */
    long sum;
    /* numbers of workers that hold the mutex, and of workers that hold a ticket */
    int inside, at_once;
} program;

struct worker {
    uint32_t random;
    bool produces;
    void (*work)(struct worker *w);
    coil_task *task;
    pthread_t thread;
    _Atomic bool done;
};

static uint32_t next_random(struct worker *w)
{
    w->random = w->random * 1664525 + 1013904223;
    return w->random >> 16;
}

static void nap(int us)
{
    if (coil_task_current() != NULL)
        coil_sleep(COIL_USEC(us));
    else
        usleep((useconds_t)us);
}

/* Spend some time in random calls, most of which suspend if the worker is a task. */
static void dawdle(struct worker *w)
{
    switch (next_random(w) % 8) {
    case 0:
        nap((int)next_random(w) % 200);
        break;
    case 1:
    case 2:
        coil_task_current() != NULL ? coil_yield() : sched_yield();
        break;
    default:
        break;
    }
}

static void enter(struct worker *w)
{
    lock(&program.mutex);
    CHECK_INT(program.inside++, 0);
    dawdle(w);
}

static void leave(struct worker *w)
{
    dawdle(w);
    CHECK_INT(--program.inside, 0);
    unlock(&program.mutex);
}

/* Wait for a change, sometimes with a short timeout. */
static void wait_inside(struct worker *w, futex *cond)
{
    struct timespec until = from_now(CLOCK_MONOTONIC, 1);

    CHECK_INT(--program.inside, 0);
    wait_for_signal(cond, &program.mutex, next_random(w) % 4 == 0 ? &until : NULL);
    CHECK_INT(program.inside++, 0);
}

static void wake_waiters(struct worker *w, futex *cond)
{
    if (next_random(w) % 3 == 0)
        broadcast(cond, &program.mutex);
    else
        signal_one(cond);
}

static void produce(struct worker *w)
{
    enter(w);
    while (program.count == ROOM)
        wait_inside(w, &program.not_full);
    program.items[program.count++] = ++program.produced;
    wake_waiters(w, &program.not_empty);
    leave(w);
}

static void consume(struct worker *w)
{
    enter(w);
    while (program.count == 0)
        wait_inside(w, &program.not_empty);
    program.sum += program.items[--program.count];
    program.consumed++;
    wake_waiters(w, &program.not_full);
    leave(w);
}

static void take_a_ticket(struct worker *w)
{
    take(&program.tickets);
    CHECK(__atomic_add_fetch(&program.at_once, 1, __ATOMIC_SEQ_CST) <= 2);
    dawdle(w);
    __atomic_sub_fetch(&program.at_once, 1, __ATOMIC_SEQ_CST);
    post(&program.tickets);
}

static void produce_or_consume(struct worker *w)
{
    for (int i = 0; i < ITEMS; i++) {
        w->produces ? produce(w) : consume(w);
        if (next_random(w) % 4 == 0)
            take_a_ticket(w);
        dawdle(w);
    }
}

static int work_in_task(void *arg)
{
    struct worker *w = arg;

    w->work(w);
    return 0;
}

static void *work_on_thread(void *arg)
{
    struct worker *w = arg;

    w->work(w);
    w->done = true;
    return NULL;
}

/* Run the worker as a task of a new loop on another thread. */
static void *work_in_loop(void *arg)
{
    struct worker *w = arg;

    CHECK_INT(coil_run(work_in_task, w, NULL), 0);
    w->done = true;
    return NULL;
}

/*
 * How workers run: as tasks of this thread (TASKS), as threads (THREADS), some as tasks
 * of this thread and the others as threads (BOTH), or some as tasks of this thread and
 * the others as tasks of other threads (LOOPS).
 */
enum mix { TASKS, THREADS, BOTH, LOOPS };

static void start(struct worker *w, enum mix mix, bool as_task)
{
    if (mix == TASKS || (mix >= BOTH && as_task))
        w->task = start_task(work_in_task, w);
    else
        CHECK_INT(pthread_create(&w->thread, NULL,
                                 mix == LOOPS ? work_in_loop : work_on_thread, w),
                  0);
}

/*
 * Wait until the worker ends. A worker takes all its steps even if it is cancelled,
 * because its lock operations cannot fail.
 */
static void finish(struct worker *w)
{
    if (w->task == NULL) {
        while (!w->done)
            nap(100);
        CHECK_INT(pthread_join(w->thread, NULL), 0);
        return;
    }
    coil_task_await(w->task);
    coil_task_release(w->task);
}

static void run_program(uint32_t seed, enum mix mix, bool cancel)
{
    struct worker all[WORKERS] = {{.random = 0}};
    const int items = WORKERS / 2 * ITEMS;

    memset(&program, 0, sizeof program);
    program.tickets = 2;
    for (int i = 0; i < WORKERS; i++) {
        all[i].random = seed * 1000 + (uint32_t)i;
        all[i].produces = i % 2 == 0;
        all[i].work = produce_or_consume;
        start(&all[i], mix, i / 2 % 2 == 0);
    }
    for (int i = 0; i < WORKERS && cancel; i += 3) {
        coil_sleep(COIL_USEC(300));
        if (all[i].task != NULL)
            coil_task_cancel(all[i].task, NULL);
    }
    for (int i = 0; i < WORKERS; i++)
        finish(&all[i]);
    CHECK_INT(program.produced, items);
    CHECK_INT(program.consumed, items);
    CHECK_INT(program.count, 0);
    CHECK_INT(program.sum, (long)items * (items + 1) / 2);
    CHECK_INT(program.mutex, 0);
    CHECK_INT(program.tickets, 2);
}

static void run_programs(enum mix mix, bool cancel)
{
    uint64_t first = test_first_seed();

    for (int i = 0; i < test_seed_count(3); i++)
        run_program((uint32_t)first + (uint32_t)i, mix, cancel);
}

IO_TEST(futex_program_of_tasks)
{
    run_programs(TASKS, false);
}

IO_TEST(futex_program_of_tasks_some_of_which_are_cancelled)
{
    run_programs(TASKS, true);
}

IO_TEST(futex_program_of_threads)
{
    run_programs(THREADS, false);
}

IO_TEST(futex_program_of_tasks_and_threads)
{
    run_programs(BOTH, false);
}

IO_TEST(futex_program_of_tasks_and_threads_some_of_which_are_cancelled)
{
    run_programs(BOTH, true);
}

/* ---- tasks of several loops -------------------------------------------------------- */

IO_TEST(futex_program_of_tasks_of_several_threads)
{
    run_programs(LOOPS, false);
}

/* ---- counting wake-ups ------------------------------------------------------------- */

/*
 * The values of these futexes never change, so only a wakeup can end a wait, and a lost
 * wakeup hangs the test. The sum of the results of all calls shows whether a wakeup woke
 * two waiters or none.
 */
#define WORDS 3
#define WAITS 25

static struct {
    futex words[WORDS];
    _Atomic long returned, timed_out, woken, moved;
    _Atomic int working;
} wakes;

static void wait_often(struct worker *w)
{
    for (int i = 0; i < WAITS; i++) {
        bool limited = next_random(w) % 4 == 0;
        struct timespec until = from_now(CLOCK_MONOTONIC, next_random(w) % 2);
        futex *f = &wakes.words[next_random(w) % WORDS];
        uint32_t bits = 1 + next_random(w) % 7;
        long rc = call_futex(f, FUTEX_WAIT_BITSET_PRIVATE, 0, limited ? &until : NULL,
                             NULL, bits);

        if (rc == 0)
            wakes.returned++;
        else if (errno == ETIMEDOUT && limited)
            wakes.timed_out++;
        else
            CHECK_INT(errno, 0);
        dawdle(w);
    }
    wakes.working--;
}

static void wake_some(struct worker *w)
{
    futex *from = &wakes.words[next_random(w) % WORDS];
    futex *to = &wakes.words[next_random(w) % WORDS];
    uint32_t n = next_random(w) % 3;
    long rc, most = n > 0 ? n : 1; /* a count of 0 wakes one waiter too */

    switch (next_random(w) % 4) {
    case 0: /* both calls return the number of waiters that were woken or moved */
        rc = call_futex(from, FUTEX_CMP_REQUEUE_PRIVATE, 0,
                        (const struct timespec *)(uintptr_t)n, to, 0);
        wakes.moved += rc;
        break;
    case 1:
        rc = call_futex(from, FUTEX_WAKE_OP_PRIVATE, n,
                        (const struct timespec *)(uintptr_t)n, to,
                        FUTEX_OP(FUTEX_OP_OR, 0, FUTEX_OP_CMP_EQ, 0));
        wakes.woken += rc;
        most *= 2;
        break;
    default:
        rc = call_futex(from, FUTEX_WAKE_BITSET_PRIVATE, n, NULL, NULL,
                        1 + next_random(w) % 7);
        wakes.woken += rc;
    }
    CHECK(rc >= 0 && rc <= most);
}

static void wake_until_all_are_done(struct worker *w)
{
    while (wakes.working > 0) {
        wake_some(w);
        dawdle(w);
        if (next_random(w) % 8 == 0)
            nap(1000);
    }
}

/*
 * Run the workers. Returns the number of waits that timed out, or 0 if no worker was
 * requeued.
 */
static long count_wakes(uint32_t seed, enum mix mix)
{
    struct worker all[WORKERS] = {{.random = 0}};

    memset(&wakes, 0, sizeof wakes);
    wakes.working = WORKERS - 2;
    for (int i = 0; i < WORKERS; i++) {
        all[i].random = seed * 1000 + (uint32_t)i;
        all[i].work = i < 2 ? wake_until_all_are_done : wait_often;
        start(&all[i], mix, i % 2 == 0);
    }
    for (int i = 0; i < WORKERS; i++)
        finish(&all[i]);
    CHECK_INT(wakes.returned, wakes.woken);
    CHECK_INT(wakes.returned + wakes.timed_out, (WORKERS - 2) * WAITS);
    return wakes.moved > 0 ? wakes.timed_out : 0;
}

IO_TEST(futex_wakes_wake_one_each)
{
    uint64_t first = test_first_seed();

    long timed_out = 0;

    for (int i = 0; i < test_seed_count(8); i++)
        timed_out += count_wakes((uint32_t)first + (uint32_t)i, (enum mix)(i % 4));
    CHECK(timed_out > 0);
}
