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
 * The kernel sends a signal to the process, and any number of loops on any threads may
 * handle it. Each of these loops gets every signal, and delivers it to the loop's handler
 * and to all tasks that wait for the signal. While at least one loop handles a signal,
 * the signal's disposition is coil's own handler. Afterwards coil restores the former
 * disposition, unless the program has set another one in the meantime. coil_run() handles
 * SIGINT only if its disposition is the default. So a SIGINT that is handled here does
 * not cancel the main task. After a fork the child has the former dispositions.
 *
 * At least one thread must not block the signal. The functions return -EINVAL for invalid
 * numbers and signals that cannot be caught (SIGKILL, SIGSTOP). They also return -EINVAL
 * for SIGSEGV, SIGBUS, SIGFPE and SIGILL, because the code that raised such a signal
 * cannot wait until a task has handled it.
 *
 * Signals below SIGRTMIN are not counted: if several arrive before the loop checks, at
 * least one is delivered (signal(7)). Realtime signals are queued, each with its
 * siginfo_t, up to a few hundred. If there are more, one signal of each number is
 * delivered.
 */
#ifndef COIL_SIGNAL_H
#define COIL_SIGNAL_H

#include <coil/loop.h>

#include <signal.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Strict -std=c11 hides sigset_t and siginfo_t, so it also hides the two functions that
 * need them.
 */
#ifdef SIG_BLOCK

/*
 * Wait for one of the signals in `set` and return its number. If `info` is not NULL,
 * *info receives the details, as in sigaction(2). (sigwaitinfo)
 *
 * The loop handles these signals from the first call on, until coil_signal_restore() is
 * called or the loop closes. A signal that arrives while no task waits is saved for the
 * next call, like a blocked signal for sigwaitinfo(2). At most one standard signal of
 * each number is saved, and up to 64 realtime signals in total; the oldest signal is
 * returned first.
 *
 * A loop that waits only for signals is not deadlocked, because a signal may always
 * arrive. Fails with -EINVAL for an invalid or empty set, -ECANCELED, -EMFILE, or
 * -ENOMEM.
 */
COIL_SUSPENDS int coil_signal_wait(const sigset_t *set, siginfo_t *info);

/*
 * Stop handling these signals for the loop's tasks. Handlers are not affected.
 *
 * Saved signals are dropped. A task that is waiting only for these signals keeps waiting
 * until it is cancelled. If the loop was the last to handle a signal, its disposition is
 * restored: for example, the next SIGTERM ends the program.
 */
COIL_API void coil_signal_restore(const sigset_t *set);

#endif

/*
 * Call fn(arg) as a callback of the loop for each signal `signo`, in the context of this
 * call. A second call replaces the first. (asyncio: add_signal_handler, which works only
 * on the main thread)
 *
 * Fails with -EINVAL, -EMFILE or -ENOMEM.
 */
COIL_API int coil_add_signal_handler(int signo, coil_callback fn, void *arg);

/*
 * Remove the handler, which is no longer called, not even for a signal that has already
 * arrived. Returns 1 if a handler was set, else 0. Fails with -EINVAL. (asyncio:
 * remove_signal_handler)
 */
COIL_API int coil_remove_signal_handler(int signo);

#ifdef __cplusplus
}
#endif

#endif
