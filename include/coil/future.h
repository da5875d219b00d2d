/*
 * coil/future.h - a result that will exist later.
 *
 *     coil_future *f;
 *     coil_future_create(&f);
 *     coil_spawn(producer, f, NULL, NULL);      // coil_future_set(f, 42, NULL, NULL)
 *     rc = coil_await(f);                       // 42
 *     coil_future_release(f);
 *
 * A future leaves PENDING once, by set or by cancel. Then all tasks that await it go on
 * in the next turn of the loop, in the order in which they began to wait: never inside
 * the setter. A task is a future, too: coil_task_future(). Futures are reference-counted,
 * and used on their loop's thread only. (asyncio: Future)
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

/* Called from the ready queue when the future is done. It must not suspend. */
typedef void (*coil_done_callback)(coil_future *future, void *arg);

/* Create a pending future of the current loop, with one reference. -ENOMEM. */
COIL_API int coil_future_create(coil_future **out);

/* One more reference, for coil_future_release(). */
COIL_API coil_future *coil_future_retain(coil_future *future);

/*
 * Drop a reference; NULL is accepted. At the last one the value is destroyed, and a
 * failure that nobody has retrieved, by awaiting or by coil_future_result(), is reported
 * on stderr. A pending future that is released for the last time is simply gone.
 */
COIL_API void coil_future_release(coil_future *future);

/*
 * Give it its result: `rc` of 0 or more, or a negative errno for a failure
 * (-ECANCELED cancels), and a value, which is destroy(value)d, if destroy is not NULL,
 * at the last release; destroy() must not suspend. (asyncio: set_result, set_exception)
 *
 * Never allocates. Returns 0, or -EALREADY if it is done; then value remains the
 * caller's.
 */
COIL_API int coil_future_set(coil_future *future, int rc, void *value,
                             void (*destroy)(void *value));

/*
 * Cancel it: those who await it get -ECANCELED. For a task this is coil_task_cancel().
 * `reason` is kept, not copied; NULL is allowed. Returns false if it was done:
 * then a failure counts as retrieved. Never allocates. (asyncio: Future.cancel)
 */
COIL_API bool coil_future_cancel(coil_future *future, const char *reason);

/* Whether it is pending, and how it ended. */
COIL_API coil_future_state coil_future_get_state(const coil_future *future);

/* True once it is not pending. */
COIL_API bool coil_future_done(const coil_future *future);

/* True if it was cancelled: its rc is -ECANCELED. (asyncio: cancelled) */
COIL_API bool coil_future_cancelled(const coil_future *future);

/* The rc, or -EINPROGRESS. Counts as retrieving a failure. (asyncio: result, exception)
 */
COIL_API int coil_future_result(coil_future *future);

/* The value, borrowed while a reference is held; NULL while pending or if there is none.
 */
COIL_API void *coil_future_value(const coil_future *future);

/*
 * The value, which becomes the caller's: coil no longer destroys it, and from now on
 * coil_future_value() is NULL, for everybody. NULL if there is none, or it was taken.
 */
COIL_API void *coil_future_take_value(coil_future *future);

/*
 * The reason it was cancelled with, or NULL. A task that nobody asked to end, and that
 * ended cancelled because what it awaited was, has the reason of that.
 */
COIL_API const char *coil_future_cancel_reason(const coil_future *future);

/*
 * Wait until it is done, and return its rc. (asyncio: await future)
 *
 * A future that is done is not waited for: no suspension, no trip through the loop. Any
 * number of tasks may await, again and again; nothing is consumed. Cancelling the waiting
 * task cancels the future, and so, if that is a task, what that one waits for; see
 * coil_shield(). -ECANCELED: the future was cancelled, or this task.
 */
COIL_SUSPENDS int coil_await(coil_future *future);

/*
 * As coil_await(), but cancelling the waiting task leaves the future alone.
 * (asyncio: await shield(future))
 */
COIL_SUSPENDS int coil_shield(coil_future *future);

/*
 * Call fn(future, arg) through the ready queue when it is done, or in the next turn if
 * it is. The future is kept until then, so one that is to be abandoned while pending has
 * to be cancelled, or its callbacks removed. Fails with -ENOMEM. (asyncio:
 * add_done_callback)
 */
COIL_API int coil_future_add_callback(coil_future *future, coil_done_callback fn,
                                      void *arg);

/*
 * Remove every callback with this fn and arg that is not yet in the ready queue; returns
 * how many. (asyncio: remove_done_callback)
 */
COIL_API int coil_future_remove_callback(coil_future *future, coil_done_callback fn,
                                         void *arg);

/* ---- awaitables of one's own ------------------------------------------------------- */

/*
 * Anything that can be awaited: a struct whose first member is this. `await` is called
 * in the awaiting task and returns the rc; it suspends by coil_park() or by awaiting
 * something else. (Python: __await__)
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

/* Await it: calls awaitable->await(awaitable). */
COIL_SUSPENDS int coil_awaitable_await(coil_awaitable *awaitable);

#ifdef __cplusplus
}
#endif

#endif
