/*
 * signal_table.c - the signal handler, and the inboxes to which it writes.
 *
 *   a signal --> on_signal() --> write(pipe) of each inbox --> loop: coil__inbox_take()
 *                                   |  pipe full                ^
 *                                   `--> overflow, a bit for each number
 *
 * The pipe serves as the queue of signals: writing a siginfo_t is atomic (pipe(7)), the
 * kernel limits the pipe's memory, and the loop watches the pipe like any descriptor. If
 * the pipe is full, a bit records the signal's number, so a SIGTERM after many other
 * signals is not lost.
 *
 * signalfd(2) is not used, because the signal would have to be blocked in all threads of
 * the program. A library cannot require a blocked signal, and the signal would also be
 * blocked in all children.
 *
 * Invariants
 * 1. The list of inboxes is changed under `lock`. The handler cannot take the lock, so
 *    the links are atomic. After an inbox was unlinked and the running handlers have
 *    returned (wait_for_handlers()), no handler uses it, so its pipe may be closed.
 * 2. While users[signo] is not 0, on_signal() is the signal's handler, unless the program
 *    has replaced it.
 * 3. A forked child must not write to the pipes, which belong to the parent. If a signal
 *    arrives in the child before empty_table_in_child() has run, the handler restores the
 *    previous disposition and raises the signal again.
 */
#include "signal.h"

#include "../base/fault.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

static struct {
    pthread_mutex_t lock;
    struct coil__inbox *_Atomic inboxes;
    /* number of running calls to on_signal(), in all threads */
    _Atomic int handlers;
    _Atomic pid_t pid;             /* the process that opened the inboxes */
    unsigned users[COIL__SIGNALS]; /* number of inboxes that want the signal */
    struct sigaction previous[COIL__SIGNALS];
} table = {.lock = PTHREAD_MUTEX_INITIALIZER};

static uint64_t bit_of(int signo)
{
    return (uint64_t)1 << (signo - 1);
}

bool coil__signal_valid(int signo)
{
    switch (signo) {
    case SIGKILL:
    case SIGSTOP:
    case SIGSEGV:
    case SIGBUS:
    case SIGFPE:
    case SIGILL:
        return false;
    default:
        /* The C library uses the signals between 31 and SIGRTMIN. */
        return (signo > 0 && signo < 32) || (signo >= SIGRTMIN && signo <= SIGRTMAX);
    }
}

/* ---- in the handler ---------------------------------------------------------------- */

static bool put(struct coil__inbox *inbox, const siginfo_t *info)
{
    return write(inbox->pipe[1], info, sizeof *info) == (ssize_t)sizeof *info;
}

/*
 * Write the signal to the pipe. If the pipe is full, set the signal's bit in `overflow`
 * and try to write again: the loop may have emptied the pipe and read `overflow` before
 * the bit was set, in which case the second write wakes it.
 */
static void deliver(struct coil__inbox *inbox, int signo, const siginfo_t *info)
{
    if (!(atomic_load(&inbox->wanted) & bit_of(signo)) || put(inbox, info))
        return;
    atomic_fetch_or(&inbox->overflow, bit_of(signo));
    if (put(inbox, info))
        atomic_fetch_and(&inbox->overflow, ~bit_of(signo));
}

static void on_signal(int signo, siginfo_t *info, void *context)
{
    int saved = errno;

    (void)context;
    if (getpid() != atomic_load(&table.pid)) {
        sigaction(signo, &table.previous[signo], NULL);
        raise(signo); /* delivered when the handler returns */
        errno = saved;
        return;
    }
    atomic_fetch_add(&table.handlers, 1);
    for (struct coil__inbox *i = atomic_load(&table.inboxes); i != NULL;
         i = atomic_load(&i->next))
        deliver(i, signo, info);
    atomic_fetch_sub(&table.handlers, 1);
    errno = saved;
}

/*
 * Wait until all running handlers have returned, which takes microseconds. No handler is
 * running on this thread, so the wait cannot deadlock.
 */
static void wait_for_handlers(void)
{
    while (atomic_load(&table.handlers) > 0)
        sched_yield();
}

/* ---- dispositions ------------------------------------------------------------------ */

static int install_handler(int signo)
{
    struct sigaction action = {.sa_sigaction = on_signal,
                               .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK};

    sigfillset(&action.sa_mask);
    if (COIL__CALL(EINVAL, sigaction(signo, &action, &table.previous[signo])) < 0)
        return coil__failed(-errno);
    /*
     * The previous handler may already be on_signal(), if the program replaced it earlier
     * and put it back after coil had restored the disposition. In that case use the
     * default disposition as the previous one.
     */
    if (table.previous[signo].sa_flags & SA_SIGINFO &&
        table.previous[signo].sa_sigaction == on_signal)
        table.previous[signo] = (struct sigaction){.sa_handler = SIG_DFL};
    return 0;
}

static void restore_disposition(int signo)
{
    struct sigaction now;

    if (sigaction(signo, NULL, &now) == 0 && now.sa_flags & SA_SIGINFO &&
        now.sa_sigaction == on_signal)
        sigaction(signo, &table.previous[signo], NULL);
}

/* ---- after a fork ------------------------------------------------------------------ */

static void lock_table(void)
{
    pthread_mutex_lock(&table.lock);
}

static void unlock_table(void)
{
    pthread_mutex_unlock(&table.lock);
}

/* Forget all inboxes, because their loops belong to the parent. */
static void empty_table_in_child(void)
{
    for (int signo = 1; signo < COIL__SIGNALS; signo++)
        if (table.users[signo] > 0) {
            table.users[signo] = 0;
            restore_disposition(signo);
        }
    atomic_store(&table.inboxes, NULL);
    atomic_store(&table.handlers, 0);
    atomic_store(&table.pid, getpid());
    unlock_table();
}

static void set_up_table(void)
{
    atomic_store(&table.pid, getpid());
    pthread_atfork(lock_table, unlock_table, empty_table_in_child);
}

/* ---- inboxes ----------------------------------------------------------------------- */

int coil__inbox_open(struct coil__inbox *inbox)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, set_up_table);
    if (COIL__CALL(EMFILE, pipe2(inbox->pipe, O_CLOEXEC | O_NONBLOCK)) < 0)
        return coil__failed(-errno);
    atomic_init(&inbox->wanted, 0);
    atomic_init(&inbox->overflow, 0);
    lock_table();
    atomic_store(&inbox->next, atomic_load(&table.inboxes));
    atomic_store(&table.inboxes, inbox);
    unlock_table();
    return 0;
}

int coil__inbox_want(struct coil__inbox *inbox, int signo)
{
    int rc = 0;

    if (!coil__signal_valid(signo))
        return coil__failed(-EINVAL);
    lock_table();
    if (!(atomic_load(&inbox->wanted) & bit_of(signo))) {
        /*
         * Set the bit before installing the handler, because the handler drops signals
         * that are not wanted.
         */
        atomic_fetch_or(&inbox->wanted, bit_of(signo));
        if (table.users[signo] == 0)
            rc = install_handler(signo);
        if (rc == 0)
            table.users[signo]++;
        else
            atomic_fetch_and(&inbox->wanted, ~bit_of(signo));
    }
    unlock_table();
    return rc;
}

/* The caller holds table.lock. */
static void forget_signal(struct coil__inbox *inbox, int signo)
{
    if (!(atomic_load(&inbox->wanted) & bit_of(signo)))
        return;
    if (--table.users[signo] == 0)
        restore_disposition(signo);
    atomic_fetch_and(&inbox->wanted, ~bit_of(signo));
}

void coil__inbox_forget(struct coil__inbox *inbox, int signo)
{
    lock_table();
    forget_signal(inbox, signo);
    unlock_table();
}

/* The caller holds table.lock. */
static void unlink_inbox(const struct coil__inbox *inbox)
{
    struct coil__inbox *_Atomic *place = &table.inboxes;
    struct coil__inbox *at;

    while ((at = atomic_load(place)) != NULL && at != inbox)
        place = &at->next;
    if (at != NULL)
        atomic_store(place, atomic_load(&at->next));
}

void coil__inbox_close(struct coil__inbox *inbox)
{
    lock_table();
    for (int signo = 1; signo < COIL__SIGNALS; signo++)
        forget_signal(inbox, signo);
    unlink_inbox(inbox);
    wait_for_handlers();
    unlock_table();
    close(inbox->pipe[0]);
    close(inbox->pipe[1]);
}

bool coil__inbox_take(struct coil__inbox *inbox, siginfo_t *info)
{
    uint64_t overflow;
    int signo;

    if (read(inbox->pipe[0], info, sizeof *info) == (ssize_t)sizeof *info)
        return true;
    overflow = atomic_load(&inbox->overflow);
    if (overflow == 0)
        return false;
    signo = __builtin_ctzll(overflow) + 1;
    atomic_fetch_and(&inbox->overflow, ~bit_of(signo));
    *info = (siginfo_t){.si_signo = signo};
    return true;
}
