/*
 * test_futexes.c - futex(2) through syscall() in tasks: its results are the same as
 * outside tasks, tasks and threads wake each other, and wakeups that bypass libcoil-posix
 * are noticed.
 */
#include "differential.h"

#include <dlfcn.h>
#include <linux/futex.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define FUTEX(address, operation, ...) syscall(SYS_futex, address, operation, __VA_ARGS__)
#define NUMBER_OF_WAITV 449
#define NUMBER_OF_WAKE 454
#define NUMBER_OF_WAIT 455
#define NUMBER_OF_REQUEUE 456
#define OF_32_BITS 2

static _Atomic uint32_t word, other;

/*
 * Call futex(2) with the C library's own syscall(). Like an inline system call, this
 * bypasses libcoil-posix.
 */
static long kernel_futex(_Atomic uint32_t *address, int operation, long value)
{
    void *libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
    long (*call)(long, ...) = (long (*)(long, ...))dlsym(libc, "syscall");
    long rc = call(SYS_futex, address, operation, value, NULL, NULL, 0L);

    dlclose(libc);
    return rc;
}

static void wake_both(int n)
{
    word++;
    FUTEX(&word, FUTEX_WAKE, n, NULL, NULL, 0);
    other++;
    FUTEX(&other, FUTEX_WAKE, n, NULL, NULL, 0);
}

/* ---- same as outside of tasks ------------------------------------------------------ */

SAME(futex_calls_that_fail_at_once, false)
{
    struct timespec too_long = {0, 1000000000}, negative = {-1, 0}, none = {0, 0};
    char *crooked = (char *)&word + 1;

    word = 5;
    RECORD(FUTEX(&word, FUTEX_WAIT, 4, NULL, NULL, 0));
    RECORD(FUTEX(&word, FUTEX_WAIT_PRIVATE, 4, &none, NULL, 0));
    RECORD(FUTEX(&word, FUTEX_WAIT, 5, &none, NULL, 0));
    RECORD(FUTEX(&word, FUTEX_WAIT, 4, &too_long, NULL, 0));
    RECORD(FUTEX(&word, FUTEX_WAIT, 4, &negative, NULL, 0));
    RECORD(FUTEX(&word, FUTEX_WAIT_BITSET, 5, &none, NULL, FUTEX_BITSET_MATCH_ANY));
    RECORD(FUTEX(&word, FUTEX_WAIT_BITSET, 5, NULL, NULL, 0));
    RECORD(FUTEX(&word, FUTEX_WAIT_BITSET, 4, NULL, NULL, 1));
    RECORD(FUTEX(&word, FUTEX_WAKE_BITSET, 1, NULL, NULL, 0));
    RECORD(FUTEX(&word, FUTEX_WAKE, 1, NULL, NULL, 0));
    RECORD(FUTEX(crooked, FUTEX_WAIT, 5, NULL, NULL, 0));
    RECORD(FUTEX(crooked, FUTEX_WAKE, 5, NULL, NULL, 0));
    RECORD(FUTEX(&word, FUTEX_CMP_REQUEUE, 1, 1L, &other, 4));
    RECORD(FUTEX(&word, FUTEX_REQUEUE, -1, 1L, &other, 0));
    RECORD(FUTEX(&word, 77, 5, NULL, NULL, 0));
    RECORD(FUTEX(&word, FUTEX_UNLOCK_PI, 0, NULL, NULL, 0));
    if (may_call_wrongly())
        RECORD(FUTEX((void *)8, FUTEX_WAIT, 5, NULL, NULL, 0));
}

SAME(futex_locks_with_priority, false)
{
    struct timespec soon = from_now(CLOCK_REALTIME, 10);

    word = 0;
    RECORD(FUTEX(&word, FUTEX_TRYLOCK_PI, 0, NULL, NULL, 0));
    RECORD(FUTEX(&word, FUTEX_LOCK_PI, 0, &soon, NULL, 0)); /* EDEADLK */
    RECORD(FUTEX(&word, FUTEX_UNLOCK_PI, 0, NULL, NULL, 0));
    RECORD(FUTEX(&word, FUTEX_LOCK_PI_PRIVATE, 0, NULL, NULL, 0));
    RECORD(FUTEX(&word, FUTEX_UNLOCK_PI_PRIVATE, 0, NULL, NULL, 0));
    RECORD(word);
}

SAME(futex_waits_until_woken, true)
{
    word = other = 0;
    later(10, wake_both, 1);
    RECORD(FUTEX(&word, FUTEX_WAIT, 0, NULL, NULL, 0));
    finish_later();
    word = 0;
    later(10, wake_both, INT_MAX);
    RECORD(FUTEX(&word, FUTEX_WAIT_BITSET, 0, NULL, NULL, 4));
    finish_later();
    RECORD(word);
}

SAME(futex_waits_time_out, true)
{
    struct timespec span = {0, 15000000}, until;

    word = 3;
    RECORD_AT_LEAST(15, FUTEX(&word, FUTEX_WAIT, 3, &span, NULL, 0));
    RECORD_AT_LEAST(15, FUTEX(&word, FUTEX_WAIT_PRIVATE, 3, &span, NULL, 0));
    until = from_now(CLOCK_MONOTONIC, 15);
    RECORD(FUTEX(&word, FUTEX_WAIT_BITSET, 3, &until, NULL, 1));
    record("%d", has_come(CLOCK_MONOTONIC, &until));
    until = from_now(CLOCK_REALTIME, 15);
    RECORD(FUTEX(&word, FUTEX_WAIT_BITSET | FUTEX_CLOCK_REALTIME, 3, &until, NULL, 1));
    record("%d", has_come(CLOCK_REALTIME, &until));
    RECORD(FUTEX(&word, FUTEX_WAIT_BITSET | FUTEX_CLOCK_REALTIME, 3, &until, NULL, 1));
}

struct vector_entry {
    uint64_t value, address;
    uint32_t flags, reserved;
};

SAME(futex_of_several_fails_at_once, false)
{
    struct vector_entry all[2] = {{0, (uintptr_t)&word, OF_32_BITS, 0},
                                  {1, (uintptr_t)&other, OF_32_BITS, 0}};
    struct timespec none = {0, 0};

    word = other = 0;
    RECORD(syscall(NUMBER_OF_WAITV, all, 2, 0, NULL, CLOCK_MONOTONIC));
    all[1].value = 0;
    RECORD(syscall(NUMBER_OF_WAITV, all, 2, 0, &none, CLOCK_MONOTONIC));
    RECORD(syscall(NUMBER_OF_WAITV, all, 2, 0, &none, CLOCK_TAI));
    RECORD(syscall(NUMBER_OF_WAITV, all, 0, 0, NULL, CLOCK_MONOTONIC));
    RECORD(syscall(NUMBER_OF_WAITV, all, 200, 0, NULL, CLOCK_MONOTONIC));
    RECORD(syscall(NUMBER_OF_WAITV, all, 2, 9, NULL, CLOCK_MONOTONIC));
    RECORD(syscall(NUMBER_OF_WAITV, NULL, 2, 0, NULL, CLOCK_MONOTONIC));
    all[0].reserved = 1;
    RECORD(syscall(NUMBER_OF_WAITV, all, 2, 0, NULL, CLOCK_MONOTONIC));
    all[0] = (struct vector_entry){0, (uintptr_t)&word, 77, 0};
    RECORD(syscall(NUMBER_OF_WAITV, all, 2, 0, NULL, CLOCK_MONOTONIC));
}

static void wake_other(int unused)
{
    (void)unused;
    other++;
    FUTEX(&other, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

SAME(futex_of_several_returns_the_woken_one, false)
{
    struct vector_entry all[6];
    static _Atomic uint32_t idle[6];
    struct timespec until;

    word = other = 0;
    for (int i = 0; i < 6; i++)
        all[i] = (struct vector_entry){0, (uintptr_t)(i == 3 ? &other : &idle[i]),
                                       OF_32_BITS | FUTEX_PRIVATE_FLAG, 0};
    later(10, wake_other, 0);
    RECORD(syscall(NUMBER_OF_WAITV, all, 6, 0, NULL, CLOCK_MONOTONIC));
    finish_later();
    all[3].value = 1;
    until = from_now(CLOCK_MONOTONIC, 15);
    RECORD(syscall(NUMBER_OF_WAITV, all, 6, 0, &until, CLOCK_MONOTONIC));
    record("%d", has_come(CLOCK_MONOTONIC, &until));
}

static void wake_2(int n)
{
    word++;
    syscall(NUMBER_OF_WAKE, &word, 1L, (long)n, OF_32_BITS);
}

SAME(futex_by_the_later_system_calls, false)
{
    struct vector_entry both[2] = {{7, (uintptr_t)&word, OF_32_BITS, 0},
                                   {0, (uintptr_t)&other, OF_32_BITS, 0}};
    struct timespec until = from_now(CLOCK_MONOTONIC, 15);

    word = 7;
    RECORD(syscall(NUMBER_OF_WAIT, &word, 6L, 1L, OF_32_BITS, NULL, CLOCK_MONOTONIC));
    RECORD(syscall(NUMBER_OF_WAIT, &word, 7L, 0L, OF_32_BITS, NULL, CLOCK_MONOTONIC));
    RECORD(syscall(NUMBER_OF_WAIT, &word, 7L, 1L, OF_32_BITS, &until, CLOCK_MONOTONIC));
    RECORD(syscall(NUMBER_OF_WAKE, &word, 1L, 0L, OF_32_BITS));
    RECORD(syscall(NUMBER_OF_REQUEUE, both, 0, 1, 1));
    both[0].value = 6;
    RECORD(syscall(NUMBER_OF_REQUEUE, both, 0, 1, 1));
    RECORD(syscall(NUMBER_OF_REQUEUE, NULL, 0, 1, 1));
    later(10, wake_2, 1);
    if (syscall(NUMBER_OF_WAKE, NULL, 0L, 0L, 0L) < 0 && errno != ENOSYS)
        RECORD(syscall(NUMBER_OF_WAIT, &word, 7L, 3L, OF_32_BITS, NULL, CLOCK_MONOTONIC));
    finish_later();
}

/* ---- between tasks ----------------------------------------------------------------- */

/* A task or thread that waits on a futex. */
struct waiter {
    _Atomic uint32_t *address;
    uint32_t bitset;
    _Atomic int state; /* 1: will wait; 2: was woken */
    coil_task *task;
    pthread_t thread;
};

static void wait_once(struct waiter *w)
{
    w->state = 1;
    CHECK_INT(FUTEX(w->address, FUTEX_WAIT_BITSET_PRIVATE, 0, NULL, NULL, w->bitset), 0);
    w->state = 2;
}

static int wait_in_task(void *arg)
{
    wait_once(arg);
    return 0;
}

static void *wait_on_thread(void *arg)
{
    wait_once(arg);
    return NULL;
}

static void begin_tasks(struct waiter *all, int count)
{
    for (int i = 0; i < count; i++) {
        if (all[i].address == NULL)
            all[i].address = &word;
        if (all[i].bitset == 0)
            all[i].bitset = FUTEX_BITSET_MATCH_ANY;
        all[i].task = start_task(wait_in_task, &all[i]);
    }
    settle();
}

static void end_tasks(struct waiter *all, int count)
{
    for (int i = 0; i < count; i++)
        finish_task(all[i].task);
}

static int woken(const struct waiter *all, int count)
{
    int n = 0;

    settle();
    for (int i = 0; i < count; i++)
        n += all[i].state == 2;
    return n;
}

IO_TEST(futex_wakes_as_many_tasks_as_it_should_the_oldest_first)
{
    struct waiter all[6] = {{.bitset = 0}};

    word = 0;
    begin_tasks(all, 6);
    CHECK_INT(FUTEX(&word, FUTEX_WAKE_PRIVATE, 2, NULL, NULL, 0), 2);
    CHECK_INT(woken(all, 6), 2);
    CHECK_INT(all[0].state + all[1].state, 4);
    /* the kernel returns the same results */
    CHECK_INT(FUTEX(&word, FUTEX_WAKE_PRIVATE, 0, NULL, NULL, 0), 1);
    CHECK_INT(FUTEX(&word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0), 3);
    CHECK_INT(FUTEX(&word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0), 0);
    end_tasks(all, 6);
}

IO_TEST(futex_wakes_by_bits)
{
    struct waiter all[3] = {{.bitset = 1}, {.bitset = 2}, {.bitset = 6}};

    word = 0;
    begin_tasks(all, 3);
    CHECK_INT(FUTEX(&word, FUTEX_WAKE_BITSET_PRIVATE, 9, NULL, NULL, 8), 0);
    CHECK_INT(FUTEX(&word, FUTEX_WAKE_BITSET_PRIVATE, 9, NULL, NULL, 4), 1);
    CHECK_INT(woken(all, 3), 1);
    CHECK_INT(all[2].state, 2);
    CHECK_INT(FUTEX(&word, FUTEX_WAKE_BITSET_PRIVATE, 9, NULL, NULL, 3), 2);
    end_tasks(all, 3);
}

IO_TEST(futex_moves_tasks_to_another)
{
    struct waiter all[5] = {{.bitset = 0}};

    word = other = 0;
    begin_tasks(all, 5);
    CHECK_INT(FUTEX(&word, FUTEX_CMP_REQUEUE_PRIVATE, 1, 9L, &other, 1), -1);
    CHECK_INT(errno, EAGAIN);
    CHECK_INT(FUTEX(&word, FUTEX_CMP_REQUEUE_PRIVATE, 1, 3L, &other, 0), 4);
    CHECK_INT(woken(all, 5), 1);
    CHECK_INT(FUTEX(&other, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0), 1);
    CHECK_INT(FUTEX(&word, FUTEX_WAKE_PRIVATE, 9, NULL, NULL, 0), 1);
    CHECK_INT(woken(all, 5), 3);
    CHECK_INT(FUTEX(&other, FUTEX_REQUEUE_PRIVATE, 0, 9L, &other, 0), 2);
    CHECK_INT(FUTEX(&other, FUTEX_WAKE_PRIVATE, 9, NULL, NULL, 0), 2);
    end_tasks(all, 5);
}

/*
 * The task must notice that its wait is over, although the wakeup does not reach it:
 * libcoil-posix reads the value again at intervals.
 */
IO_TEST(futex_that_a_task_was_moved_to_is_looked_at)
{
    struct waiter one = {.bitset = 0};

    word = other = 0;
    begin_tasks(&one, 1);
    CHECK_INT(FUTEX(&word, FUTEX_REQUEUE_PRIVATE, 0, 1L, &other, 0), 1);
    word = 1;
    coil_sleep(COIL_MSEC(20));
    CHECK_INT(one.state, 1);
    other = 1;
    end_tasks(&one, 1);
}

static long wake_by(uint32_t operation, uint32_t operand, uint32_t comparison,
                    uint32_t comparand)
{
    return FUTEX(&word, FUTEX_WAKE_OP_PRIVATE, 1, 1L, &other,
                 FUTEX_OP(operation, operand, comparison, comparand));
}

IO_TEST(futex_wakes_by_an_operation)
{
    static const struct {
        uint32_t operation, operand, comparison, comparand, before, after;
        bool is_true;
    } cases[] = {
        {FUTEX_OP_SET, 7, FUTEX_OP_CMP_EQ, 5, 5, 7, true},
        {FUTEX_OP_ADD, 0xfff, FUTEX_OP_CMP_NE, 5, 5, 4, false},
        {FUTEX_OP_OR, 8, FUTEX_OP_CMP_LT, 6, 5, 13, true},
        {FUTEX_OP_ANDN, 4, FUTEX_OP_CMP_LE, 4, 5, 1, false},
        {FUTEX_OP_XOR, 1, FUTEX_OP_CMP_GT, 4, 5, 4, true},
        {FUTEX_OP_ADD | FUTEX_OP_OPARG_SHIFT, 4, FUTEX_OP_CMP_GE, 0, 0xffffffff, 15,
         false},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct waiter all[4] = {{.address = &word},
                                {.address = &word},
                                {.address = &other},
                                {.address = &other}};

        word = other = 0;
        begin_tasks(all, 4);
        other = cases[i].before;
        CHECK_INT(wake_by(cases[i].operation, cases[i].operand, cases[i].comparison,
                          cases[i].comparand),
                  1 + cases[i].is_true);
        CHECK_INT(other, cases[i].after);
        CHECK_INT(FUTEX(&word, FUTEX_WAKE_PRIVATE, 9, NULL, NULL, 0), 1);
        CHECK(FUTEX(&other, FUTEX_WAKE_PRIVATE, 9, NULL, NULL, 0) <=
              2 - cases[i].is_true);
        end_tasks(all, 4);
    }
    word = 0;
    CHECK_INT(wake_by(5, 0, FUTEX_OP_CMP_EQ, 0), -1);
    CHECK_INT(errno, ENOSYS);
}

IO_TEST(futex_wake_op_of_memory_that_cannot_be_written_fails)
{
    struct waiter one = {.bitset = 0};
    uint32_t *page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    CHECK(page != MAP_FAILED);
    word = 0;
    begin_tasks(&one, 1);
    CHECK_INT(FUTEX(&word, FUTEX_WAKE_OP_PRIVATE, 1, 1L, page,
                    FUTEX_OP(FUTEX_OP_SET, 1, FUTEX_OP_CMP_EQ, 0)),
              -1);
    CHECK_INT(errno, EFAULT);
    CHECK_INT(FUTEX(&word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0), 1);
    end_tasks(&one, 1);
    CHECK_INT(munmap(page, 4096), 0);
}

static void wait_for_sleepers(struct waiter *all, int count)
{
    for (int i = 0; i < count; i++)
        while (all[i].state == 0)
            usleep(500);
    usleep(20000); /* long enough that the threads sleep in the kernel */
}

IO_TEST(futex_of_tasks_and_threads_wakes_both_in_the_end)
{
    struct waiter tasks[8] = {{.bitset = 0}}, threads[2] = {{.bitset = 0}};
    int wakes = 0;

    word = 0;
    for (int i = 0; i < 2; i++) {
        threads[i].address = &word;
        threads[i].bitset = FUTEX_BITSET_MATCH_ANY;
        CHECK_INT(pthread_create(&threads[i].thread, NULL, wait_on_thread, &threads[i]),
                  0);
    }
    wait_for_sleepers(threads, 2);
    begin_tasks(tasks, 8);
    while (threads[0].state + threads[1].state < 4 && wakes < 10) {
        CHECK_INT(FUTEX(&word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0), 1);
        wakes++;
        usleep(20000);
    }
    CHECK(wakes < 10); /* both threads woke before the last task */
    CHECK_INT(FUTEX(&word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0), 10 - wakes);
    for (int i = 0; i < 2; i++)
        CHECK_INT(pthread_join(threads[i].thread, NULL), 0);
    end_tasks(tasks, 8);
}

IO_TEST(futex_of_tasks_and_threads_is_requeued)
{
    struct waiter tasks[3] = {{.bitset = 0}}, thread = {.bitset = ~0u, .address = &word};

    word = other = 0;
    CHECK_INT(pthread_create(&thread.thread, NULL, wait_on_thread, &thread), 0);
    wait_for_sleepers(&thread, 1);
    begin_tasks(tasks, 3);
    CHECK_INT(FUTEX(&word, FUTEX_CMP_REQUEUE_PRIVATE, 2, 1L, &other, 0), 3);
    CHECK_INT(woken(tasks, 3), 1);
    CHECK_INT(FUTEX(&word, FUTEX_WAKE_PRIVATE, 9, NULL, NULL, 0), 1);
    CHECK_INT(FUTEX(&other, FUTEX_WAKE_PRIVATE, 9, NULL, NULL, 0), 1);
    CHECK_INT(pthread_join(thread.thread, NULL), 0);
    end_tasks(tasks, 3);
}

/* ---- the end of a wait ------------------------------------------------------------- */

IO_TEST(futex_wait_that_is_cancelled_returns_once_as_if_woken)
{
    struct waiter twice[2] = {{.bitset = 0}};

    word = 0;
    begin_tasks(twice, 1);
    coil_task_cancel(twice[0].task, NULL);
    CHECK_INT(woken(twice, 1), 1); /* wait_once() checks that the call returned 0 */
    coil_task_await(twice[0].task);
    coil_task_release(twice[0].task);
}

static int returns;

static int wait_for_one(void *unused)
{
    (void)unused;
    while (word == 0) {
        CHECK_INT(FUTEX(&word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0), 0);
        returns++;
    }
    return 0;
}

IO_TEST(futex_waits_after_a_cancellation_are_shielded)
{
    coil_task *task;

    word = 0;
    returns = 0;
    task = start_task(wait_for_one, NULL);
    coil_sleep(COIL_MSEC(2));
    coil_task_cancel(task, NULL);
    coil_sleep(COIL_MSEC(20));
    CHECK_INT(returns, 1);
    word = 1;
    CHECK_INT(FUTEX(&word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0), 1);
    coil_task_await(task);
    coil_task_release(task);
    CHECK_INT(returns, 2);
}

static int wait_for_a_while(void *unused)
{
    struct timespec span = {0, 3000000};

    (void)unused;
    CHECK_INT(FUTEX(&word, FUTEX_WAIT_PRIVATE, 0, &span, NULL, 0), -1);
    CHECK_INT(errno, ETIMEDOUT);
    return 0;
}

IO_TEST(futex_wait_that_timed_out_takes_no_wake_up)
{
    struct waiter one = {.bitset = 0};
    coil_task *task;

    word = 0;
    task = start_task(wait_for_a_while, NULL);
    begin_tasks(&one, 1);
    finish_task(task);
    CHECK_INT(FUTEX(&word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0), 1);
    end_tasks(&one, 1);
}

/* ---- wake-ups that bypass libcoil-posix -------------------------------------------- */

static void wake_inline(int unused)
{
    (void)unused;
    word = 1;
    kernel_futex(&word, FUTEX_WAKE_PRIVATE, 1);
}

IO_TEST(futex_woken_by_an_inline_system_call_is_found)
{
    struct waiter one = {.bitset = 0};

    word = 0;
    begin_tasks(&one, 1);
    later(5, wake_inline, 0);
    end_tasks(&one, 1);
    finish_later();
}

IO_TEST(futex_of_several_woken_by_an_inline_system_call_is_found)
{
    struct vector_entry all[2] = {{0, (uintptr_t)&other, OF_32_BITS, 0},
                                  {0, (uintptr_t)&word, OF_32_BITS, 0}};

    word = other = 0;
    later(5, wake_inline, 0);
    if (syscall(NUMBER_OF_WAITV, all, 2, 0, NULL, CLOCK_MONOTONIC) < 0)
        CHECK_INT(errno, ENOSYS);
    finish_later();
}

/*
 * Processes that share memory can wake each other, even if the memory is mapped at
 * different addresses.
 */
IO_TEST(futex_of_another_process_is_found)
{
    _Atomic uint32_t *shared =
        mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int status = -1;
    pid_t pid;

    CHECK(shared != MAP_FAILED);
    pid = fork();
    if (pid == 0) {
        alarm(60);
        usleep(5000);
        shared[0] = 1;
        FUTEX(&shared[0], FUTEX_WAKE, 1, NULL, NULL, 0);
        while (shared[1] == 0)
            FUTEX(&shared[1], FUTEX_WAIT, 0, NULL, NULL, 0);
        _exit(0);
    }
    while (shared[0] == 0)
        if (FUTEX(&shared[0], FUTEX_WAIT, 0, NULL, NULL, 0) < 0)
            CHECK_INT(errno, EAGAIN); /* the child has already changed the word */
    shared[1] = 1;
    FUTEX(&shared[1], FUTEX_WAKE, 1, NULL, NULL, 0);
    CHECK_INT(waitpid(pid, &status, 0), pid);
    CHECK_INT(status, 0);
    CHECK_INT(munmap((void *)shared, 4096), 0);
}

static int end_slowly(void *unused)
{
    (void)unused;
    for (volatile int i = 0; i < 3000000; i++)
        continue;
    return 0;
}

/*
 * When a thread ends, the kernel clears the word and wakes its waiters
 * (CLONE_CHILD_CLEARTID).
 */
IO_TEST(futex_woken_by_the_end_of_a_thread_is_found)
{
    static char stack[65536] __attribute__((aligned(16)));
    int flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_CHILD_CLEARTID | SIGCHLD;
    uint32_t id;
    int pid, status;

    if (test_under_valgrind())
        test_skip("Valgrind refuses this clone(2)");
    word = 1;
    pid = clone(end_slowly, stack + sizeof stack, flags, NULL, NULL, NULL, (void *)&word);
    CHECK(pid > 0);
    while ((id = word) != 0)
        FUTEX(&word, FUTEX_WAIT, id, NULL, NULL, 0);
    CHECK_INT(waitpid(pid, &status, 0), pid);
}

static int lock_pi(void *unused)
{
    (void)unused;
    CHECK_INT(FUTEX(&word, FUTEX_LOCK_PI_PRIVATE, 0, NULL, NULL, 0), 0);
    CHECK_INT(FUTEX(&word, FUTEX_UNLOCK_PI_PRIVATE, 0, NULL, NULL, 0), 0);
    return 0;
}

static void *hold_pi(void *barrier)
{
    CHECK_INT(FUTEX(&word, FUTEX_LOCK_PI_PRIVATE, 0, NULL, NULL, 0), 0);
    pthread_barrier_wait(barrier);
    usleep(10000);
    CHECK_INT(FUTEX(&word, FUTEX_UNLOCK_PI_PRIVATE, 0, NULL, NULL, 0), 0);
    return NULL;
}

IO_TEST(futex_with_priority_that_a_thread_holds_does_not_block_the_tasks)
{
    pthread_barrier_t barrier;
    pthread_t thread;

    word = 0;
    CHECK_INT(pthread_barrier_init(&barrier, NULL, 2), 0);
    CHECK_INT(pthread_create(&thread, NULL, hold_pi, &barrier), 0);
    pthread_barrier_wait(&barrier);
    finish_task(start_task(lock_pi, NULL));
    CHECK_INT(pthread_join(thread, NULL), 0);
    CHECK_INT(FUTEX(&word, FUTEX_WAIT_REQUEUE_PI_PRIVATE, word, NULL, &other, 0), -1);
    CHECK_INT(errno, ENOSYS);
}

/* ---- every other system call ------------------------------------------------------- */

SAME(syscall_passes_all_else_on, false)
{
    struct timespec none = {0, 0};
    char *memory = (char *)syscall(SYS_mmap, NULL, 4096L, PROT_READ | PROT_WRITE,
                                   MAP_PRIVATE | MAP_ANONYMOUS, -1L, 0L);
    int status, pid;

    record("%d", memory != MAP_FAILED);
    memory[0] = 'x';
    RECORD(munmap(memory, 4096));
    record("%d", (pid_t)syscall(SYS_getpid) == getpid());
    RECORD(syscall(SYS_pselect6, 0, NULL, NULL, NULL, &none, NULL));
    RECORD(syscall(SYS_close, -1));
    RECORD(syscall(SYS_read, -1, NULL, 0));
    RECORD(syscall(1000000));
    RECORD(syscall(-1));
    pid = (int)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
    if (pid == 0)
        syscall(SYS_exit_group, 7);
    record("%d", pid > 0);
    record("%d", (pid_t)syscall(SYS_wait4, pid, &status, 0, NULL) == pid);
    RECORD(WEXITSTATUS(status));
}

/*
 * The child returns from syscall() on its own stack, so its return address must be at the
 * top of that stack. This test is only for x86-64, because other processors have the
 * return address in a register.
 */
#ifdef __x86_64__
static void exit_as_child(void)
{
    __asm__ volatile("movl $9, %%edi; movl $60, %%eax; syscall" ::: "memory");
}

SAME(syscall_of_clone_returns_on_the_childs_stack, false)
{
    static uintptr_t stack[4096] __attribute__((aligned(16)));
    int status = 0, pid;

    if (test_under_valgrind())
        test_skip("Valgrind emulates clone(2)");
    stack[4000] = (uintptr_t)exit_as_child;
    pid = (int)syscall(SYS_clone, CLONE_VM | SIGCHLD, &stack[4000], NULL, NULL, NULL);
    record("%d", pid > 0);
    record("%d", waitpid(pid, &status, 0) == pid);
    RECORD(WEXITSTATUS(status));
}
#endif
