/*
 * coil/loop.h - the event loop: callbacks, timers, descriptors. No coroutines here.
 *
 *     static void tick(void *arg)
 *     {
 *         (void)arg;
 *         puts("tick");
 *         coil_loop_stop(coil_loop_current());
 *     }
 *
 * A program that has no tasks uses it like this:
 *
 *     coil_loop *loop;
 *     int rc = coil_loop_create(NULL, &loop);
 *     if (rc < 0)
 *         return rc;
 *     coil_call_later(COIL_MSEC(100), tick, NULL, NULL);
 *     coil_loop_run_forever(loop);
 *     coil_loop_close(loop);
 *
 * A loop belongs to the thread that created it, one loop a thread; everything here but
 * coil_post(), coil_loop_retain() and coil_loop_release() is called on that thread. Most
 * programs never create one: coil_run() (coil/run.h) does.
 *
 * After fork(2) the loop is the parent's alone: in the child the thread has none. The
 * child may destroy objects that the parent made, without effect on the parent; a call
 * that would use the parent's loop stops the program; the child may create a loop of its
 * own, or call coil_run(). See docs/manual/fork.md.
 *
 * ONE TURN. Poll for I/O: not waiting if a callback is ready or the loop is stopping,
 * else until the earliest timer, and 50 us longer (timer_slack_ns), at most a day. Make
 * the callbacks of that I/O ready, then the due timers, earliest first and first in first
 * out where equal. Note how many callbacks are ready and run those, first in, first out;
 * what they make ready runs in the next turn. (asyncio: BaseEventLoop._run_once)
 *
 * While callbacks are ready, the poll may be skipped for up to 64 turns, 256 callbacks or
 * 250 us. The clock may be skipped as long as turns take less than 5 us each. Under a
 * virtual clock both happen only on request. A turn runs to its end: the next poll finds
 * the I/O that happens meanwhile, however long the callbacks take.
 */
#ifndef COIL_LOOP_H
#define COIL_LOOP_H

#include <coil/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct coil_loop coil_loop;
typedef struct coil_handle coil_handle;
typedef struct coil_error coil_error;
typedef struct coil_future coil_future;
typedef struct coil_task coil_task;

/* A callback. It must not suspend; that stops the program. */
typedef void (*coil_callback)(void *arg);

/* For coil_loop_opts.timer_slack_ns: each timer fires as soon as it is due. */
#define COIL_NO_SLACK (-1)

typedef struct coil_loop_opts {
    /*
     * "epoll", "poll", "select", "io_uring", or "simulated" (coil/network.h), once a
     * function of libcoil-testing's was called, as coil_testing_network(); NULL means
     * $COIL_BACKEND if set, else epoll, or poll where a sandbox forbids that. io_uring
     * needs Linux 5.11, and is often forbidden: to sandboxes, by a sysctl, by the limit of
     * locked memory. What was asked for by name and does not work is -ENOSYS, and an
     * unknown name -EINVAL. Of $COIL_BACKEND that is said on stderr, too.
     */
    const char *backend;
    /*
     * A clock that starts at 0 and stands still, except that it jumps to the next timer
     * when nothing is ready. For tests: no time is lost in sleeping, and every run is the
     * same. It waits for blocking work and posts as ever.
     */
    bool virtual_clock;
    /*
     * With a virtual clock: leave out polls as under a real one, but never while a timer
     * is due. The order of everything but I/O stays the same; tests that compare orders
     * may do so on the path that programs take.
     */
    bool skip_polls;
    bool debug; /* as COIL_DEBUG=1 in the environment: coil_set_debug() in coil/debug.h */
    /*
     * How much longer than until the next timer a loop with nothing to do may wait, so
     * that timers that are due soon after it fire in the same turn: 0 means 50 us,
     * COIL_NO_SLACK none; at most a day. Deadlines stay as they are: what is due fires
     * in order, and at once if anything else has woken the loop. With epoll, poll and
     * select the kernel adds the thread's own slack (PR_SET_TIMERSLACK in prctl(2),
     * usually 50 us, too) to each wait; it counts as part of this one, and is the least.
     * None with a virtual clock.
     */
    int64_t timer_slack_ns;
} coil_loop_opts;

/*
 * Create the calling thread's loop. `opts` may be NULL.
 *
 * Fails with -EBUSY if the thread has one, -EINVAL for an unknown backend, -ENOSYS for
 * one that does not work here, -ENOMEM, -EMFILE.
 */
COIL_API int coil_loop_create(const coil_loop_opts *opts, coil_loop **out);

/*
 * Close the loop and drop the creator's reference. NULL is accepted. (asyncio: close)
 *
 * From now on coil_post() to it is -ESHUTDOWN; what it took before is called first, here.
 * Other pending callbacks are dropped, without being run. A running loop cannot be
 * closed: that stops the program.
 */
COIL_API void coil_loop_close(coil_loop *loop);

/* For threads that post: keep the memory of a loop, closed or not. Any thread. */
COIL_API coil_loop *coil_loop_retain(coil_loop *loop);
COIL_API void coil_loop_release(coil_loop *loop);

/* The calling thread's loop, or NULL. */
COIL_API coil_loop *coil_loop_current(void);

/* The name of the current loop's backend: "epoll". NULL without a loop. */
COIL_API const char *coil_backend_name(void);

/*
 * Run until coil_loop_stop(). Returns 0, -EBUSY if it is running already, or what poll
 * failed with. May be run again afterwards.
 *
 * -EDEADLK if it would wait for ever: there are tasks, all wait, no descriptor is
 * watched, no timer runs, no blocking work is done, and the process has no other thread
 * that could post. That is reported, with all tasks. (Signal handlers can only write to a
 * descriptor that is watched.)
 */
COIL_API int coil_loop_run_forever(coil_loop *loop);

/*
 * Finish the current turn, everything ready in it included, then return from
 * coil_loop_run_forever(). Called before it, one turn runs. (asyncio: stop)
 */
COIL_API void coil_loop_stop(coil_loop *loop);

/* True while it runs: from within its callbacks and tasks. (asyncio: is_running) */
COIL_API bool coil_loop_running(const coil_loop *loop);

/* ---- callbacks --------------------------------------------------------------------- */

/*
 * Call fn(arg) in the next turn, after everything that is ready now. (asyncio: call_soon)
 *
 * *out receives a handle to release; NULL, if the call is never to be cancelled.
 * Fails with -ENOMEM. Without a loop it stops the program, as do the two below.
 */
COIL_API int coil_call_soon(coil_callback fn, void *arg, coil_handle **out);

/* Call fn(arg) once, `delay_ns` from now; below 0 it was due before now. (asyncio:
 * call_later) */
COIL_API int coil_call_later(int64_t delay_ns, coil_callback fn, void *arg,
                             coil_handle **out);

/* Call fn(arg) once, at `deadline` or soon after. (asyncio: call_at) */
COIL_API int coil_call_at(int64_t deadline, coil_callback fn, void *arg,
                          coil_handle **out);

/*
 * See to it that the call is not made. Its memory and its place among the timers are
 * free at once. After the call, in it, and a second time, it does nothing but what
 * coil_handle_cancelled() says. (asyncio: Handle.cancel)
 */
COIL_API void coil_handle_cancel(coil_handle *handle);

/* Whether coil_handle_cancel() was called, in time or not. (asyncio: cancelled) */
COIL_API bool coil_handle_cancelled(const coil_handle *handle);

/* The deadline of a handle of call_later or call_at; 0 for one of call_soon. */
COIL_API int64_t coil_handle_when(const coil_handle *handle);

/* Drop the reference; NULL is accepted. The call is made all the same. */
COIL_API void coil_handle_release(coil_handle *handle);

/*
 * Call fn(arg) on the loop's thread, from any thread; not from a signal handler.
 * (asyncio: call_soon_threadsafe)
 *
 * A real queue: every post is called, in the order of posting, once; by the closing loop,
 * if it comes to that. Fails with -ESHUTDOWN if the loop is closed, -ENOMEM. A thread
 * other than the loop's must hold a reference of its own (coil_loop_retain()).
 */
COIL_API int coil_post(coil_loop *loop, coil_callback fn, void *arg);

/* ---- readers and writers ----------------------------------------------------------- */

/* What a descriptor is ready for, where both are asked at once: coil_wait_fd(). */
#define COIL_READABLE 1u
#define COIL_WRITABLE 2u

/*
 * Call fn(arg) in every turn in which `fd` is readable: level-triggered, end of file and
 * errors included. A second call replaces the first. What never waits, a regular file or
 * /dev/null, is always ready. (asyncio: add_reader)
 *
 * Remove it before the descriptor is closed. (Once its number is another descriptor's, a
 * second call is for that one.) Fails with -EBUSY if a stream uses the descriptor,
 * -EBADF, -EINVAL (select and descriptors of 1024 or more), -ENOMEM.
 */
COIL_API int coil_add_reader(int fd, coil_callback fn, void *arg);
COIL_API int coil_add_writer(int fd, coil_callback fn, void *arg);

/* Returns 1 if there was one, 0 if not. A call that was ready is not made. */
COIL_API int coil_remove_reader(int fd);
COIL_API int coil_remove_writer(int fd);

/* ---- what has no caller to return to ----------------------------------------------- */

/*
 * A problem that no caller can be told of by a return value: a failure that was never
 * retrieved, a task that is still pending when the loop closes. Members that do not apply
 * are 0 or NULL. All pointers are borrowed for the length of the call; a task or future
 * may be about to be freed, and retaining it keeps it.
 */
typedef struct coil_exception {
    const char *message; /* as asyncio's: "Task exception was never retrieved" */
    int rc;              /* the failure, a negative errno */
    coil_error *error;   /* what is known of it: coil/error.h */
    coil_task *task;
    coil_future *future; /* the task as a future, where there is a task */
    coil_handle *handle;
} coil_exception;

/*
 * It runs as a callback does and must not suspend, wherever the report came from:
 * coil_task_current() is NULL. Its context is that of the task it is told of. What is
 * reported while it runs goes to the default handler.
 */
typedef void (*coil_exception_handler)(const coil_exception *exception, void *arg);

/*
 * Have the current loop's reports go to `handler`; NULL for the default. (asyncio:
 * set_exception_handler)
 */
COIL_API void coil_set_exception_handler(coil_exception_handler handler, void *arg);

/* The current loop's, NULL for the default; its arg in *arg, if arg is not NULL.
 * (asyncio: get_exception_handler) */
COIL_API coil_exception_handler coil_get_exception_handler(void **arg);

/*
 * Report something to the current loop's handler, as coil does; to the default where
 * the thread has no loop. (asyncio: call_exception_handler)
 */
COIL_API void coil_call_exception_handler(const coil_exception *exception);

/*
 * Print it on stderr: the message, the task's name, the failure with its traceback. For
 * handlers that want that too. (asyncio: default_exception_handler)
 */
COIL_API void coil_default_exception_handler(const coil_exception *exception);

#ifdef __cplusplus
}
#endif

#endif
