/*
 * stall.c - reports a loop whose thread has waited for a lock for a long time.
 *
 * A task that calls futex(2) itself to wait for a lock blocks its thread. If another task
 * of this thread holds the lock, the thread is deadlocked. So the watching thread checks
 * all watched loops once a second. If CHECKS_TO_REPORT checks in a row find a loop's
 * thread in the same wait for a lock, the loop is reported, once per wait. The cause may
 * be a deadlock, or another thread that holds the lock for a long time. A loop that is
 * waiting for events is not mistaken for one that waits for a lock, because it is in
 * another system call, or in a futex wait of another kind (coil__thread_wait_own()).
 *
 * If all threads of the process wait for locks without a time-out, no thread can release
 * a lock. If two checks in a row find all threads waiting, and no thread has run in
 * between, the watching thread aborts the program, which would otherwise hang. The
 * program continues if a signal handler or another process might release a lock, or while
 * another thread's loop is waiting for events, because Ctrl-C ends that loop.
 *
 * This check is mainly for programs with libcoil-posix, whose tasks run code that was not
 * written for coil. The watching thread exists while any loop is watched.
 */
#include "loop.h"

#include "../coro/sanitizer.h"
#include "../kernel/thread.h"
#include "sampler.h"
#include "stall.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#define CHECKS_TO_REPORT 5

int64_t coil__stall_check_ns = COIL_SEC(1);

int64_t coil__stall_span(void)
{
    return CHECKS_TO_REPORT * coil__stall_check_ns;
}

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct coil__list loops;
    unsigned long generation; /* number of the current watching thread; older ones exit */
    bool has_thread;
    pthread_t thread;
} watch = {.lock = PTHREAD_MUTEX_INITIALIZER,
           .changed = PTHREAD_COND_INITIALIZER,
           .loops = {&watch.loops, &watch.loops}};

static void report(pid_t thread, int64_t waited_ns, const char *consequence)
{
    struct coil__sample sample;
    struct coil__report text;

    coil__sample_sleeper(thread, &sample);
    coil__report_begin(&text, stderr, "stall");
    coil__report_words(&text, "coil: A task or callback has blocked its thread");
    coil__report_value(&text, "seconds", " for %.0f seconds, waiting for a lock",
                       (double)waited_ns / (double)COIL_SEC(1));
    coil__sample_print(&text, &sample);
    coil__report_words(&text, "%s", consequence);
    coil__report_words(&text, ": see Futexes in docs/manual/posix.md\n");
    coil__report_end(&text);
}

/*
 * Check a loop. Returns true if the loop must be reported now. A loop that is not running
 * is never reported. The caller holds the lock.
 */
COIL__NO_SANITIZE static bool check_loop(struct coil__stall *stall)
{
    const coil_loop *loop = COIL__CONTAINER(stall, coil_loop, stall);
    unsigned long switches = 0;
    bool waits = loop->running && coil__thread_waits_for_lock(loop->thread, &switches);
    bool is_same = waits && switches == stall->switches;

    stall->checks = is_same ? stall->checks + 1 : 0;
    stall->switches = switches;
    return stall->checks == CHECKS_TO_REPORT;
}

/* The result of a check of all loops. */
struct found {
    pid_t waits;       /* thread of a loop that is waiting for a lock, or 0 */
    int64_t waited_ns; /* how long that thread has waited */
    pid_t to_report;   /* thread of a loop to report, or 0 */
};

/* The caller holds the lock. */
static struct found check_all_loops(void)
{
    struct found found = {0};

    for (struct coil__list *l = watch.loops.next; l != &watch.loops; l = l->next) {
        struct coil__stall *stall = COIL__CONTAINER(l, struct coil__stall, link);
        pid_t thread = COIL__CONTAINER(stall, coil_loop, stall)->thread;

        if (check_loop(stall) && found.to_report == 0)
            found.to_report = thread;
        if (stall->checks > 0) {
            found.waits = thread;
            found.waited_ns = stall->checks * coil__stall_check_ns;
        }
    }
    return found;
}

/*
 * True if this check and the previous one have found that all threads wait for locks, and
 * no thread has run in between. Updates *sleeps: the number of context switches of all
 * threads, or 0 if not all threads wait for locks.
 */
static bool is_all_stuck(unsigned long *sleeps)
{
    unsigned long before = *sleeps;

    if (!coil__thread_others_wait_for_locks(sleeps) || coil__deadlock_has_handler())
        *sleeps = 0;
    return *sleeps == before && before > 0;
}

/*
 * Report the loop that was found, if any, and abort if no lock can be released. Must be
 * called without watch.lock: printing may take a lock of the dynamic loader, and the
 * thread that holds it may be waiting for watch.lock.
 */
static void report_found(const struct found *found, unsigned long *sleeps)
{
    if (found->waits == 0) {
        *sleeps = 0;
    } else if (is_all_stuck(sleeps)) {
        report(found->waits, found->waited_ns,
               ". No thread can release it, because all threads wait for locks");
        abort();
    }
    if (found->to_report != 0)
        report(found->to_report, coil__stall_span(),
               ". The thread's other tasks cannot run");
}

static void wait_for_next_check(void)
{
    int64_t until = coil__clock_monotonic() + coil__stall_check_ns;
    struct timespec when = {.tv_sec = until / COIL_SEC(1),
                            .tv_nsec = until % COIL_SEC(1)};

    pthread_cond_clockwait(&watch.changed, &watch.lock, CLOCK_MONOTONIC, &when);
}

static void *run_watching_thread(void *arg)
{
    unsigned long generation = (unsigned long)(uintptr_t)arg, sleeps = 0;
    struct found found;

    coil__thread_set_name("coil-stall");
    pthread_mutex_lock(&watch.lock);
    while (wait_for_next_check(), generation == watch.generation) {
        found = check_all_loops();
        pthread_mutex_unlock(&watch.lock);
        report_found(&found, &sleeps);
        pthread_mutex_lock(&watch.lock);
    }
    pthread_mutex_unlock(&watch.lock);
    return NULL;
}

/*
 * Start the watching thread. Without this thread, nothing is reported. The caller holds
 * the lock.
 */
static void start_thread(void)
{
    sigset_t all, before;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    watch.has_thread = pthread_create(&watch.thread, NULL, run_watching_thread,
                                      (void *)(uintptr_t)watch.generation) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!watch.has_thread)
        return;
    coil__pool_threads++; /* this thread never posts: see deadlock.c */
    coil__pool_idle++;
}

void coil__stall_watch(coil_loop *loop)
{
    if (loop->stall.is_watched || coil__on_valgrind())
        return;
    loop->stall.is_watched = true;
    pthread_mutex_lock(&watch.lock);
    coil__list_push(&watch.loops, &loop->stall.link);
    if (!watch.has_thread)
        start_thread();
    pthread_mutex_unlock(&watch.lock);
}

/* Stop watching the loop. If no watched loop is left, end the watching thread. */
void coil__stall_finish(coil_loop *loop)
{
    pthread_t thread;
    bool is_last;

    if (!loop->stall.is_watched)
        return;
    pthread_mutex_lock(&watch.lock);
    coil__list_remove(&loop->stall.link);
    is_last = watch.has_thread && watch.loops.next == &watch.loops;
    thread = watch.thread;
    if (is_last) {
        watch.has_thread = false;
        watch.generation++;
        pthread_cond_broadcast(&watch.changed);
    }
    pthread_mutex_unlock(&watch.lock);
    if (!is_last)
        return;
    pthread_join(thread, NULL);
    coil__pool_idle--;
    coil__pool_threads--;
}

void coil__stall_forked(void)
{
    watch.lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    watch.changed = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
    watch.loops = (struct coil__list){&watch.loops, &watch.loops};
    watch.generation++;
    watch.has_thread = false;
}
