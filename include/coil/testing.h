/*
 * coil/testing.h - for tests of programs that use coil.
 *
 *     static int test_of_client(void *arg)
 *     {
 *         coil_task *client;
 *         int rc = coil_spawn(run_client, arg, NULL, &client);
 *
 *         if (rc < 0)
 *             return rc;
 *         coil_wait_all_blocked();              // it waits for its server now
 *         CHECK(state_of(arg) == CONNECTING);
 *         coil_task_cancel(client, NULL);
 *         CHECK(coil_task_await(client) == -ECANCELED);
 *         coil_task_release(client);
 *         return 0;
 *     }
 *
 * `CHECK()` belongs to your test framework. main() runs the test:
 *
 *     for (uint64_t seed = 1; seed <= 100; seed++) {
 *         coil_testing_shuffle(seed);           // in 100 different orders
 *         CHECK(coil_testing_run(test_of_client, &world) == 0);
 *     }
 *
 * This header and coil/network.h are implemented by a separate library, libcoil-testing
 * (pkg-config coil-testing, CMake coil::testing). libcoil-testing must have the same
 * version as the libcoil that the program uses. libcoil itself contains only hooks, which
 * cost nothing. To assert that code does not suspend, see coil_no_suspend (coil/debug.h).
 *
 * INJECTED FAILURES. coil counts the allocations and the system calls of all threads.
 * Each count begins at the first call of a function below that uses it. A request makes
 * one allocation or system call fail; a new request replaces the old one. To try all
 * failures, run the program repeatedly and make the 1st, 2nd, 3rd, ... call fail. Once
 * coil_testing_failed() returns NULL after a run, the program has made fewer calls than
 * requested, so every call has failed once.
 */
#ifndef COIL_TESTING_H
#define COIL_TESTING_H

#include <coil/network.h>
#include <coil/run.h>
#include <coil/sync.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Like coil_run(), with a virtual clock and without signal handlers. The clock starts at
 * 0, and jumps to the next deadline when nothing is ready. So sleeping for an hour takes
 * no time, and every run of a test is the same.
 */
COIL_API int coil_testing_run(coil_task_fn fn, void *arg);

/* ---- the order of events ----------------------------------------------------------- */

/*
 * Wait until every other task of this loop waits, no callback is ready, and polling has
 * found nothing. (trio: testing.wait_all_tasks_blocked)
 *
 * A sleeping task counts as waiting, and so does a task that waits for a job on a thread.
 * A virtual clock does not advance for this call. Several tasks may wait here: they do
 * not wait for each other, and continue together. The call never returns if tasks make
 * each other ready forever, or if a task yields forever. Returns 0 or -ECANCELED.
 */
COIL_SUSPENDS int coil_wait_all_blocked(void);

/*
 * A sequencer makes several tasks pass certain points in a fixed order.
 *
 *     static coil_sequencer order = COIL_SEQUENCER_INIT;
 *
 * One task passes position 0, and another task passes position 1 after that:
 *
 *     rc = coil_sequencer_wait(&order, 0);
 *
 *     rc = coil_sequencer_wait(&order, 1);
 *
 * The caller allocates a sequencer, which holds no resources and need not be released.
 */
typedef struct coil_sequencer {
    coil_waiters waiters;
    unsigned next;
    bool broken;
} coil_sequencer;

/* clang-format off */
#define COIL_SEQUENCER_INIT {COIL_WAITERS_INIT, 0, false}
/* clang-format on */

/* Initialise a sequencer at run time, like COIL_SEQUENCER_INIT. */
COIL_API void coil_sequencer_init(coil_sequencer *sequencer);

/*
 * Wait until all positions before `position` have been passed, and pass this one. (trio:
 * testing.Sequencer)
 *
 * The task at the next position continues in the next turn of the loop. So the code after
 * this call, up to the calling task's next wait, runs before that task continues. The
 * program aborts if two tasks wait at the same position.
 *
 * Fails with -ECANCELED. A cancelled call breaks the sequence: all other current and
 * later calls fail with -EPIPE.
 */
COIL_SUSPENDS int coil_sequencer_wait(coil_sequencer *sequencer, unsigned position);

/*
 * Run the ready tasks and callbacks of each turn of the loop in a random order, which
 * depends only on `seed`. 0 restores first-in, first-out order.
 *
 * The random order applies to this thread's current loop and to its later loops, each of
 * which starts with the seed again. Tasks that become ready in different turns still run
 * in order, and so do timers with different deadlines.
 */
COIL_API void coil_testing_shuffle(uint64_t seed);

/* ---- injected failures ------------------------------------------------------------- */

/*
 * Make one of coil's next allocations fail: `nth` is 1 for the next one, and 0 cancels
 * the request. Growing a block counts as an allocation; allocating a stack counts as a
 * system call, "mmap".
 */
COIL_API void coil_testing_fail_allocation(uint64_t nth);

/*
 * Make one of coil's next system calls fail with `error`, without executing it: `nth` is
 * 1 for the next one, and 0 cancels the request. If `error` is 0, coil chooses an error
 * that this call may return.
 *
 * The calls are: accept4, bind, chdir, chmod, clone, close_range, connect,
 * copy_file_range, dup3, epoll_create1, epoll_ctl, epoll_pwait2, epoll_wait, eventfd,
 * execve, fallocate, fchmod, fchownat, fcntl, fdatasync, fopen, fstat, fsync, ftruncate,
 * getaddrinfo, getdents64, getifaddrs, getnameinfo, getpeername, getrandom, getsockname,
 * getsockopt, io_uring_enter, io_uring_register, io_uring_setup, kill, linkat, listen,
 * lseek, lstat, madvise, malloc, mkdirat, mmap, mprotect, open, openat, pidfd_open,
 * pidfd_send_signal, pipe2, poll, ppoll, pread, preadv2, pselect, pthread_create, pwrite,
 * read, readlinkat, recv, recvfrom, recvmmsg, recvmsg, renameat2, send, sendfile,
 * sendmmsg, sendmsg, setgroups, setpgid, setresgid, setresuid, setsid, shutdown,
 * sigaction, sigaltstack, socket, socketpair, splice, stat, statx, symlinkat,
 * timer_create, timerfd_create, unlinkat, waitid, write. Calls that cannot fail are not
 * included, nor are calls whose failure changes nothing, such as close.
 */
COIL_API void coil_testing_fail_system_call(uint64_t nth, int error);

/*
 * Return the name of the call that failed because of the latest request: "an allocation",
 * or a system call as written in coil's source, "epoll_create1(EPOLL_CLOEXEC)". Returns
 * NULL if the request has not taken effect.
 */
COIL_API const char *coil_testing_failed(void);

/*
 * Return the number of allocations or system calls until now, including those that were
 * made to fail on request.
 */
COIL_API uint64_t coil_testing_allocations(void);
COIL_API uint64_t coil_testing_system_calls(void);

/*
 * Return the number of blocks of memory that are allocated and not freed. Blocks that
 * were allocated before the counting began are not included. So compare the values before
 * and after an operation: if the operation frees all its memory, they are equal.
 */
COIL_API int64_t coil_testing_blocks(void);

#ifdef __cplusplus
}
#endif

#endif
