/*
 * coil/signal.h - signals: tasks wait for them, and loops call handlers.
 *
 *     sigset_t set;
 *     sigemptyset(&set);
 *     sigaddset(&set, SIGTERM);
 *     sigaddset(&set, SIGHUP);
 *     while ((rc = coil_signal_wait(&set, NULL)) == SIGHUP)
 *         reload();
 *     return rc < 0 ? rc : stop_gracefully();
 *
 * A signal is sent to the process, and any number of loops on any threads may take it:
 * each of these loops gets every signal, and in it all tasks that wait for it and the
 * handler. While at least one loop takes a signal its disposition is coil's; then the
 * former disposition is restored, unless the program has set another meanwhile.
 * coil_run() takes SIGINT only if its disposition is the default, so a SIGINT that is
 * taken here does not cancel the main task. After a fork the child has the former
 * dispositions.
 *
 * The signal must not be blocked in all threads. Signals that cannot be caught are
 * -EINVAL: SIGKILL, SIGSTOP, invalid numbers; and SIGSEGV, SIGBUS, SIGFPE and SIGILL,
 * because a fault cannot wait until a task handles it.
 *
 * Signals below SIGRTMIN are not counted: of several that come before the loop checks, at
 * least one is seen (signal(7)). Realtime signals are queued, each with its siginfo_t, up
 * to a few hundred; beyond that one of each number is seen.
 */
#ifndef COIL_SIGNAL_H
#define COIL_SIGNAL_H

#include <coil/loop.h>

#include <signal.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Strict -std=c11 hides sigset_t and siginfo_t, and so these two functions. */
#ifdef SIG_BLOCK

/*
 * Wait for one of the signals in `set`; returns its number, and in *info, if that is not
 * NULL, what sigaction(2) tells of it. (sigwaitinfo)
 *
 * The loop wants these signals from the first call on, until coil_signal_restore() or its
 * end: one that comes while nobody waits is kept for the next call, as a blocked one is
 * for sigwaitinfo(2). Of standard signals one each is kept, of realtime ones up to 64 in
 * all, the oldest first.
 *
 * A loop that has only this to wait for is not deadlocked: a signal may always come.
 *
 * Fails with -EINVAL, also for an empty set, -ECANCELED, -EMFILE, -ENOMEM.
 */
COIL_SUSPENDS int coil_signal_wait(const sigset_t *set, siginfo_t *info);

/*
 * The loop wants these signals no longer for tasks; what was kept of them is forgotten,
 * and a task that waits for none but these waits until it is cancelled. Handlers are
 * not touched. The next SIGTERM, say, ends the program again.
 */
COIL_API void coil_signal_restore(const sigset_t *set);

#endif

/*
 * Call fn(arg) in the loop for each such signal, in the context of this call. A second
 * call replaces the first. (asyncio: add_signal_handler, there on the main thread only)
 *
 * Fails with -EINVAL, -EMFILE, -ENOMEM.
 */
COIL_API int coil_add_signal_handler(int signo, coil_callback fn, void *arg);

/* Returns 1 if there was one, 0 if not, or -EINVAL. A call that was due is not made.
   (asyncio: remove_signal_handler) */
COIL_API int coil_remove_signal_handler(int signo);

#ifdef __cplusplus
}
#endif

#endif
