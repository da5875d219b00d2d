/*
 * pausing.c - pause(2), sigsuspend(2), sigpause(3): wait until a signal handler has run.
 *
 * No descriptor reports that a handler has run. Therefore, during the wait, the thread
 * blocks the signals that have a handler and would end the wait, and a signalfd reports
 * when one of them is pending. A ppoll(2) that does not wait then installs the caller's
 * mask: the handler runs, and ppoll() fails with EINTR. If several tasks of a thread
 * wait, each signal ends the wait of one task, just as it would end the wait of one
 * thread.
 *
 * Two kinds of signals stay unblocked: faults (SIGSEGV), which another process does not
 * send, and signals with one of libcoil's own handlers, such as that of Ctrl-\, which
 * must run at any time.
 */
#include "waiting.h"

#include <string.h>
#include <sys/signalfd.h>

/* For each signal, the number of waiting tasks of this thread that need it blocked. */
static THREAD_LOCAL unsigned holders[NSIG];

struct pausing {
    sigset_t mask;    /* the mask that the caller requests during the wait */
    sigset_t awaited; /* signals that end the wait when they are pending */
    sigset_t held;    /* signals in `awaited` that the caller has not blocked */
    int fd;           /* a signalfd for `awaited`, or -1 */
};

static bool is_fault(int signo)
{
    return signo == SIGSEGV || signo == SIGBUS || signo == SIGFPE || signo == SIGILL ||
           signo == SIGTRAP || signo == SIGSYS;
}

static bool has_handler(int signo)
{
    struct sigaction action;

    return sigaction(signo, NULL, &action) == 0 && action.sa_handler != SIG_DFL &&
           action.sa_handler != SIG_IGN && !coil_is_own_call((void *)action.sa_handler);
}

/*
 * Return the thread's mask without the signals that are blocked only for waiting tasks.
 */
static sigset_t mask_of_program(void)
{
    sigset_t mask;

    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    for (int signo = 1; signo <= SIGRTMAX; signo++)
        if (holders[signo] > 0)
            sigdelset(&mask, signo);
    return mask;
}

static void hold_signals(struct pausing *p)
{
    sigset_t program = mask_of_program();

    sigemptyset(&p->awaited);
    sigemptyset(&p->held);
    for (int signo = 1; signo <= SIGRTMAX; signo++) {
        bool blocked = sigismember(&program, signo) == 1;

        if (sigismember(&p->mask, signo) != 0 ||
            (!blocked && (is_fault(signo) || !has_handler(signo))))
            continue;
        sigaddset(&p->awaited, signo);
        if (blocked)
            continue;
        sigaddset(&p->held, signo);
        holders[signo]++;
    }
    pthread_sigmask(SIG_BLOCK, &p->held, NULL);
    p->fd = signalfd(-1, &p->awaited, SFD_CLOEXEC | SFD_NONBLOCK);
}

static void release_signals(struct pausing *p)
{
    int saved = errno;
    sigset_t released;

    if (p->fd >= 0)
        NEXT(close)(p->fd);
    sigemptyset(&released);
    for (int signo = 1; signo <= SIGRTMAX; signo++)
        if (sigismember(&p->held, signo) == 1 && --holders[signo] == 0)
            sigaddset(&released, signo);
    pthread_sigmask(SIG_UNBLOCK, &released, NULL);
    errno = saved;
}

/*
 * Make the kernel deliver the pending signals that are not in the mask. Returns true if a
 * handler ran.
 */
static bool run_handlers(const sigset_t *mask)
{
    static const struct timespec none;

    return NEXT(ppoll)(NULL, 0, &none, mask) < 0 && errno == EINTR;
}

/* Wait until a signal may be pending. Returns 0 or -1. */
static int await_signal(const struct pausing *p, int64_t *nap)
{
    struct pollfd pending = {.fd = p->fd, .events = POLLIN};

    if (p->fd < 0)
        return posix__nap(nap, COIL_NEVER);
    return posix__poll(&pending, 1, COIL_NEVER) < 0 ? -1 : 0;
}

/*
 * Wait until a handler has run. Returns -1 with EINTR, like the C library's functions, or
 * with ECANCELED.
 */
static int pause_in_task(const sigset_t *mask)
{
    struct pausing p = {.mask = *mask};
    int64_t nap = 0;

    hold_signals(&p);
    while (!run_handlers(&p.mask))
        if (await_signal(&p, &nap) < 0)
            break;
    release_signals(&p);
    return -1;
}

INTERPOSE int pause(void)
{
    sigset_t mask;

    if (!IN_TASK() || !posix__may_wait())
        return NEXT(pause)();
    mask = mask_of_program();
    return pause_in_task(&mask);
}

INTERPOSE int sigsuspend(const sigset_t *mask)
{
    if (!IN_TASK() || !posix__may_wait())
        return NEXT(sigsuspend)(mask);
    return pause_in_task(mask);
}

/* ---- sigpause() -------------------------------------------------------------------- */

static int pause_without(int signo)
{
    sigset_t mask = mask_of_program();

    if (sigdelset(&mask, signo) < 0)
        return -1;
    return pause_in_task(&mask);
}

static int pause_with_bits(int bits)
{
    sigset_t mask;

    sigemptyset(&mask);
    for (int signo = 1; signo <= 32; signo++)
        if ((unsigned)bits & 1u << (signo - 1))
            sigaddset(&mask, signo);
    return pause_in_task(&mask);
}

/* POSIX's sigpause(), which <signal.h> renames to this. */
INTERPOSE int __xpg_sigpause(int signo)
{
    if (!IN_TASK() || !posix__may_wait())
        return NEXT(__xpg_sigpause)(signo);
    return pause_without(signo);
}

INTERPOSE int __sigpause(int signo_or_bits, int is_signo)
{
    if (!IN_TASK() || !posix__may_wait())
        return NEXT(__sigpause)(signo_or_bits, is_signo);
    return is_signo ? pause_without(signo_or_bits) : pause_with_bits(signo_or_bits);
}
