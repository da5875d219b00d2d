/*
 * wakeup.c - other threads and signal handlers speak to the loop.
 *
 * Posts lie in a list under a mutex, held for a few instructions. `woken` is set by the
 * first of them since the loop last looked, and only that one writes to the eventfd that
 * ends a poll: a flood of posts costs one system call. A loop that is busy, and does not
 * poll, sees the flag between turns.
 *
 * A signal handler may not take the mutex; it sets `interrupted` and wakes the loop.
 */
#include "../base/context.h"
#include "loop.h"

#include "../base/fault.h"

#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* The eventfd was written after the flag had been seen: all the same, it must be read. */
static void collect_late(struct coil__runnable *runnable)
{
    coil__wakeup_collect(COIL__CONTAINER(runnable, coil_loop, wakeup_watch));
}

int coil__wakeup_init(coil_loop *loop)
{
    int rc;

    loop->wakeup_fd = COIL__CALL(EMFILE, eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (loop->wakeup_fd < 0)
        return -errno;
    coil__runnable_init(&loop->wakeup_watch, collect_late);
    rc = loop->backend->class->watch(loop->backend, loop->wakeup_fd, COIL__IN,
                                     &loop->wakeup_watch);
    if (rc < 0) {
        close(loop->wakeup_fd);
        return rc;
    }
    loop->backend->in_use--;
    pthread_mutex_init(&loop->posts_lock, NULL);
    loop->last_post = &loop->first_post;
    loop->takes_posts = true;
    return 0;
}

void coil__wakeup_finish(coil_loop *loop)
{
    pthread_mutex_lock(&loop->posts_lock);
    loop->takes_posts = false;
    pthread_mutex_unlock(&loop->posts_lock);
    coil__wakeup_collect(loop);
    loop->backend->in_use++;
    loop->backend->class->watch(loop->backend, loop->wakeup_fd, COIL__IN, NULL);
}

/* Async-signal-safe. A full eventfd fails with EAGAIN, and is readable as well. */
static void wake(coil_loop *loop)
{
    int saved = errno;
    uint64_t one = 1;

    if (!atomic_exchange(&loop->woken, true) &&
        write(loop->wakeup_fd, &one, sizeof one) < 0 && errno != EAGAIN)
        abort();
    errno = saved;
}

void coil__loop_interrupt(coil_loop *loop)
{
    atomic_store(&loop->interrupted, true);
    wake(loop);
}

void coil__loop_ask_for_dump(coil_loop *loop)
{
    atomic_store(&loop->dump_asked, true);
    wake(loop);
}

/* On the loop's own thread: behind what others have posted before, and no detour. */
static int post_here(coil_loop *loop, struct coil__post *post)
{
    if (!loop->takes_posts)
        return -ESHUTDOWN;
    if (coil__wakeup_pending(loop))
        coil__wakeup_collect(loop);
    coil__loop_add_ready(loop, &post->runnable);
    return 0;
}

int coil__loop_post(coil_loop *loop, struct coil__post *post)
{
    bool taken;

    if (loop == coil__loop_of_thread)
        return post_here(loop, post);
    post->next = NULL;
    pthread_mutex_lock(&loop->posts_lock);
    taken = loop->takes_posts;
    if (taken) {
        *loop->last_post = post;
        loop->last_post = &post->next;
        wake(loop); /* within the lock: the eventfd is closed only after takes_posts */
    }
    pthread_mutex_unlock(&loop->posts_lock);
    return taken ? 0 : -ESHUTDOWN;
}

void coil__loop_withdraw(coil_loop *loop, struct coil__post *post)
{
    struct coil__post **place;

    pthread_mutex_lock(&loop->posts_lock);
    place = &loop->first_post;
    while (*place != NULL && *place != post)
        place = &(*place)->next;
    if (*place != NULL) {
        *place = post->next;
        if (loop->last_post == &post->next)
            loop->last_post = place;
    }
    pthread_mutex_unlock(&loop->posts_lock);
    coil__list_remove(&post->runnable.link);
}

static void run_if_idle(coil_loop *loop, struct coil__runnable *runnable)
{
    if (runnable != NULL && coil__list_empty(&runnable->link))
        coil__loop_add_ready(loop, runnable);
}

void coil__wakeup_collect(coil_loop *loop)
{
    struct coil__post *post, *next;
    uint64_t count;

    /*
     * In this order. Who posts before the flag is cleared is found in the list below; who
     * posts after that writes to the eventfd again, and that must not be read away.
     */
    coil__list_remove(&loop->wakeup_watch.link);
    if (read(loop->wakeup_fd, &count, sizeof count) < 0 && errno != EAGAIN)
        coil_call_exception_handler(&(coil_exception){
            .message = "The loop's eventfd cannot be read: somebody closed it"});
    atomic_store(&loop->woken, false);
    pthread_mutex_lock(&loop->posts_lock);
    post = loop->first_post;
    loop->first_post = NULL;
    loop->last_post = &loop->first_post;
    pthread_mutex_unlock(&loop->posts_lock);
    for (; post != NULL; post = next) {
        next = post->next;
        coil__loop_add_ready(loop, &post->runnable);
    }
    if (atomic_exchange(&loop->interrupted, false))
        run_if_idle(loop, loop->on_interrupt);
    if (atomic_exchange(&loop->dump_asked, false))
        run_if_idle(loop, loop->on_dump);
}

/* ---- coil_post(): a post with memory of its own ------------------------------------ */

struct called_post {
    struct coil__post post;
    coil_loop *loop;
    coil_callback fn;
    void *arg;
    struct coil__bindings *bindings; /* of the poster's context */
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

int coil_post(coil_loop *loop, coil_callback fn, void *arg)
{
    struct called_post *called = coil__alloc(sizeof *called);
    int rc;

    if (called == NULL)
        return -ENOMEM;
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
    return rc;
}
