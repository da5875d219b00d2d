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
 * This header and coil/network.h are implemented by a library of its own, libcoil-testing
 * (pkg-config coil-testing, CMake coil::testing). It must be of the same version as the
 * libcoil that the program uses. libcoil itself contains only hooks, which cost nothing.
 * To assert that code does not suspend, see coil_no_suspend (coil/debug.h).
 *
 * INJECTED FAILURES. Allocations and system calls of all threads are counted, from the
 * first call of a function here that is about them. A request makes one call fail; a new
 * request replaces it. To try all failures, run the program again and again with the 1st,
 * 2nd, 3rd, ... call made to fail, until coil_testing_failed() says that there was no
 * such call.
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
 * coil_run() with a virtual clock, which starts at 0 and jumps to the next deadline when
 * nothing else is to be done: an hour's sleep takes no time, and every run is the same.
 * Signals are left alone.
 */
COIL_API int coil_testing_run(coil_task_fn fn, void *arg);

/* ---- when -------------------------------------------------------------------------- */

/*
 * Wait until every other task of this loop waits, no callback is ready, and a look at the
 * descriptors found nothing. A sleeping task waits, and so does one whose job is on a
 * thread; a virtual clock does not move for this. Several may wait here: they do not wait
 * for each other, and go on together. Tasks that never stop making each other ready, or
 * one that yields for ever, keep it from returning. 0 or -ECANCELED.
 * (trio: testing.wait_all_tasks_blocked)
 */
COIL_SUSPENDS int coil_wait_all_blocked(void);

/*
 * Points in several tasks that are to be reached in a fixed order:
 *
 *     static coil_sequencer order = COIL_SEQUENCER_INIT;
 *
 * One task passes position 0, and another one position 1 after that:
 *
 *     rc = coil_sequencer_wait(&order, 0);
 *
 *     rc = coil_sequencer_wait(&order, 1);
 *
 * The caller's memory, with nothing to finish.
 */
typedef struct coil_sequencer {
    coil_waiters waiters;
    unsigned next;
    bool broken;
} coil_sequencer;

/* clang-format off */
#define COIL_SEQUENCER_INIT {COIL_WAITERS_INIT, 0, false}
/* clang-format on */

/* What COIL_SEQUENCER_INIT is, at run time. */
COIL_API void coil_sequencer_init(coil_sequencer *sequencer);

/*
 * Wait until all points before `position` have been passed, and pass this one: who stands
 * at the next goes on in the next turn, so what follows here up to the next wait comes
 * first. Each position is for one task; a second one at it stops the program.
 *
 * Fails with -ECANCELED; then the order can be kept no more, and for all others, those
 * that wait and those to come, it is -EPIPE. (trio: testing.Sequencer)
 */
COIL_SUSPENDS int coil_sequencer_wait(coil_sequencer *sequencer, unsigned position);

/*
 * Run what is ready in each turn in a random order, which follows from `seed` alone; 0:
 * first in, first out again. For this thread's loops, the one there is and those to come:
 * each begins with the seed anew. What is ready in different turns keeps its order, and
 * so do deadlines that are not due together.
 */
COIL_API void coil_testing_shuffle(uint64_t seed);

/* ---- what fails -------------------------------------------------------------------- */

/*
 * Let the `nth` allocation of coil's from now on fail, once; 1 is the next one. 0: none.
 * Growing a block is one, too. Stacks are not: they are system calls, "mmap".
 */
COIL_API void coil_testing_fail_allocation(uint64_t nth);

/*
 * Let the `nth` system call of coil's from now on not be made, but fail with `error`,
 * once; 0: none. An `error` of 0 is one that this very call may fail with.
 *
 * The calls are: accept4, bind, chdir, chmod, clone, close_range, connect,
 * copy_file_range, dup3, epoll_create1, epoll_ctl, epoll_pwait2, epoll_wait, eventfd,
 * execve, fallocate, fchmod, fcntl, fdatasync, fopen, fstat, fsync, ftruncate,
 * getaddrinfo, getdents64, getifaddrs, getnameinfo, getpeername, getrandom, getsockname,
 * getsockopt, io_uring_enter, io_uring_register, io_uring_setup, kill, linkat, listen,
 * lseek, lstat, madvise, malloc, mkdirat, mmap, mprotect, open, openat, pidfd_open,
 * pidfd_send_signal, pipe2, poll, ppoll, pread, preadv2, pselect, pthread_create, pwrite,
 * read, readlinkat, recv, recvfrom, recvmmsg, recvmsg, renameat2, send, sendfile,
 * sendmmsg, sendmsg, setgroups, setpgid, setresgid, setresuid, setsid, shutdown,
 * sigaction, sigaltstack, socket, socketpair, splice, stat, statx, symlinkat,
 * timer_create, timerfd_create, unlinkat, waitid, write. Not among them are those that
 * cannot fail and those whose failure changes nothing, as close.
 */
COIL_API void coil_testing_fail_system_call(uint64_t nth, int error);

/*
 * What the latest order made fail: "an allocation", or a system call as it stands in
 * coil's source, "epoll_create1(EPOLL_CLOEXEC)". NULL: it has not come to that.
 */
COIL_API const char *coil_testing_failed(void);

/* How many there were until now; those that were made to fail count. */
COIL_API uint64_t coil_testing_allocations(void);
COIL_API uint64_t coil_testing_system_calls(void);

/*
 * How many blocks of memory were allocated and not freed. What was allocated before the
 * counting began is not in it, so compare two figures: after a program that cleans up it
 * is what it was before.
 */
COIL_API int64_t coil_testing_blocks(void);

#ifdef __cplusplus
}
#endif

#endif
