/*
 * wakeup.c - posts from other threads, and wake-ups by signal handlers.
 *
 * Posts are in a list guarded by a mutex, which is held only for a few instructions. A
 * post sets the flag `woken`. If the flag was already set, the loop need not be woken
 * again, so a burst of posts costs one system call. A running loop need not be woken
 * either, because it checks the flag between turns and before it waits. A loop that waits
 * for descriptors also waits for its own wake-up descriptor. A loop that waits for no
 * other descriptor waits for the flag itself, which is a futex(2), and may spin first (see
 * spin.c). A loop in guest mode is always woken through the descriptor, because its host
 * may be waiting for it.
 *
 * A signal handler must not lock the mutex, so it only sets `interrupted` and wakes the
 * loop.
 */
#include "../base/context.h"
#include "loop.h"

#include "../kernel/descriptors.h"
#include "../kernel/thread.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void collect_late(struct coil__runnable *runnable);

int coil__wakeup_init(coil_loop *loop)
{
    int rc;

    loop->wakeup.fd = coil__wake_fd_open();
    if (loop->wakeup.fd < 0)
        return coil__failed(loop->wakeup.fd);
    coil__runnable_init(&loop->wakeup.watch, collect_late);
    rc = coil__loop_watch(loop, loop->wakeup.fd, COIL__IN, &loop->wakeup.watch);
    if (rc < 0) {
        close(loop->wakeup.fd);
        return rc;
    }
    loop->backend->in_use--;
    pthread_mutex_init(&loop->wakeup.lock, NULL);
    loop->wakeup.last_post = &loop->wakeup.first_post;
    loop->wakeup.takes_posts = true;
    coil__spin_init(&loop->wakeup.spin);
    return 0;
}

static void refuse_posts(coil_loop *loop)
{
    pthread_mutex_lock(&loop->wakeup.lock);
    loop->wakeup.takes_posts = false;
    pthread_mutex_unlock(&loop->wakeup.lock);
}

void coil__wakeup_finish(coil_loop *loop)
{
    coil__wakeup_collect(loop);
    loop->backend->in_use++;
    coil__loop_unwatch(loop, loop->wakeup.fd, COIL__IN, &loop->wakeup.watch);
}

/* Return a text that explains why the descriptor cannot be used, or "". */
static const char *failure_reason(const coil_loop *loop)
{
    return coil__wake_fd_is_open(loop->wakeup.fd)
               ? ""
               : ": the program has closed it, and the number may now belong to another "
                 "file";
}

static void write_descriptor(const coil_loop *loop)
{
    int saved = errno, rc = coil__wake_fd_post(loop->wakeup.fd);

    if (rc < 0)
        coil__misuse("cannot write to the loop's eventfd, %d (%s)%s", loop->wakeup.fd,
                     strerror(-rc), failure_reason(loop));
    errno = saved;
}

/*
 * Set the flag. Returns how the caller must wake the loop; COIL__AWAKE means not at all.
 */
static enum coil__sleep set_woken(struct coil__wakeup *wakeup)
{
    if (atomic_exchange(&wakeup->woken, 1) != 0)
        return COIL__AWAKE;
    return atomic_load(&wakeup->sleep);
}

/* Async-signal-safe, unless it prints a message and aborts. */
static void wake(coil_loop *loop)
{
    enum coil__sleep sleep = set_woken(&loop->wakeup);

    if (sleep == COIL__POLLS)
        write_descriptor(loop);
    else if (sleep == COIL__SLEEPS)
        coil__thread_wake_own(&loop->wakeup.woken);
}

void coil__wakeup_wait(coil_loop *loop, int64_t timeout_ns)
{
    int64_t until = COIL_NEVER;

    if (coil__spin_wait(&loop->wakeup.spin, &loop->wakeup.woken, timeout_ns))
        return;
    if (timeout_ns != COIL_NEVER)
        until = coil__time_add(coil__clock_monotonic(), timeout_ns);
    if (!coil__wakeup_begin_wait(&loop->wakeup, COIL__SLEEPS))
        return;
    coil__loop_enter_kernel();
    coil__thread_wait_own(&loop->wakeup.woken, 0, until);
    coil__loop_leave_kernel();
}

void coil__loop_interrupt(coil_loop *loop)
{
    atomic_store(&loop->wakeup.interrupted, true);
    wake(loop);
}

void coil__loop_ask_for_dump(coil_loop *loop)
{
    atomic_store(&loop->wakeup.dump_asked, true);
    wake(loop);
}

/*
 * Post to this thread's own loop. Earlier posts from other threads are collected first,
 * to preserve the order.
 */
static int post_here(coil_loop *loop, struct coil__post *post)
{
    if (!loop->wakeup.takes_posts)
        return coil__failed(-ESHUTDOWN);
    if (coil__wakeup_pending(&loop->wakeup))
        coil__wakeup_collect(loop);
    coil__loop_add_ready(loop, &post->runnable);
    return 0;
}

/* The loop may no longer exist. In that case, no thread sleeps at this address. */
static void wake_sleeper(struct coil__wake *wake)
{
    if (wake->sleeper != NULL)
        coil__thread_wake_own(wake->sleeper);
    wake->sleeper = NULL;
}

int coil__loop_post_unwoken(coil_loop *loop, struct coil__post *post,
                            struct coil__wake *wake)
{
    _Atomic uint32_t *word = &loop->wakeup.woken;
    enum coil__sleep sleep = COIL__AWAKE;
    bool taken;

    if (loop == coil__loop_of_thread)
        return post_here(loop, post);
    if (coil__loop_is_parents(loop))
        /* do not lock: a thread of the parent may have held the mutex at the fork */
        return coil__failed(-ESHUTDOWN);
    post->next = NULL;
    pthread_mutex_lock(&loop->wakeup.lock);
    taken = loop->wakeup.takes_posts;
    if (taken) {
        *loop->wakeup.last_post = post;
        loop->wakeup.last_post = &post->next;
        sleep = set_woken(&loop->wakeup);
        /*
         * Write while holding the lock, so that the loop cannot close the descriptor
         * first.
         */
        if (sleep == COIL__POLLS)
            write_descriptor(loop);
    }
    pthread_mutex_unlock(&loop->wakeup.lock);
    if (sleep == COIL__SLEEPS) {
        wake_sleeper(wake);
        wake->sleeper = word;
    }
    return taken ? 0 : -ESHUTDOWN;
}

void coil__unlock_and_wake(pthread_mutex_t *lock, struct coil__wake *wake)
{
    struct coil__wake taken = *wake;

    wake->sleeper = NULL;
    pthread_mutex_unlock(lock);
    wake_sleeper(&taken);
}

int coil__loop_post(coil_loop *loop, struct coil__post *post)
{
    struct coil__wake wake = {NULL};
    int rc = coil__loop_post_unwoken(loop, post, &wake);

    wake_sleeper(&wake);
    return rc;
}

void coil__loop_withdraw(coil_loop *loop, struct coil__post *post)
{
    struct coil__post **place;

    pthread_mutex_lock(&loop->wakeup.lock);
    place = &loop->wakeup.first_post;
    while (*place != NULL && *place != post)
        place = &(*place)->next;
    if (*place != NULL) {
        *place = post->next;
        if (loop->wakeup.last_post == &post->next)
            loop->wakeup.last_post = place;
    }
    pthread_mutex_unlock(&loop->wakeup.lock);
    coil__list_remove(&post->runnable.link);
}

static void run_if_idle(coil_loop *loop, struct coil__runnable *runnable)
{
    if (runnable != NULL && coil__list_empty(&runnable->link))
        coil__loop_add_ready(loop, runnable);
}

static COIL__NOINLINE void report_unreadable(const coil_loop *loop, int rc)
{
    char message[160];

    snprintf(message, sizeof message, "Cannot read from the loop's eventfd, %d%s",
             loop->wakeup.fd, failure_reason(loop));
    coil_call_exception_handler(&(coil_exception){.message = message, .rc = rc});
}

static void drain(coil_loop *loop)
{
    int rc;

    coil__list_remove(&loop->wakeup.watch.link);
    rc = coil__wake_fd_drain(loop->wakeup.fd);
    if (rc < 0)
        report_unreadable(loop, rc);
}

/*
 * Called if the descriptor was written to after the loop had checked the flag. Drains the
 * descriptor, because otherwise the next poll would return immediately.
 */
static void collect_late(struct coil__runnable *runnable)
{
    coil_loop *loop = COIL__CONTAINER(runnable, coil_loop, wakeup.watch);

    drain(loop);
    coil__wakeup_collect(loop);
}

/* Clear the flag and return its value. A flag that is not set costs no locked access. */
static bool take_flag(atomic_bool *flag)
{
    return atomic_load(flag) && atomic_exchange(flag, false);
}

void coil__wakeup_collect(coil_loop *loop)
{
    struct coil__post *post, *next;

    /*
     * The order matters: drain the descriptor, clear the flag, take the list. Posts made
     * before the flag is cleared are in the list that is taken below. Later posts write
     * to the descriptor again, and these writes must not be drained.
     */
    /* the poll has found the descriptor readable */
    if (!coil__list_empty(&loop->wakeup.watch.link))
        drain(loop);
    atomic_store(&loop->wakeup.woken, 0);
    pthread_mutex_lock(&loop->wakeup.lock);
    post = loop->wakeup.first_post;
    loop->wakeup.first_post = NULL;
    loop->wakeup.last_post = &loop->wakeup.first_post;
    pthread_mutex_unlock(&loop->wakeup.lock);
    for (; post != NULL; post = next) {
        next = post->next;
        coil__loop_add_ready(loop, &post->runnable);
    }
    if (take_flag(&loop->wakeup.interrupted))
        run_if_idle(loop, loop->wakeup.on_interrupt);
    if (take_flag(&loop->wakeup.dump_asked))
        run_if_idle(loop, loop->wakeup.on_dump);
}

struct coil__runnable *coil__loop_on_interrupt(const coil_loop *loop)
{
    return loop->wakeup.on_interrupt;
}

void coil__loop_set_on_interrupt(coil_loop *loop, struct coil__runnable *runnable)
{
    atomic_store(&loop->wakeup.interrupted, false);
    loop->wakeup.on_interrupt = runnable;
}

void coil__loop_set_on_dump(coil_loop *loop, struct coil__runnable *runnable)
{
    loop->wakeup.on_dump = runnable;
}

void coil__wakeup_forked(coil_loop *loop)
{
    close(loop->wakeup.fd);
    loop->wakeup.fd = -1;
    /*
     * If a signal handler forked during the futex wait, the child continues that wait.
     * Setting the flag ends the wait.
     */
    atomic_store(&loop->wakeup.woken, 1);
}

void coil__wakeup_close(coil_loop *loop)
{
    close(loop->wakeup.fd);
}

void coil__wakeup_destroy(coil_loop *loop)
{
    pthread_mutex_destroy(&loop->wakeup.lock);
}

/* ---- coil_post(): a post that owns its memory -------------------------------------- */

struct called_post {
    struct coil__post post;
    coil_loop *loop;
    coil_callback fn;
    void *arg;
    struct coil__bindings *bindings; /* bindings of the poster's context */
};

static void run_called_post(struct coil__runnable *runnable)
{
    struct called_post *called =
        COIL__CONTAINER(runnable, struct called_post, post.runnable);
    struct coil__context_slot slot, *outer;
    coil_callback fn = called->fn;
    void *arg = called->arg;
    bool dropped = called->loop->closing;

    outer = coil__context_enter(&slot, called->bindings);
    coil__free(called);
    coil__loop_calls(coil__loop_of_thread, (const void *)fn, NULL);
    if (!dropped)
        fn(arg);
    coil__context_leave(&slot, outer);
}

/*
 * Move the posts of coil_post() to `posts`, in order. The owners of other posts handle
 * them when the loop closes.
 */
static void take_called_posts(struct coil__list *from, struct coil__list *posts)
{
    COIL__LIST_EACH (link, from)
        if (COIL__CONTAINER(link, struct coil__runnable, link)->run == run_called_post) {
            coil__list_remove(link);
            coil__list_push(posts, link);
        }
}

void coil__wakeup_run_last(coil_loop *loop)
{
    struct coil__list posts, *link;

    coil__list_init(&posts);
    refuse_posts(loop);
    coil__wakeup_collect(loop);
    take_called_posts(&loop->ready, &posts);
    loop->running = true;
    while ((link = coil__list_pop(&posts)) != NULL)
        run_called_post(COIL__CONTAINER(link, struct coil__runnable, link));
    loop->running = false;
}

int coil_post(coil_loop *loop, coil_callback fn, void *arg)
{
    COIL__REQUIRE(loop, "a loop");
    COIL__REQUIRE(fn, "a function");
    struct called_post *called;
    int rc;

    coil__loop_check_handler("coil_post");
    called = coil__alloc(sizeof *called);
    if (called == NULL)
        return coil__failed(-ENOMEM);
    coil__runnable_init(&called->post.runnable, run_called_post);
    called->loop = loop;
    called->fn = fn;
    called->arg = arg;
    called->bindings = coil__context_capture();
    rc = coil__loop_post(loop, &called->post);
    if (rc < 0) {
        coil__bindings_release(called->bindings);
        coil__free(called);
    }
    return (int)coil__result(rc);
}
