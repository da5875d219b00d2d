/*
 * deadlock.c - detects when all tasks are waiting for events that can never happen.
 *
 * If the loop waits for neither a descriptor nor a timer, only a post from another thread
 * can wake it. The loop compares the number of threads in the process, which the kernel
 * reports, with the number of threads that coil created. If there is another thread, that
 * thread may post, so the loop waits without limit. A thread of coil may post while it is
 * busy (it may be running an abandoned job, for example), so the loop checks again later.
 * If all threads of coil are idle, nothing can wake the loop: this is a deadlock.
 *
 * The kernel's workers for io_uring are also threads of the process, but they are not
 * counted, because they never post.
 *
 * Counting threads takes longer than a poll, so the loop counts them only after 100 ms
 * without an event. A thread of coil_run_threads() does not even limit its polls while
 * other threads of the team are running, because setting a timer for each poll takes time.
 *
 * Locks. With libcoil-posix, a task that waits for a lock or a futex also checks it
 * periodically, because the lock may be released without a wake-up. The timers for these
 * checks do not end the wait. So there is also a deadlock if all timers of the loop
 * belong to such waits, and every task has checked its lock since other code last ran. If
 * another thread, another process or a signal handler might release a lock, the loop only
 * prints a report, once, after five seconds, and continues to wait.
 *
 * A wait for a condition variable lapses from time to time: it ends with a spurious
 * wake-up, so that the caller checks its condition. If the caller waits again in the same
 * step, the task has made no progress, and still counts as waiting.
 */
#include "loop.h"

#include "../error/report.h"
#include "../kernel/thread.h"
#include "stall.h"

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/auxv.h>

#define CHECK_INTERVAL COIL_MSEC(100)
#define LATER_INTERVAL COIL_SEC(1) /* between checks after the first second */

_Atomic unsigned coil__pool_threads, coil__pool_idle;

void coil__deadlock_add_helper(void)
{
    coil__pool_threads++;
    coil__pool_idle++;
}

void coil__deadlock_forked(void)
{
    coil__pool_threads = coil__pool_idle = 0;
}

int64_t coil__loop_longest_poll(coil_loop *loop, int *rc)
{
    unsigned own = 1 + coil__pool_threads;

    if (loop->backend->in_use > 0 || coil__deadlock_expects(&loop->deadlock) ||
        loop->deadlock.in_team || coil__task_layer == NULL)
        return COIL_NEVER;
    if (loop->deadlock.runs_when_idle != loop->runs) {
        loop->deadlock.runs_when_idle = loop->runs;
        return CHECK_INTERVAL;
    }
    if (coil__thread_count_exceeds(own))
        return COIL_NEVER;
    if (coil__pool_idle < own - 1)
        return CHECK_INTERVAL;
    /* A thread may have posted just before it exited, so check for posts again. */
    if (!coil__wakeup_pending(&loop->wakeup) && coil__task_layer->stuck(loop))
        *rc = -EDEADLK;
    return COIL_NEVER;
}

/* ---- locks ------------------------------------------------------------------------- */

void coil__deadlock_init(struct coil__deadlock *deadlock)
{
    coil__list_init(&deadlock->lock_waits);
}

/* Return the number of the current step, counted from 1. */
static uint64_t step_of(const coil_loop *loop)
{
    return loop->runs + loop->runs_unpolled + 1;
}

void coil__loop_begin_lock_wait(coil_loop *loop, struct coil__lock_wait *wait,
                                const void *caller, bool outside, bool again)
{
    struct coil__deadlock *deadlock = &loop->deadlock;

    *wait = (struct coil__lock_wait){
        .caller = caller, .checked_round = deadlock->rounds, .outside = outside};
    coil__list_push(&deadlock->lock_waits, &wait->link);
    deadlock->lock_wait_count++;
    if (!again || deadlock->lapsed_step != step_of(loop))
        deadlock->locked_since = 0;
    deadlock->lapsed_step = 0;
}

static void remove_wait(struct coil__deadlock *deadlock, struct coil__lock_wait *wait)
{
    coil__list_remove(&wait->link);
    deadlock->lock_wait_count--;
    if (deadlock->lapsed_step != 0) /* the task whose wait lapsed has not waited again */
        deadlock->locked_since = 0;
}

void coil__loop_end_lock_wait(coil_loop *loop, struct coil__lock_wait *wait)
{
    remove_wait(&loop->deadlock, wait);
    loop->deadlock.locked_since = 0;
    loop->deadlock.lapsed_step = 0;
}

void coil__loop_check_lock_wait(coil_loop *loop, struct coil__lock_wait *wait)
{
    wait->checked_round = loop->deadlock.rounds;
}

void coil__loop_lapse_lock_wait(coil_loop *loop, struct coil__lock_wait *wait)
{
    remove_wait(&loop->deadlock, wait);
    loop->deadlock.lapsed_step = step_of(loop);
}

bool coil__loop_place_of_lock(const coil_loop *loop, char *text, size_t room)
{
    const struct coil__list *first = loop->deadlock.lock_waits.next;
    const void *caller;
    const char *slash;
    Dl_info info;

    if (first == &loop->deadlock.lock_waits)
        return false;
    text[0] = '\0';
    caller = COIL__CONTAINER(first, const struct coil__lock_wait, link)->caller;
    if (caller == NULL || dladdr(caller, &info) == 0)
        return true;
    slash = strrchr(info.dli_fname, '/');
    snprintf(text, room, " in %s", slash != NULL ? slash + 1 : info.dli_fname);
    return true;
}

static void report_locks(const coil_loop *loop, int64_t waited_ns)
{
    struct coil__report text;
    char place[128];

    if (!coil__loop_place_of_lock(loop, place, sizeof place))
        return;
    coil__report_begin(&text, stderr, "locks");
    coil__report_words(&text, "coil: All tasks of a thread have waited for locks");
    coil__report_value(&text, "seconds", " for %.0f seconds",
                       (double)waited_ns / (double)COIL_SEC(1));
    coil__report_value(&text, "place", "%s", place);
    coil__report_words(&text, ". Unless another thread or process releases a lock, this "
                              "is a deadlock: see Futexes in docs/manual/posix.md\n");
    coil__report_end(&text);
}

static bool any_from_outside(const struct coil__deadlock *deadlock)
{
    COIL__LIST_EACH (link, &deadlock->lock_waits)
        if (COIL__CONTAINER(link, struct coil__lock_wait, link)->outside)
            return true;
    return false;
}

/* The linker defines these symbols: the start and the end of this module. */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char _end[] __attribute__((visibility("hidden")));

/* Used instead of dladdr(3), which takes a lock. */
static bool is_in_own_module(uintptr_t address)
{
    return address >= (uintptr_t)__ehdr_start && address < (uintptr_t)_end;
}

static bool is_of_fault(int signo)
{
    return signo == SIGSEGV || signo == SIGBUS || signo == SIGFPE || signo == SIGILL ||
           signo == SIGTRAP || signo == SIGSYS || signo == SIGABRT;
}

/*
 * If libcoil is statically linked, libcoil's signal handlers cannot be distinguished from
 * the program's, so all handlers count.
 */
bool coil__deadlock_has_handler(void)
{
    bool is_program = is_in_own_module(getauxval(AT_PHDR));
    struct sigaction action;

    for (int signo = 1; signo <= SIGRTMAX; signo++)
        if (!is_of_fault(signo) && sigaction(signo, NULL, &action) == 0 &&
            action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN &&
            (is_program || !is_in_own_module((uintptr_t)action.sa_handler)))
            return true;
    return false;
}

/*
 * Report a possible deadlock once per loop, after some seconds. Called if code outside of
 * the loop may release a lock.
 */
static void suspect_deadlock(coil_loop *loop, int64_t waited_ns)
{
    if (loop->deadlock.lock_reported || waited_ns < coil__stall_span())
        return;
    loop->deadlock.lock_reported = true;
    report_locks(loop, waited_ns);
}

static bool waits_for_locks_alone(const coil_loop *loop)
{
    return loop->backend->in_use == 0 && !coil__deadlock_expects(&loop->deadlock) &&
           coil__task_layer != NULL &&
           coil__timers_count(&loop->timers) == loop->deadlock.lock_wait_count;
}

static bool all_have_checked(const struct coil__deadlock *deadlock)
{
    COIL__LIST_EACH (link, &deadlock->lock_waits)
        if (COIL__CONTAINER(link, struct coil__lock_wait, link)->checked_round !=
            deadlock->rounds)
            return false;
    return true;
}

/*
 * True if every task has checked its lock since another thread last ran, so no release of
 * a lock by that thread has gone unnoticed.
 */
static bool is_quiet(coil_loop *loop, bool outside)
{
    struct coil__deadlock *deadlock = &loop->deadlock;

    if (outside ? coil__thread_others_run()
                : coil__pool_idle < coil__pool_threads ||
                      coil__wakeup_pending(&loop->wakeup)) {
        deadlock->quiet = false;
        return false;
    }
    if (!deadlock->quiet || outside != deadlock->was_outside)
        deadlock->rounds++;
    deadlock->quiet = true;
    deadlock->was_outside = outside;
    return all_have_checked(deadlock);
}

/* Check for a deadlock. Returns true after reporting a deadlock. */
static bool check_locks(coil_loop *loop, int64_t now)
{
    bool outside = coil__thread_count_exceeds(1 + coil__pool_threads) ||
                   any_from_outside(&loop->deadlock) || coil__deadlock_has_handler();

    if (!is_quiet(loop, outside))
        return false;
    if (!outside)
        return coil__task_layer->stuck(loop);
    suspect_deadlock(loop, now - loop->deadlock.locked_since);
    return false;
}

int64_t coil__loop_check_locks(coil_loop *loop, int64_t timeout)
{
    struct coil__deadlock *deadlock = &loop->deadlock;
    int64_t now = coil__clock_monotonic(), waited;

    if (!waits_for_locks_alone(loop)) {
        deadlock->locked_since = 0;
        return timeout;
    }
    if (deadlock->lapsed_step != 0) { /* its task does not wait for a lock now */
        deadlock->lapsed_step = 0;
        deadlock->locked_since = 0;
    }
    if (deadlock->locked_since == 0) {
        deadlock->locked_since = now;
        deadlock->next_check = now + CHECK_INTERVAL;
        deadlock->quiet = false;
    }
    if (now >= deadlock->next_check) {
        waited = now - deadlock->locked_since;
        deadlock->next_check =
            now + (waited < LATER_INTERVAL ? CHECK_INTERVAL : LATER_INTERVAL);
        if (check_locks(loop, now))
            return -EDEADLK;
    }
    waited = deadlock->next_check - now;
    return timeout < waited ? timeout : waited;
}
