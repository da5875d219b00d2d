/*
 * future.c - a result that will exist later.
 *
 *               set(rc >= 0)             -> DONE
 *   PENDING --- set(rc < 0)              -> FAILED
 *               set(-ECANCELED), cancel  -> CANCELLED
 *
 * Invariants
 * 1. A future leaves PENDING exactly once.
 * 2. Callbacks run from the ready queue, never inside coil_future_set(). So the caller's
 *    state is consistent when they run, and a chain of a million futures needs no deep
 *    stack.
 *
 * A callback is a runnable in the waiter's memory: a task awaits a future by adding its
 * own step to the callbacks. Completing a future appends the list of callbacks to the
 * ready queue, which takes constant time and cannot fail.
 */
#include "failure.h"
#include "future.h"
#include "task.h"

#include "../loop/leak.h"

/*
 * A future that is not a task. `future` is not the first member: free(3) overwrites the
 * first 16 bytes, but the reference count of a freed future must remain 0, so that its
 * use is detected.
 */
struct valued {
    void *value;
    void (*destroy)(void *value); /* or NULL */
    coil_future future;
};

_Static_assert(offsetof(struct valued, future.refs) >= 16, "a mark in freed memory");

static struct valued *valued_of(coil_future *future)
{
    return COIL__CONTAINER(future, struct valued, future);
}

void coil__future_init(coil_future *future, coil_loop *loop, bool is_task)
{
    coil__list_init(&future->callbacks);
    future->loop = loop;
    future->loop_number = loop->number;
    future->refs = 1;
    future->rc = -EINPROGRESS;
    future->is_task = is_task;
}

int coil_future_create(coil_future **out)
{
    COIL__REQUIRE(out, "an output pointer");
    coil_loop *loop = coil__loop_require("coil_future_create");
    struct valued *created = coil__alloc_zeroed(sizeof *created);

    *out = created != NULL ? &created->future : NULL;
    if (created == NULL)
        return coil__failed(-ENOMEM);
    coil__future_init(&created->future, loop, false);
    return 0;
}

void coil__future_gone(const char *caller)
{
    coil__misuse("%s: the last reference to this future or task was released before",
                 caller);
}

coil_future *coil_future_retain(coil_future *future)
{
    COIL__REQUIRE(future, "a future");
    coil__future_check(future, "coil_future_retain");
    future->refs++;
    return future;
}

static coil_task *task_of(coil_future *future)
{
    return COIL__CONTAINER(future, coil_task, future);
}

/*
 * Call destroy(), which must not wait, because the code that releases the reference may
 * be in the middle of an operation.
 */
static void destroy_future_value(const struct valued *valued)
{
    struct coil__no_suspend region;

    coil__no_suspend_enter(&region, "coil_future_release() destroys a value");
    valued->destroy(valued->value);
    coil__no_suspend_exit(&region);
}

static void free_valued(struct valued *valued)
{
    if (valued->destroy != NULL)
        destroy_future_value(valued);
    if (valued->future.error != NULL)
        coil_error_release(valued->future.error);
    coil__free_object(valued);
}

void coil__future_report_unseen(coil_future *future, const char *message)
{
    coil_task *task = future->is_task ? task_of(future) : NULL;

    future->unseen = false;
    coil_call_exception_handler(&(coil_exception){.message = message,
                                                  .rc = future->rc,
                                                  .error = future->error,
                                                  .task = task,
                                                  .future = future});
}

/*
 * Report a failure that was not retrieved before the last reference was released. If the
 * handler takes a new reference, the future is not freed.
 */
static void report_at_the_end(coil_future *future)
{
    future->refs = 1;
    coil__future_report_unseen(future, future->is_task
                                           ? "Task exception was never retrieved"
                                           : "Future exception was never retrieved");
    future->refs--;
}

void coil__future_end(coil_future *future)
{
    if (COIL__UNLIKELY(future->unseen)) {
        report_at_the_end(future);
        if (future->refs > 0)
            return;
    }
    coil__leak_forget(future);
    if (COIL__LIKELY(future->is_task))
        coil__task_free(task_of(future));
    else
        free_valued(valued_of(future));
}

void coil_future_release(coil_future *future)
{
    if (future == NULL)
        return;
    coil__future_check(future, "coil_future_release");
    coil__future_release(future);
}

int coil_future_set(coil_future *future, int rc, void *value, void (*destroy)(void *))
{
    COIL__REQUIRE(future, "a future");
    coil__loop_check_stack("coil_future_set");
    coil__future_check(future, "coil_future_set");
    if (!coil__future_pending(future))
        return coil__failed(-EALREADY);
    if (future->is_task)
        coil__misuse("coil_future_set: a task sets its own result, by returning it");
    if (rc == -EINPROGRESS)
        coil__misuse("coil_future_set: -EINPROGRESS is not a valid result");
    valued_of(future)->value = value;
    valued_of(future)->destroy = destroy;
    coil__future_complete(future, rc);
    return 0;
}

COIL__NOINLINE bool coil_future_cancel(coil_future *future, const char *reason)
{
    COIL__REQUIRE(future, "a future");
    coil__loop_check_stack("coil_future_cancel");
    coil__future_check(future, "coil_future_cancel");
    if (!coil__future_pending(future)) {
        coil__future_retrieve(future);
        return false;
    }
    if (future->is_task) {
        struct coil__cancel_origin origin =
            coil__cancel_origin_here(reason, COIL__CALLER());

        return coil__task_cancel(task_of(future), &origin, 0);
    }
    future->cancel_reason = reason;
    coil__future_complete(future, -ECANCELED);
    return true;
}

coil_future_state coil_future_get_state(const coil_future *future)
{
    COIL__REQUIRE(future, "a future");
    coil__future_check_gone(future, "coil_future_get_state");
    if (coil__future_pending(future))
        return COIL_PENDING;
    if (future->rc >= 0)
        return COIL_DONE;
    return future->rc == -ECANCELED ? COIL_CANCELLED : COIL_FAILED;
}

bool coil_future_done(const coil_future *future)
{
    COIL__REQUIRE(future, "a future");
    coil__future_check_gone(future, "coil_future_done");
    return !coil__future_pending(future);
}

bool coil_future_cancelled(const coil_future *future)
{
    COIL__REQUIRE(future, "a future");
    coil__future_check_gone(future, "coil_future_cancelled");
    return future->rc == -ECANCELED;
}

/* If rc is the future's failure, make it the running task's last error. Returns rc. */
static inline int hand_on(const coil_future *future, int rc, const void *from)
{
    if (COIL__UNLIKELY(rc < 0))
        coil__failure_hand_on(future, rc, from);
    return rc;
}

/* Return the result of a completed future. */
static inline int retrieve_and_hand_on(coil_future *future, const void *from)
{
    return hand_on(future, coil__future_retrieve(future), from);
}

COIL__NOINLINE int coil_future_result(coil_future *future)
{
    COIL__REQUIRE(future, "a future");
    coil__future_check_gone(future, "coil_future_result");
    if (coil__future_pending(future))
        return coil__failed(-EINPROGRESS);
    return retrieve_and_hand_on(future, COIL__CALLER());
}

void *coil_future_value(const coil_future *future)
{
    COIL__REQUIRE(future, "a future");
    coil__future_check_gone(future, "coil_future_value");
    return !future->is_task ? COIL__CONTAINER(future, const struct valued, future)->value
                            : NULL;
}

void *coil_future_take_value(coil_future *future)
{
    COIL__REQUIRE(future, "a future");
    coil__future_check_gone(future, "coil_future_take_value");
    struct valued *valued = valued_of(future);
    void *value;

    if (future->is_task)
        return NULL;
    value = valued->value;
    valued->value = NULL;
    valued->destroy = NULL;
    return value;
}

const char *coil_future_cancel_reason(const coil_future *future)
{
    COIL__REQUIRE(future, "a future");
    coil__future_check_gone(future, "coil_future_cancel_reason");
    return coil_future_cancelled(future) ? future->cancel_reason : NULL;
}

/* ---- callbacks --------------------------------------------------------------------- */

void coil__future_subscribe(coil_future *future, struct coil__runnable *runnable)
{
    if (coil__future_pending(future))
        coil__list_push(&future->callbacks, &runnable->link);
    else
        coil__loop_add_ready(future->loop, runnable);
}

struct callback {
    struct coil__runnable runnable;
    coil_future *future;
    coil_done_callback fn;
    void *arg;
    struct coil__bindings *bindings; /* context of the code that added the callback */
};

static void run_callback(struct coil__runnable *runnable)
{
    struct callback *callback = COIL__CONTAINER(runnable, struct callback, runnable);
    struct coil__context_slot slot, *outer;

    outer = coil__context_enter(&slot, callback->bindings);
    coil__loop_calls(callback->future->loop, (const void *)callback->fn, NULL);
    if (!callback->future->loop->closing)
        callback->fn(callback->future, callback->arg);
    coil__context_leave(&slot, outer);
    coil__future_release(callback->future);
    coil__free(callback);
}

int coil_future_add_callback(coil_future *future, coil_done_callback fn, void *arg)
{
    COIL__REQUIRE(future, "a future");
    COIL__REQUIRE(fn, "a function");
    struct callback *callback;

    coil__future_check(future, "coil_future_add_callback");
    callback = coil__alloc(sizeof *callback);
    if (callback == NULL)
        return coil__failed(-ENOMEM);
    coil__runnable_init(&callback->runnable, run_callback);
    coil__future_retain(future);
    callback->future = future;
    callback->fn = fn;
    callback->arg = arg;
    callback->bindings = coil__context_capture();
    coil__future_subscribe(future, &callback->runnable);
    return 0;
}

int coil_future_remove_callback(coil_future *future, coil_done_callback fn, void *arg)
{
    COIL__REQUIRE(future, "a future");
    COIL__REQUIRE(fn, "a function");
    coil__future_check(future, "coil_future_remove_callback");
    int removed = 0;

    coil__future_retain(future); /* the callbacks may hold the last references */
    COIL__LIST_EACH (link, &future->callbacks) {
        struct callback *callback = COIL__CONTAINER(link, struct callback, runnable.link);

        if (callback->runnable.run != run_callback || callback->fn != fn ||
            callback->arg != arg)
            continue;
        coil__list_remove(link);
        coil__future_release(future);
        coil__bindings_release(callback->bindings);
        coil__free(callback);
        removed++;
    }
    coil__future_release(future);
    return removed;
}

/* ---- awaiting ---------------------------------------------------------------------- */

struct awaiting {
    struct coil__wait wait;
    coil_future *future;
};

/* Cancel the awaited future: when it completes, the task becomes ready. */
static bool cancel_awaited(struct coil__wait *wait)
{
    struct coil__cancel_origin origin = coil__task_cancel_origin(wait->task);

    return coil__future_cancel(COIL__CONTAINER(wait, struct awaiting, wait)->future,
                               &origin);
}

static const struct coil__wait_class future_class = {
    .what = "future",
    .cancel = cancel_awaited,
    .futures = {.kind = COIL__WAIT_ONE, .first = COIL__WAIT_AT(struct awaiting, future)}};

static const struct coil__wait_class task_class = {
    .what = "task",
    .cancel = cancel_awaited,
    .futures = {.kind = COIL__WAIT_ONE, .first = COIL__WAIT_AT(struct awaiting, future)}};

coil_task *coil__wait_awaited(const struct coil__wait *wait)
{
    coil_future *future;

    if (wait->class != &task_class)
        return NULL;
    future = COIL__CONTAINER(wait, struct awaiting, wait)->future;
    return coil__future_pending(future) ? task_of(future) : NULL;
}

void coil__future_check_awaiter(const coil_future *future, const char *caller)
{
    const coil_task *task = coil__task_require(caller);

    if (future == NULL)
        coil__misuse_null(caller, "a future");
    if (future == &task->future)
        coil__misuse("%s: task '%s' awaits itself", caller, coil_task_name(task));
    if (future->loop != task->future.loop)
        coil__misuse("%s: the future belongs to another loop", caller);
}

static inline int wait_for_future(coil_task *task, coil_future *future)
{
    struct awaiting a;
    int rc;

    coil__wait_begin(&a.wait, task, future->is_task ? &task_class : &future_class);
    a.future = future;
    a.wait.source = &future->rc;
    coil__list_push(&future->callbacks, &task->step.link);
    rc = coil__wait_park(&a.wait);
    future->unseen = false; /* the future is done: nothing else resumes the task */
    return rc;
}

/*
 * Await a pending future. This function is separate, so that awaiting a completed future
 * needs neither a stack frame nor a stack canary.
 */
static COIL__NO_CANARY COIL__NOINLINE int await_pending(coil_future *future, void *caller)
{
    coil_task *task = coil__scheduler.current;
    int rc;

    if (COIL__UNLIKELY(task == NULL || future == &task->future ||
                       future->loop != task->future.loop))
        coil__future_check_awaiter(future, "coil_await");
    if (COIL__UNLIKELY(task->delivered) && coil__task_refuses(task))
        return -ECANCELED;
    coil__future_retain(future);
    rc = hand_on(future, wait_for_future(task, future), caller);
    coil__future_release(future);
    return rc;
}

COIL__NOINLINE int coil_await(coil_future *future)
{
    COIL__REQUIRE(future, "a future");
    coil__future_check_gone(future, "coil_await");
    if (!coil__future_pending(future))
        return retrieve_and_hand_on(future, COIL__CALLER());
    return await_pending(future, COIL__CALLER());
}

struct shielding {
    struct coil__wait wait;
    struct coil__runnable inner_done;
    coil_future *future;
};

static void pass_result(struct coil__runnable *runnable)
{
    struct shielding *s = COIL__CONTAINER(runnable, struct shielding, inner_done);

    coil__wait_complete(&s->wait, coil__future_retrieve(s->future));
}

COIL__NOINLINE int coil_shield(coil_future *future)
{
    COIL__REQUIRE(future, "a future");
    static const struct coil__wait_class class = {
        .what = "shield",
        .futures = {.kind = COIL__WAIT_ONE,
                    .first = COIL__WAIT_AT(struct shielding, future)}};
    struct shielding s = {.future = future};
    int rc;

    coil__future_check_gone(future, "coil_shield");
    if (!coil__future_pending(future))
        return retrieve_and_hand_on(future, COIL__CALLER());
    coil__future_check_awaiter(future, "coil_shield");
    coil__wait_init(&s.wait, &class);
    coil__runnable_init(&s.inner_done, pass_result);
    coil__future_retain(future);
    coil__future_subscribe(future, &s.inner_done);
    rc = coil__wait_park(&s.wait);
    coil__list_remove(&s.inner_done.link);
    coil__future_retrieve(future); /* if it has failed, do not report it as unseen */
    hand_on(future, rc, COIL__CALLER());
    coil__future_release(future);
    return rc;
}

int coil_awaitable_await(coil_awaitable *awaitable)
{
    COIL__REQUIRE(awaitable, "an awaitable");
    return awaitable->await(awaitable);
}
