/*
 * promise.c - a result that is passed from one thread to another.
 *
 *   any thread:
 *   set, cancel --> promise --+-- broadcast -------> threads in coil_promise_wait()
 *                             |
 *                             +-- a post for each -> tasks in coil_promise_await()
 *                             |
 *                             +-- when cancelled, a post -> the task whose result it is
 *
 * The lock guards all members of a promise except its rc, and is held only for a few
 * instructions. A waiting task adds a post, stored on its own stack, to the promise's
 * list, so setting the result allocates nothing. Like the result of a future, the posted
 * result takes two trips through the ready queue: one for the post, one for the task.
 * (asyncio: _chain_future)
 *
 * A task that is started from another thread has an `origin` on the heap. The origin
 * contains the promise of the task's result, the post that starts the task, the callback
 * that runs when the task ends, and the post that cancels the task.
 *
 * Invariants
 * 1. rc is written once, under the lock, after value and destroy. A thread that has read
 *    an rc other than -EINPROGRESS may read the value without the lock. Taking the value
 *    requires the lock.
 * 2. An awaiter in the list has a reference to its loop, because the loop may close
 *    before the result is set, without resuming the task. The thread that removes the
 *    awaiter from the list releases this reference.
 * 3. promise.origin is set until the task ends, so no thread posts to an origin whose
 *    loop has closed. Lock order: the promise's lock, then the lock of the loop's
 *    posts.
 */
#include "task.h"

#include "../base/timed_condition.h"

#include <coil/promise.h>

#include <pthread.h>
#include <string.h>
#include <time.h>

struct coil_promise {
    _Atomic int rc; /* -EINPROGRESS while pending */
    pthread_mutex_t lock;
    pthread_cond_t done;
    _Atomic(void *) value; /* NULL after it has been taken */
    void (*destroy)(void *value);
    const char *cancel_reason;
    struct coil__list awaiters;
    struct origin *origin;
    struct coil__wake wake; /* the thread to wake after unlocking */
    _Atomic unsigned refs;  /* must not be first: free(3) overwrites the first bytes */
};

/* A task in coil_promise_await(), stored on the task's stack. */
struct awaiter {
    struct coil__wait wait;
    struct coil__list link; /* promise.awaiters */
    struct coil__post post;
    coil_promise *promise;
    coil_loop *loop;
    bool arrived; /* the post has run */
};

/* ---- life -------------------------------------------------------------------------- */

static void init_promise(coil_promise *promise, unsigned refs)
{
    atomic_init(&promise->refs, refs);
    atomic_init(&promise->rc, -EINPROGRESS);
    pthread_mutex_init(&promise->lock, NULL);
    coil__timed_condition_init(&promise->done);
    coil__list_init(&promise->awaiters);
}

int coil_promise_create(coil_promise **out)
{
    COIL__REQUIRE(out, "an output pointer");
    coil_promise *promise = *out = coil__alloc_zeroed(sizeof *promise);

    if (promise == NULL)
        return coil__failed(-ENOMEM);
    init_promise(promise, 1);
    return 0;
}

COIL__NORETURN static void abort_for_released(const char *caller)
{
    coil__misuse("%s: the last reference to this promise was released before", caller);
}

coil_promise *coil_promise_retain(coil_promise *promise)
{
    COIL__REQUIRE(promise, "a promise");
    if (atomic_fetch_add_explicit(&promise->refs, 1, memory_order_relaxed) == 0)
        abort_for_released("coil_promise_retain");
    return promise;
}

static void destroy_promise_value(coil_promise *promise)
{
    struct coil__no_suspend region;

    coil__no_suspend_enter(&region, "coil_promise_release() destroys a value");
    promise->destroy(promise->value);
    coil__no_suspend_exit(&region);
}

void coil_promise_release(coil_promise *promise)
{
    unsigned before = promise != NULL ? atomic_fetch_sub(&promise->refs, 1) : 2;

    if (COIL__UNLIKELY(before == 0))
        abort_for_released("coil_promise_release");
    if (before > 1)
        return;
    if (promise->destroy != NULL)
        destroy_promise_value(promise);
    pthread_cond_destroy(&promise->done);
    pthread_mutex_destroy(&promise->lock);
    coil__free_object(promise);
}

static void check_not_gone(const coil_promise *promise, const char *caller)
{
    if (atomic_load_explicit(&promise->refs, memory_order_relaxed) == 0)
        abort_for_released(caller);
}

static void unlock(coil_promise *promise)
{
    coil__unlock_and_wake(&promise->lock, &promise->wake);
}

/* Return the result, or -EINPROGRESS. */
static int rc_of(const coil_promise *promise)
{
    return atomic_load(&promise->rc);
}

int coil_promise_result(const coil_promise *promise)
{
    COIL__REQUIRE(promise, "a promise");
    check_not_gone(promise, __func__);
    return (int)coil__result(rc_of(promise));
}

bool coil_promise_done(const coil_promise *promise)
{
    COIL__REQUIRE(promise, "a promise");
    check_not_gone(promise, __func__);
    return rc_of(promise) != -EINPROGRESS;
}

void *coil_promise_value(const coil_promise *promise)
{
    COIL__REQUIRE(promise, "a promise");
    check_not_gone(promise, __func__);
    return coil_promise_done(promise) ? atomic_load(&promise->value) : NULL;
}

void *coil_promise_take_value(coil_promise *promise)
{
    COIL__REQUIRE(promise, "a promise");
    check_not_gone(promise, __func__);
    void *value = NULL;

    pthread_mutex_lock(&promise->lock);
    if (coil_promise_done(promise)) {
        value = atomic_exchange(&promise->value, NULL);
        promise->destroy = NULL;
    }
    unlock(promise);
    return value;
}

/* ---- completing -------------------------------------------------------------------- */

/*
 * Wake an awaiter that was removed from the list. If the awaiter's loop has closed, it
 * refuses the post.
 */
static void wake_awaiter(struct awaiter *awaiter)
{
    coil_loop *loop = awaiter->loop;

    coil__loop_post_unwoken(loop, &awaiter->post, &awaiter->promise->wake);
    coil_loop_release(loop); /* the awaiter may no longer exist */
}

/* Called with the promise's lock held. */
static void complete_promise(coil_promise *promise, int rc)
{
    struct coil__list *link;

    atomic_store_explicit(&promise->rc, rc, memory_order_release);
    while ((link = coil__list_pop(&promise->awaiters)) != NULL)
        wake_awaiter(COIL__CONTAINER(link, struct awaiter, link));
    pthread_cond_broadcast(&promise->done);
}

int coil_promise_set(coil_promise *promise, int rc, void *value, void (*destroy)(void *))
{
    COIL__REQUIRE(promise, "a promise");
    check_not_gone(promise, __func__);
    bool pending;

    if (rc == -EINPROGRESS)
        coil__misuse("coil_promise_set: -EINPROGRESS is not a valid result");
    coil__loop_check_handler("coil_promise_set");
    pthread_mutex_lock(&promise->lock);
    pending = !coil_promise_done(promise);
    if (pending) {
        promise->value = value;
        promise->destroy = destroy;
        complete_promise(promise, rc);
    }
    unlock(promise);
    return pending ? 0 : coil__failed(-EALREADY);
}

static void cancel_origin(struct origin *origin);

bool coil_promise_cancel(coil_promise *promise, const char *reason)
{
    COIL__REQUIRE(promise, "a promise");
    check_not_gone(promise, __func__);
    bool pending;

    coil__loop_check_handler("coil_promise_cancel");
    pthread_mutex_lock(&promise->lock);
    pending = !coil_promise_done(promise);
    if (pending) {
        promise->cancel_reason = reason;
        complete_promise(promise, -ECANCELED);
        if (promise->origin != NULL)
            cancel_origin(promise->origin);
    }
    unlock(promise);
    return pending;
}

/* ---- waiting ----------------------------------------------------------------------- */

static struct timespec clock_time(int64_t when)
{
    return (struct timespec){when / COIL_SEC(1), (long)(when % COIL_SEC(1))};
}

int coil_promise_wait(coil_promise *promise, int64_t timeout_ns)
{
    COIL__REQUIRE(promise, "a promise");
    check_not_gone(promise, __func__);
    struct timespec until;
    bool late = false;

    if (coil_promise_done(promise))
        return coil_promise_result(promise);
    if (timeout_ns <= 0)
        return coil__failed(-ETIMEDOUT);
    if (coil_loop_current() != NULL && coil_loop_running(coil_loop_current()))
        coil__misuse("coil_promise_wait: the call would block the loop of this thread; "
                     "use coil_promise_await()");
    until = clock_time(coil__time_add(coil__clock_monotonic(), timeout_ns));
    pthread_mutex_lock(&promise->lock);
    while (!coil_promise_done(promise) && !late)
        late = pthread_cond_timedwait(&promise->done, &promise->lock, &until) != 0;
    unlock(promise);
    return coil_promise_done(promise) ? coil_promise_result(promise)
                                      : coil__failed(-ETIMEDOUT);
}

static void complete_wait(struct coil__runnable *runnable)
{
    struct awaiter *awaiter = COIL__CONTAINER(runnable, struct awaiter, post.runnable);

    awaiter->arrived = true;
    if (!awaiter->loop->closing)
        coil__wait_complete(&awaiter->wait, rc_of(awaiter->promise));
}

static void enlist_awaiter(struct awaiter *awaiter, coil_promise *promise)
{
    awaiter->promise = promise;
    awaiter->arrived = false;
    awaiter->loop = coil_loop_retain(awaiter->wait.task->future.loop);
    coil__list_init(&awaiter->link);
    coil__runnable_init(&awaiter->post.runnable, complete_wait);
    pthread_mutex_lock(&promise->lock);
    if (coil_promise_done(promise))
        wake_awaiter(awaiter);
    else
        coil__list_push(&promise->awaiters, &awaiter->link);
    unlock(promise);
}

/*
 * Withdraw an awaiter whose wait was cancelled before its post ran. The awaiter is either
 * still in the promise's list, or already posted.
 */
static void leave_promise(struct awaiter *awaiter)
{
    bool listed;

    pthread_mutex_lock(&awaiter->promise->lock);
    listed = !coil__list_empty(&awaiter->link);
    coil__list_remove(&awaiter->link);
    unlock(awaiter->promise);
    if (listed)
        coil_loop_release(awaiter->loop);
    else
        coil__loop_withdraw(awaiter->loop, &awaiter->post);
}

int coil_promise_await(coil_promise *promise)
{
    COIL__REQUIRE(promise, "a promise");
    check_not_gone(promise, __func__);
    static const struct coil__wait_class class = {
        .what = "promise",
        .call = "coil_promise_await",
        .object = COIL__WAIT_AT(struct awaiter, promise)};
    struct awaiter awaiter;
    int rc;

    coil__wait_init(&awaiter.wait, &class);
    if (coil__task_refuses(awaiter.wait.task))
        return -ECANCELED;
    coil_promise_retain(promise);
    enlist_awaiter(&awaiter, promise);
    rc = coil__wait_park(&awaiter.wait);
    if (!awaiter.arrived) {
        leave_promise(&awaiter);
        coil_promise_cancel(promise, coil_cancel_reason());
    }
    coil_promise_release(promise);
    return rc;
}

/* ---- tasks from other threads ------------------------------------------------------ */

struct origin {
    coil_promise promise; /* first, so that its last release frees the origin */
    bool has_promise;     /* the spawner wanted the promise */
    bool cancelled;       /* `cancel` was posted; guarded by the promise's lock */
    struct coil__post start, cancel;
    struct coil__runnable task_done;
    struct coil__list link; /* in origins.running once the task is started */
    coil_loop *loop;
    coil_task *task; /* a reference, once the task is started */

    coil_task_fn fn;
    void *arg;
    bool has_opts;
    coil_spawn_opts opts;
    struct coil__bindings *bindings;
    char name[COIL__NAME_BYTES];
    max_align_t copied_arg[];
};

/* The tasks that other threads have started on this thread's loop. */
static COIL__THREAD_LOCAL struct {
    coil_loop *loop; /* the loop for which this struct is initialised, or NULL */
    struct coil__list running;
    struct coil__close_hook hook;
} origins;

static void free_origin(struct origin *origin)
{
    coil_task_release(origin->task);
    coil_context_release(origin->opts.context);
    coil__bindings_release(origin->bindings);
    if (origin->has_promise)
        coil_promise_release(&origin->promise);
    else
        coil__free(origin);
}

/*
 * Pass the result to the promise, unless the promise was cancelled. After this call, other
 * threads cannot cancel the task, and no posted cancellation will run. Returns true if the
 * promise took the result.
 */
static bool end_origin(struct origin *origin, int rc)
{
    coil_promise *promise = &origin->promise;
    bool pending;

    pthread_mutex_lock(&promise->lock);
    promise->origin = NULL;
    pending = !coil_promise_done(promise);
    if (pending)
        complete_promise(promise, rc);
    unlock(promise);
    if (origin->cancelled)
        coil__loop_withdraw(origin->loop, &origin->cancel);
    coil__list_remove(&origin->task_done.link);
    coil__list_remove(&origin->link);
    return pending;
}

/* Post the cancellation. Called with the promise's lock held. */
static void cancel_origin(struct origin *origin)
{
    origin->cancelled = true;
    coil__loop_post_unwoken(origin->loop, &origin->cancel, &origin->promise.wake);
}

static void on_cancel(struct coil__runnable *runnable)
{
    struct origin *origin = COIL__CONTAINER(runnable, struct origin, cancel.runnable);

    if (!origin->task->started) /* cancel the task after its first step */
        coil__loop_add_ready(origin->loop, runnable);
    else
        coil_task_cancel(origin->task, origin->promise.cancel_reason);
}

static void on_task_done(struct coil__runnable *runnable)
{
    struct origin *origin = COIL__CONTAINER(runnable, struct origin, task_done);
    coil_future *future = &origin->task->future;

    if (end_origin(origin, future->rc))
        coil__future_retrieve(future);
    free_origin(origin);
}

/*
 * Complete the promises of tasks that remain when the loop closes, because these tasks
 * will never end.
 */
static void on_close(coil_loop *loop)
{
    struct coil__list *link;

    (void)loop;
    while ((link = coil__list_pop(&origins.running)) != NULL) {
        struct origin *origin = COIL__CONTAINER(link, struct origin, link);

        end_origin(origin, -ESHUTDOWN);
        free_origin(origin);
    }
    origins.loop = NULL;
}

static void watch_task(struct origin *origin)
{
    if (origins.loop != origin->loop) {
        coil__list_init(&origins.running);
        origins.hook.closing = on_close;
        coil__loop_add_close_hook(origin->loop, &origins.hook);
        origins.loop = origin->loop;
    }
    coil__list_push(&origins.running, &origin->link);
    coil__future_subscribe(&origin->task->future, &origin->task_done);
}

static int spawn(struct origin *origin)
{
    struct coil__context_slot slot, *outer;
    int rc;

    if (origin->loop->closing)
        return coil__failed(-ESHUTDOWN);
    outer = coil__context_enter(&slot, origin->bindings);
    origin->bindings = NULL;
    rc = coil_spawn(origin->fn, origin->arg, origin->has_opts ? &origin->opts : NULL,
                    &origin->task);
    coil__context_leave(&slot, outer);
    return rc;
}

static void on_start(struct coil__runnable *runnable)
{
    struct origin *origin = COIL__CONTAINER(runnable, struct origin, start.runnable);
    int rc = spawn(origin);

    if (rc == 0 && origin->has_promise) {
        watch_task(origin);
        return;
    }
    if (origin->has_promise)
        end_origin(origin, rc);
    else if (rc < 0 && rc != -ESHUTDOWN)
        coil_call_exception_handler(&(coil_exception){
            .message = "A task from another thread could not be started", .rc = rc});
    free_origin(origin);
}

static void copy_opts(struct origin *origin, const coil_spawn_opts *opts)
{
    origin->has_opts = true;
    origin->opts = *opts;
    if (opts->name != NULL)
        origin->opts.name = strncpy(origin->name, opts->name, sizeof origin->name - 1);
    if (opts->arg_bytes > 0)
        origin->arg = memcpy(origin->copied_arg, origin->arg, opts->arg_bytes);
    if (opts->context != NULL)
        coil_context_retain(opts->context);
}

/* Initialise the promise, for the spawner and the origin. */
static void add_promise(struct origin *origin)
{
    origin->has_promise = true;
    init_promise(&origin->promise, 2);
    origin->promise.origin = origin;
}

static struct origin *create_origin(coil_loop *loop, coil_task_fn fn, void *arg,
                                    const coil_spawn_opts *opts)
{
    struct origin *origin =
        coil__alloc_zeroed(sizeof *origin + (opts != NULL ? opts->arg_bytes : 0));

    if (origin == NULL)
        return NULL;
    coil__runnable_init(&origin->start.runnable, on_start);
    coil__runnable_init(&origin->cancel.runnable, on_cancel);
    coil__runnable_init(&origin->task_done, on_task_done);
    coil__list_init(&origin->link);
    origin->loop = loop;
    origin->fn = fn;
    origin->arg = arg;
    if (opts != NULL)
        copy_opts(origin, opts);
    origin->bindings = coil__context_capture();
    return origin;
}

int coil_spawn_threadsafe(coil_loop *loop, coil_task_fn fn, void *arg,
                          const coil_spawn_opts *opts, coil_promise **out)
{
    COIL__REQUIRE(loop, "a loop");
    COIL__REQUIRE(fn, "a function");
    struct origin *origin;
    int rc;

    if (out != NULL)
        *out = NULL;
    if (opts != NULL && opts->arg_bytes > COIL__ARG_BYTES_MAX)
        return coil__failed(-EINVAL);
    coil__loop_check_handler("coil_spawn_threadsafe");
    origin = create_origin(loop, fn, arg, opts);
    if (origin == NULL)
        return coil__failed(-ENOMEM);
    if (out != NULL) {
        add_promise(origin);
        *out = &origin->promise;
    }
    rc = coil__loop_post(loop, &origin->start);
    if (rc < 0) {
        if (out != NULL) {
            *out = NULL;
            coil_promise_release(&origin->promise);
        }
        free_origin(origin);
    }
    return (int)coil__result(rc);
}
