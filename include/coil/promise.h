/*
 * coil/promise.h - a result that crosses threads.
 *
 *     #include <pthread.h>
 *
 *     static void *decode(void *promise)             // on a thread of your own
 *     {
 *         coil_promise_set(promise, 0, decode_image(), free);
 *         coil_promise_release(promise);
 *         return NULL;
 *     }
 *
 * A task starts the thread and waits for the result:
 *
 *     coil_promise *promise;
 *     pthread_t thread;
 *     int rc = coil_promise_create(&promise);
 *
 *     if (rc < 0)
 *         return rc;
 *     if (pthread_create(&thread, NULL, decode, coil_promise_retain(promise)) == 0) {
 *         pthread_detach(thread);
 *         rc = coil_promise_await(promise);
 *         if (rc == 0)
 *             show(coil_promise_value(promise));
 *     }
 *     coil_promise_release(promise);
 *
 * In the other direction, coil_spawn_threadsafe() starts a task on another thread's loop,
 * with a promise of its result. A future (coil/future.h) belongs to one loop and takes no
 * lock; a promise is for results between threads. All functions here may be called on any
 * thread, but not in a signal handler, because they take a lock. (asyncio:
 * concurrent.futures.Future, wrap_future, run_coroutine_threadsafe)
 */
#ifndef COIL_PROMISE_H
#define COIL_PROMISE_H

#include <coil/loop.h>
#include <coil/task.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct coil_promise coil_promise;

/* Create a pending promise, with one reference. -ENOMEM. */
COIL_API int coil_promise_create(coil_promise **out);

/* One more reference, for coil_promise_release(). Any thread. */
COIL_API coil_promise *coil_promise_retain(coil_promise *promise);

/* Drop a reference; NULL is accepted. The last one destroys the value, on that thread;
   destroy() must not suspend. */
COIL_API void coil_promise_release(coil_promise *promise);

/*
 * Give it its result: as coil_future_set(). Returns 0, or -EALREADY if it has one (it was
 * cancelled, say); then value remains the caller's. Never allocates.
 */
COIL_API int coil_promise_set(coil_promise *promise, int rc, void *value,
                              void (*destroy)(void *value));

/*
 * Cancel it: those who wait get -ECANCELED, and the task of coil_spawn_threadsafe() is
 * cancelled. `reason` is kept, not copied; NULL is allowed. Returns false if it had its
 * result. Whoever was to set it is not told: it asks coil_promise_done(), or finds out by
 * -EALREADY. Never allocates. (concurrent.futures: Future.cancel)
 */
COIL_API bool coil_promise_cancel(coil_promise *promise, const char *reason);

/* True once it has its result. */
COIL_API bool coil_promise_done(const coil_promise *promise);

/* The rc, or -EINPROGRESS. */
COIL_API int coil_promise_result(const coil_promise *promise);

/* The value, borrowed while a reference is held; NULL while pending or if there is none.
 */
COIL_API void *coil_promise_value(const coil_promise *promise);

/*
 * The value, which becomes the caller's: coil no longer destroys it, and from now on
 * coil_promise_value() is NULL, for everybody. Of several threads that take it one gets
 * it. NULL while pending, if there is none, or if it was taken.
 */
COIL_API void *coil_promise_take_value(coil_promise *promise);

/*
 * Block the thread until it is done, and return its rc; -ETIMEDOUT if it is not by then.
 * COIL_NEVER waits for ever, 0 not at all. On a thread whose loop runs it would stop the
 * loop, and so, unless the promise is done, it stops the program. (concurrent.futures:
 * Future.result)
 */
COIL_API int coil_promise_wait(coil_promise *promise, int64_t timeout_ns);

/*
 * Wait in a task until it is done, and return its rc. (asyncio: await wrap_future)
 *
 * Any number of tasks of any loops may. Cancelling one that waits cancels the promise.
 * It suspends even if the promise is done, as there.
 */
COIL_SUSPENDS int coil_promise_await(coil_promise *promise);

/*
 * Start a task on a loop, from any thread: coil_spawn() there, as soon as the loop comes
 * to it. (asyncio: run_coroutine_threadsafe)
 *
 * *out, if not NULL, receives a promise of its result, to release. Cancelling that
 * cancels the task, once it has begun: so the body is run in any case, but one: if the
 * loop closes before, or while the task waits, the promise fails with -ESHUTDOWN. The
 * task begins in a copy of the caller's context. opts and what opts->arg_bytes tells of
 * are copied. The loop must be kept by a reference of the caller's meanwhile
 * (coil_loop_retain()).
 *
 * Fails with -ESHUTDOWN if the loop is closed, -ENOMEM, -EINVAL (arg_bytes). What fails
 * later, on the loop's thread, fails the promise.
 */
COIL_API int coil_spawn_threadsafe(coil_loop *loop, coil_task_fn fn, void *arg,
                                   const coil_spawn_opts *opts, coil_promise **out);

#ifdef __cplusplus
}
#endif

#endif
