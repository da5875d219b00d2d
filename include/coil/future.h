/*
 * coil/future.h - a result that will exist later.
 *
 *     coil_future *f;
 *     int rc = coil_future_create(&f);
 *     if (rc < 0)
 *         return rc;
 *     rc = coil_spawn(producer, f, NULL, NULL); // coil_future_set(f, 42, NULL, NULL)
 *     if (rc == 0)
 *         rc = coil_await(f);                   // 42
 *     coil_future_release(f);
 *
 * A future leaves the state COIL_PENDING once, when it is set or cancelled. All tasks
 * that await the future then continue in the next turn of the loop, in the order in which
 * they began to wait, and never inside the call that set the future. A task is a future,
 * too: coil_task_future(). Futures are reference-counted, and may be used only on their
 * loop's thread. (asyncio: Future)
 */
#ifndef COIL_FUTURE_H
#define COIL_FUTURE_H

#include <coil/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct coil_future coil_future;

typedef enum coil_future_state {
    COIL_PENDING,
    COIL_DONE,     /* rc is 0 or more */
    COIL_FAILED,   /* rc is a negative errno */
    COIL_CANCELLED /* rc is -ECANCELED */
} coil_future_state;

/* Called from the ready queue when the future is done. The callback must not suspend. */
typedef void (*coil_done_callback)(coil_future *future, void *arg);

/* Create a pending future of the current loop, with one reference. Fails with -ENOMEM. */
COIL_API COIL_CHECKED int coil_future_create(coil_future **out);

/* Add a reference, to be dropped with coil_future_release(). Returns the future. */
COIL_API coil_future *coil_future_retain(coil_future *future);

/*
 * Drop a reference; NULL is accepted.
 *
 * The last release destroys the value. If the future's failure was never retrieved, by
 * awaiting or with coil_future_result(), the last release reports the failure to the
 * exception handler. Releasing a pending future reports nothing.
 */
COIL_API void coil_future_release(coil_future *future);

/*
 * Set the result and an optional value. (asyncio: set_result, set_exception)
 *
 * `rc` is 0 or more, or a negative errno for a failure; -ECANCELED cancels the future. If
 * `destroy` is not NULL, the last release calls destroy(value), which must not suspend.
 *
 * Never allocates. Returns 0, or -EALREADY if the future is done; in that case the caller
 * still owns the value.
 */
COIL_API int coil_future_set(coil_future *future, int rc, void *value,
                             void (*destroy)(void *value));

/*
 * Cancel the future: tasks that await it get -ECANCELED. For a task, this call is the
 * same as coil_task_cancel(). (asyncio: Future.cancel)
 *
 * `reason` is not copied and must stay valid; NULL is allowed. Returns false if the
 * future was already done; if it has failed, the failure now counts as retrieved. Never
 * allocates.
 */
COIL_API bool coil_future_cancel(coil_future *future, const char *reason);

/* Return the state: pending, or how the future ended. */
COIL_API coil_future_state coil_future_get_state(const coil_future *future);

/* True once the future is no longer pending. */
COIL_API bool coil_future_done(const coil_future *future);

/* True if the future was cancelled: its rc is -ECANCELED. (asyncio: cancelled) */
COIL_API bool coil_future_cancelled(const coil_future *future);

/*
 * Return the rc, or -EINPROGRESS while pending. If the future has failed, the failure now
 * counts as retrieved. (asyncio: result, exception)
 */
COIL_API int coil_future_result(coil_future *future);

/*
 * Return the value, or NULL if the future is pending or has no value. The value is
 * borrowed: it is valid as long as a reference to the future is held.
 */
COIL_API void *coil_future_value(const coil_future *future);

/*
 * Return the value and pass its ownership to the caller. coil no longer destroys it, and
 * coil_future_value() returns NULL from now on. Returns NULL if the future has never had
 * a value, or if the value was already taken.
 */
COIL_API void *coil_future_take_value(coil_future *future);

/*
 * Return the reason for the cancellation, or NULL. If a task ended as cancelled only
 * because the future that it awaited was cancelled, return the reason for that
 * cancellation.
 */
COIL_API const char *coil_future_cancel_reason(const coil_future *future);

/*
 * Wait until the future is done, and return its rc. (asyncio: await future)
 *
 * If the future is already done, the call returns immediately without suspending. Any
 * number of tasks may await a future, any number of times: awaiting does not consume the
 * result. Cancelling the waiting task cancels the future. If the future is a task, the
 * cancellation is also passed on to the future that this task awaits. To prevent this,
 * use coil_shield(). The result -ECANCELED means that the future or the waiting task was
 * cancelled.
 */
COIL_SUSPENDS int coil_await(coil_future *future);

/*
 * Like coil_await(), except that cancelling the waiting task does not cancel the future.
 * (asyncio: await shield(future))
 */
COIL_SUSPENDS int coil_shield(coil_future *future);

/*
 * Call fn(future, arg) from the ready queue once the future is done; if it is already
 * done, in the next turn of the loop. (asyncio: add_done_callback)
 *
 * The future is retained until the callback has run. So before abandoning a pending
 * future, cancel it or remove its callbacks. Fails with -ENOMEM.
 */
COIL_API int coil_future_add_callback(coil_future *future, coil_done_callback fn,
                                      void *arg);

/*
 * Remove every callback with this `fn` and `arg` that is not yet in the ready queue.
 * Returns the number of callbacks that were removed. (asyncio: remove_done_callback)
 */
COIL_API int coil_future_remove_callback(coil_future *future, coil_done_callback fn,
                                         void *arg);

/* ---- custom awaitables ------------------------------------------------------------- */

/*
 * The base of types that can be awaited, which are structs whose first member is a
 * coil_awaitable. (Python: __await__)
 *
 * `await` is called in the awaiting task and returns the rc. `await` suspends by calling
 * coil_park() or by awaiting something else.
 *
 *     struct countdown { coil_awaitable awaitable; int ticks; };
 *
 *     static int countdown_await(void *self)
 *     {
 *         struct countdown *c = self;
 *         int rc = 0;
 *         while (rc == 0 && c->ticks-- > 0)
 *             rc = coil_yield();
 *         return rc;
 *     }
 */
typedef struct coil_awaitable {
    int (*await)(void *self);
} coil_awaitable;

/* Await an awaitable: call awaitable->await(awaitable). */
COIL_SUSPENDS int coil_awaitable_await(coil_awaitable *awaitable);

#ifdef __cplusplus
}
#endif

#endif
