/*
 * coil/promise.h - a result that one thread sets and other threads or tasks await.
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
 * and returns a promise for the task's result. A future (coil/future.h) belongs to one
 * loop and needs no lock; use a promise if the result comes from another thread. All
 * functions here may be called on any thread, but not in a signal handler, because they
 * take a lock. (asyncio: concurrent.futures.Future, wrap_future,
 * run_coroutine_threadsafe)
 */
#ifndef COIL_PROMISE_H
#define COIL_PROMISE_H

#include <coil/loop.h>
#include <coil/task.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct coil_promise coil_promise;

/* Create a pending promise, with one reference. Fails with -ENOMEM. */
COIL_API COIL_CHECKED int coil_promise_create(coil_promise **out);

/*
 * Add a reference, to be dropped with coil_promise_release(). Returns the promise. May be
 * called on any thread.
 */
COIL_API coil_promise *coil_promise_retain(coil_promise *promise);

/*
 * Drop a reference; NULL is accepted. The last release destroys the value on the calling
 * thread; `destroy` must not suspend.
 */
COIL_API void coil_promise_release(coil_promise *promise);

/*
 * Set the result and an optional value, like coil_future_set(). Never allocates. Returns
 * 0, or -EALREADY if the promise already has a result, for example because it was
 * cancelled. In that case the caller still owns the value.
 */
COIL_API int coil_promise_set(coil_promise *promise, int rc, void *value,
                              void (*destroy)(void *value));

/*
 * Cancel the promise: waiting tasks and threads get -ECANCELED. If
 * coil_spawn_threadsafe() returned the promise, its task is cancelled.
 * (concurrent.futures: Future.cancel)
 *
 * `reason` is not copied and must stay valid; NULL is allowed. Returns false if the
 * promise already had a result. The code that is computing the result is not notified,
 * but can check coil_promise_done(). Its later call of coil_promise_set() returns
 * -EALREADY. Never allocates.
 */
COIL_API bool coil_promise_cancel(coil_promise *promise, const char *reason);

/* True once the promise has a result. */
COIL_API bool coil_promise_done(const coil_promise *promise);

/* Return the rc, or -EINPROGRESS while pending. */
COIL_API int coil_promise_result(const coil_promise *promise);

/*
 * Return the value, or NULL if the promise is pending or has no value. The value is
 * borrowed: it is valid as long as a reference to the promise is held.
 */
COIL_API void *coil_promise_value(const coil_promise *promise);

/*
 * Return the value and pass its ownership to the caller. coil no longer destroys it, and
 * coil_promise_value() returns NULL from now on. If several threads call this function,
 * only one of them gets the value. Returns NULL if the promise is pending or has no
 * value, or if the value was already taken.
 */
COIL_API void *coil_promise_take_value(coil_promise *promise);

/*
 * Block the thread until the promise is done, and return its rc. (concurrent.futures:
 * Future.result)
 *
 * Fails with -ETIMEDOUT after `timeout_ns`. COIL_NEVER means no limit; with 0, the call
 * does not wait. On a thread whose loop is running, the program aborts unless the promise
 * is done, because blocking would stop the loop.
 */
COIL_API int coil_promise_wait(coil_promise *promise, int64_t timeout_ns);

/*
 * Wait in a task until the promise is done, and return its rc. (asyncio: await
 * wrap_future)
 *
 * Any number of tasks of any loops may wait. Cancelling a waiting task cancels the
 * promise. The call suspends even if the promise is done, as in asyncio.
 */
COIL_SUSPENDS int coil_promise_await(coil_promise *promise);

/*
 * Start a task on a loop, from any thread: the loop calls coil_spawn() in one of its next
 * turns. (asyncio: run_coroutine_threadsafe)
 *
 * If `out` is not NULL, *out receives a promise for the task's result, which the caller
 * releases. The task always begins to run unless the loop closes first, because
 * cancelling the promise cancels the task only after its body has begun. If the loop
 * closes before the task begins, or while the task waits, the promise fails with
 * -ESHUTDOWN.
 *
 * The task begins in a copy of the caller's context. The options are copied, and so are
 * opts->arg_bytes bytes of *arg. The caller must hold a reference to the loop during the
 * call (coil_loop_retain()).
 *
 * Fails with -ESHUTDOWN if the loop is closed, -ENOMEM, or -EINVAL (arg_bytes). If the
 * loop's thread later fails to create the task, the promise fails with that error.
 */
COIL_API COIL_CHECKED int coil_spawn_threadsafe(coil_loop *loop, coil_task_fn fn,
                                                void *arg, const coil_spawn_opts *opts,
                                                coil_promise **out);

#ifdef __cplusplus
}
#endif

#endif
