/*
 * signal.c - lets tasks wait for signals, and calls callbacks for them.
 *
 *   inbox --> on_signals() --> the handler's callback
 *                         `--> every task that waits for the signal
 *                         `--> stored, if no task waits now but one has waited before
 *
 * When a signal is first requested on a loop, the loop gets a struct signals, which
 * contains its inbox. The loop watches the inbox's pipe like any descriptor, so it does
 * not report a deadlock while all tasks wait for signals.
 */
#include "signal.h"

#include "../base/context.h"
#include "../loop/loop.h"
#include "../task/wait.h"

#include <coil/signal.h>

#include <string.h>

#define KEPT 64
#define AT_ONCE 64 /* maximum number of signals per loop iteration */

struct handler {
    coil_callback fn; /* NULL: none */
    void *arg;
    struct coil__bindings *bindings; /* context variables, copied for each call */
};

struct signals {
    coil_loop *loop;
    struct coil__close_hook hook;
    struct coil__inbox inbox;
    struct coil__runnable arrived;
    struct coil__list waits; /* waiting.link */
    bool for_tasks
        [COIL__SIGNALS]; /* true from coil_signal_wait() until coil_signal_restore() */
    struct handler handlers[COIL__SIGNALS];
    siginfo_t kept[KEPT]; /* oldest first */
    size_t kept_count;
};

struct signal_waiting {
    struct coil__wait wait;
    struct coil__list link;
    const sigset_t *set;
    siginfo_t *info;
};

static COIL__THREAD_LOCAL struct signals *this_signals; /* NULL until it is needed */

/* ---- delivery ---------------------------------------------------------------------- */

/*
 * Store a signal. As in the kernel, a standard signal is stored only once, and a signal
 * for which there is no room is lost.
 */
static void store_signal(struct signals *s, const siginfo_t *info)
{
    for (size_t i = 0; i < s->kept_count; i++)
        if (info->si_signo < SIGRTMIN && s->kept[i].si_signo == info->si_signo)
            return;
    if (s->kept_count < KEPT)
        s->kept[s->kept_count++] = *info;
}

static void drop_kept(struct signals *s, size_t i)
{
    s->kept_count--;
    memmove(&s->kept[i], &s->kept[i + 1], (s->kept_count - i) * sizeof s->kept[0]);
}

static bool wake_waiting(struct signals *s, const siginfo_t *info)
{
    bool woken = false;

    COIL__LIST_EACH (link, &s->waits) {
        struct signal_waiting *w = COIL__CONTAINER(link, struct signal_waiting, link);

        if (sigismember(w->set, info->si_signo) != 1)
            continue;
        *w->info = *info;
        coil__list_remove(link);
        woken |= coil__wait_complete(&w->wait, info->si_signo);
    }
    return woken;
}

/*
 * Call the handler's callback. The handler is copied first, because the callback may
 * remove or replace it.
 */
static void call_handler(const struct handler *handler)
{
    struct coil__context_slot slot, *outer;
    coil_callback fn = handler->fn;
    void *arg = handler->arg;

    outer = coil__context_enter(&slot, coil__bindings_retain(handler->bindings));
    coil__loop_calls(coil__loop_of_thread, (const void *)fn, NULL);
    fn(arg);
    coil__context_leave(&slot, outer);
}

static void on_signals(struct coil__runnable *runnable)
{
    struct signals *s = COIL__CONTAINER(runnable, struct signals, arrived);
    siginfo_t info;

    for (int i = 0; i < AT_ONCE; i++) {
        if (!coil__inbox_take(&s->inbox, &info))
            return;
        if (s->for_tasks[info.si_signo] && !wake_waiting(s, &info))
            store_signal(s, &info);
        if (s->handlers[info.si_signo].fn != NULL)
            call_handler(&s->handlers[info.si_signo]);
    }
    /*
     * Continue in the loop's next iteration, so that many signals do not block the loop.
     * Waiting until the pipe is readable would not be enough, because signals in
     * inbox.overflow are not in the pipe.
     */
    coil__loop_add_ready(s->loop, &s->arrived);
}

/* ---- the loop's signals ------------------------------------------------------------ */

static void clear_handler(struct handler *handler)
{
    if (handler->fn != NULL)
        coil__bindings_release(handler->bindings);
    *handler = (struct handler){.fn = NULL};
}

static void on_loop_closing(coil_loop *loop)
{
    struct signals *s = this_signals;

    coil__loop_unwatch(loop, s->inbox.pipe[0], COIL__IN, &s->arrived);
    coil__inbox_close(&s->inbox);
    for (int signo = 1; signo < COIL__SIGNALS; signo++)
        clear_handler(&s->handlers[signo]);
    coil__free(s);
    this_signals = NULL;
}

static int open_signals(coil_loop *loop)
{
    struct signals *s = coil__alloc_zeroed(sizeof *s);
    int rc;

    if (s == NULL)
        return coil__failed(-ENOMEM);
    coil__list_init(&s->waits);
    coil__runnable_init(&s->arrived, on_signals);
    rc = coil__inbox_open(&s->inbox);
    if (rc < 0)
        goto failed;
    rc = coil__loop_watch(loop, s->inbox.pipe[0], COIL__IN, &s->arrived);
    if (rc < 0) {
        coil__inbox_close(&s->inbox);
        goto failed;
    }
    s->loop = loop;
    s->hook.closing = on_loop_closing;
    coil__loop_add_close_hook(loop, &s->hook);
    this_signals = s;
    return 0;
failed:
    coil__free(s);
    return rc;
}

/*
 * Store the loop's struct signals in *out. The first call creates the struct. In a forked
 * child, the parent's struct is replaced without being changed.
 */
static int find_signals(const char *caller, struct signals **out)
{
    coil_loop *loop = coil__loop_require(caller);
    int rc = 0;

    if (this_signals == NULL || this_signals->loop != loop)
        rc = open_signals(loop);
    *out = this_signals;
    return rc;
}

/*
 * Stop delivering the signal to the inbox if neither a task nor a handler of this loop
 * uses it any more.
 */
static void forget_unused(struct signals *s, int signo)
{
    if (!s->for_tasks[signo] && s->handlers[signo].fn == NULL)
        coil__inbox_forget(&s->inbox, signo);
}

/* Stop delivering the signals of the set to tasks. */
static void restore_all(struct signals *s, const sigset_t *set)
{
    for (int signo = 1; signo < COIL__SIGNALS; signo++) {
        if (sigismember(set, signo) != 1 || !s->for_tasks[signo])
            continue;
        s->for_tasks[signo] = false;
        forget_unused(s, signo);
    }
}

/* ---- waiting ----------------------------------------------------------------------- */

static bool is_valid(const sigset_t *set)
{
    bool any = false;

    for (int signo = 1; signo < COIL__SIGNALS; signo++) {
        bool member = sigismember(set, signo) == 1;

        if (member && !coil__signal_valid(signo))
            return false;
        any |= member;
    }
    return any;
}

/* Start delivering all signals of the set to tasks. On failure, undo all changes. */
static int want_all(struct signals *s, const sigset_t *set)
{
    sigset_t taken;
    int rc = 0;

    sigemptyset(&taken);
    for (int signo = 1; signo < COIL__SIGNALS && rc == 0; signo++) {
        if (sigismember(set, signo) != 1 || s->for_tasks[signo])
            continue;
        rc = coil__inbox_want(&s->inbox, signo);
        s->for_tasks[signo] = rc == 0;
        if (rc == 0)
            sigaddset(&taken, signo);
    }
    if (rc != 0)
        restore_all(s, &taken);
    return rc;
}

static int take_kept(struct signals *s, const sigset_t *set, siginfo_t *info)
{
    for (size_t i = 0; i < s->kept_count; i++)
        if (sigismember(set, s->kept[i].si_signo) == 1) {
            *info = s->kept[i];
            drop_kept(s, i);
            return info->si_signo;
        }
    return 0;
}

int coil_signal_wait(const sigset_t *set, siginfo_t *info)
{
    COIL__REQUIRE(set, "a set of signals");
    static const struct coil__wait_class class = {.what = "signal",
                                                  .call = "coil_signal_wait"};
    struct signals *s;
    siginfo_t unseen;
    struct signal_waiting w = {.set = set, .info = info != NULL ? info : &unseen};
    int rc;

    if (!is_valid(set))
        return coil__failed(-EINVAL);
    rc = find_signals("coil_signal_wait", &s);
    if (rc == 0)
        rc = want_all(s, set);
    if (rc == 0)
        rc = take_kept(s, set, w.info);
    if (rc != 0)
        return rc;
    coil__wait_init(&w.wait, &class);
    w.wait.keeps_result = true; /* otherwise a cancellation would lose the signal */
    coil__list_init(&w.link);
    coil__list_push(&s->waits, &w.link);
    rc = coil__wait_park(&w.wait);
    coil__list_remove(&w.link);
    return rc;
}

void coil_signal_restore(const sigset_t *set)
{
    COIL__REQUIRE(set, "a set of signals");
    coil_loop *loop = coil__loop_to_undo("coil_signal_restore");
    struct signals *s = this_signals;

    if (s == NULL || s->loop != loop || coil__loop_is_parents(loop))
        return;
    restore_all(s, set);
    for (size_t i = s->kept_count; i-- > 0;)
        if (sigismember(set, s->kept[i].si_signo) == 1)
            drop_kept(s, i);
}

/* ---- handlers ---------------------------------------------------------------------- */

int coil_add_signal_handler(int signo, coil_callback fn, void *arg)
{
    struct signals *s;
    int rc;

    if (!coil__signal_valid(signo) || fn == NULL)
        return coil__failed(-EINVAL);
    rc = find_signals("coil_add_signal_handler", &s);
    if (rc == 0)
        rc = coil__inbox_want(&s->inbox, signo);
    if (rc < 0)
        return rc;
    clear_handler(&s->handlers[signo]);
    s->handlers[signo] = (struct handler){fn, arg, coil__context_capture()};
    return 0;
}

int coil_remove_signal_handler(int signo)
{
    coil_loop *loop = coil__loop_to_undo("coil_remove_signal_handler");
    struct signals *s = this_signals;

    if (!coil__signal_valid(signo))
        return coil__failed(-EINVAL);
    if (s == NULL || s->loop != loop || s->handlers[signo].fn == NULL ||
        coil__loop_is_parents(loop))
        return 0;
    clear_handler(&s->handlers[signo]);
    forget_unused(s, signo);
    return 1;
}
