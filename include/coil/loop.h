/*
 * coil/loop.h - the event loop: callbacks, timers and descriptors, without coroutines.
 *
 *     static void tick(void *arg)
 *     {
 *         (void)arg;
 *         puts("tick");
 *         coil_loop_stop(coil_loop_current());
 *     }
 *
 * A program without tasks uses the loop like this:
 *
 *     coil_loop *loop;
 *     int rc = coil_loop_create(NULL, &loop);
 *     if (rc < 0)
 *         return rc;
 *     rc = coil_call_later(COIL_MSEC(100), tick, NULL, NULL);
 *     if (rc == 0)
 *         coil_loop_run_forever(loop);
 *     coil_loop_close(loop);
 *
 * A loop belongs to the thread that created it, and a thread has at most one loop. Call
 * every function here on that thread; coil_post(), coil_loop_retain() and
 * coil_loop_release() may be called on any thread. Most programs never create a loop:
 * coil_run() (coil/run.h) does.
 *
 * After fork(2) the loop belongs to the parent only: the child starts without a loop. The
 * child may destroy objects that the parent created, without effect on the parent. A call
 * that would use the parent's loop aborts. The child may create its own loop, or call
 * coil_run(). See docs/manual/fork.md.
 *
 * ONE TURN. First the loop polls for I/O, without waiting if a callback is ready or the
 * loop is stopping. Otherwise the poll waits until the earliest timer is due, and up to
 * 50 us longer (timer_slack_ns), but for at most a day. Then the callbacks for I/O that
 * has occurred become ready, followed by the callbacks of due timers. Timers are ordered
 * by deadline, and by creation if the deadlines are equal. Finally the loop runs the
 * callbacks that are ready at this point, first in, first out. Callbacks that become
 * ready while these run are called in the next turn. (asyncio: BaseEventLoop._run_once)
 *
 * While callbacks are ready, the loop may skip polls for up to 64 turns, 256 callbacks or
 * 250 us. The loop may also skip reading the clock, as long as each turn takes less than
 * 5 us. With a virtual clock, polls are skipped only if skip_polls is set. A turn is
 * never cut short: however long its callbacks take, all of them run, and the next poll
 * finds the I/O that happened in the meantime.
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

/* A callback. A callback must not suspend; if it does, the program aborts. */
typedef void (*coil_callback)(void *arg);

/* A value for coil_loop_opts.timer_slack_ns: each timer fires as soon as it is due. */
#define COIL_NO_SLACK (-1)

typedef struct coil_loop_opts {
    /*
     * "epoll", "poll", "select", "io_uring" or "simulated". NULL means $COIL_BACKEND if
     * set, else epoll, or poll where a sandbox forbids epoll.
     *
     * "simulated" (coil/network.h) is available once a function of libcoil-testing was
     * called, such as coil_testing_network(). io_uring needs Linux 5.11. Sandboxes, a
     * sysctl or the limit on locked memory often forbid io_uring. A backend that does not
     * work here fails with -ENOSYS, and an unknown name with -EINVAL. If the name came
     * from $COIL_BACKEND, coil also prints a message on stderr.
     */
    const char *backend;
    /*
     * Use a clock that starts at 0 and advances only when nothing is ready, by jumping to
     * the next timer. With this clock, sleeping takes no time, and every run of a test is
     * the same. The loop still waits for blocking work and posts.
     */
    bool virtual_clock;
    /*
     * With a virtual clock, skip polls as with a real clock, but never while a timer is
     * due. Only the order of I/O events changes, so tests that compare orders can use the
     * same code path as programs.
     */
    bool skip_polls;
    bool debug; /* debug mode, like COIL_DEBUG=1: see coil_set_debug() in coil/debug.h */
    /*
     * How far beyond the deadline of the next timer an idle loop may wait, so that timers
     * with close deadlines fire in one turn. 0 means 50 us, and COIL_NO_SLACK means no
     * slack; at most a day.
     *
     * The slack does not change deadlines: due timers fire in order, and immediately if
     * anything else has woken the loop. With epoll, poll and select the kernel adds the
     * thread's own slack to each wait (PR_SET_TIMERSLACK in prctl(2), usually also 50
     * us). The kernel's slack is included in this value, which cannot be smaller. Ignored
     * with a virtual clock.
     */
    int64_t timer_slack_ns;
} coil_loop_opts;

/*
 * Create the calling thread's loop. `opts` may be NULL. The caller owns the loop, and
 * closes it with coil_loop_close().
 *
 * Fails with -EBUSY if the thread has a loop, -EINVAL for an unknown backend, -ENOSYS for
 * a backend that does not work here, -ENOMEM, or -EMFILE.
 */
COIL_API COIL_CHECKED int coil_loop_create(const coil_loop_opts *opts, coil_loop **out);

/*
 * Close the loop and drop the creator's reference. NULL is accepted. (asyncio: close)
 *
 * From now on coil_post() to the loop fails with -ESHUTDOWN. Functions that are already
 * posted are called now. All other pending callbacks are dropped. Aborts if the loop is
 * running.
 */
COIL_API void coil_loop_close(coil_loop *loop);

/*
 * Add or drop a reference, which keeps the loop's memory valid even after the loop is
 * closed. Threads that call coil_post() need one. May be called on any thread.
 */
COIL_API coil_loop *coil_loop_retain(coil_loop *loop);
COIL_API void coil_loop_release(coil_loop *loop);

/* Return the calling thread's loop, or NULL. */
COIL_API coil_loop *coil_loop_current(void);

/*
 * Return the name of the current loop's backend, such as "epoll", or NULL without a loop.
 */
COIL_API const char *coil_backend_name(void);

/*
 * Run the loop until coil_loop_stop(). Afterwards the loop may be run again. (asyncio:
 * run_forever)
 *
 * Returns 0. Fails with -EBUSY if the loop is already running, or with the error of the
 * poll.
 *
 * Fails with -EDEADLK if the loop would wait forever, and reports this with a list of all
 * tasks. A loop would wait forever if tasks exist, all of them wait, and nothing can wake
 * them: the loop has neither a watched descriptor nor a timer nor blocking work, and no
 * other thread can post. (A signal handler can wake a task only by writing to a watched
 * descriptor.)
 */
COIL_API int coil_loop_run_forever(coil_loop *loop);

/*
 * Return from coil_loop_run_forever() at the end of the current turn, after all callbacks
 * of this turn have run. If the loop is not running yet, its next run takes one turn.
 * (asyncio: stop)
 */
COIL_API void coil_loop_stop(coil_loop *loop);

/*
 * True while the loop is running, which is always the case inside its callbacks and
 * tasks. (asyncio: is_running)
 */
COIL_API bool coil_loop_running(const coil_loop *loop);

/* ---- callbacks --------------------------------------------------------------------- */

/*
 * Call fn(arg) in the next turn, after all callbacks and tasks that are ready now.
 * (asyncio: call_soon)
 *
 * *out receives a handle to release; `out` may be NULL if the call is never cancelled.
 * Fails with -ENOMEM. coil_call_soon(), coil_call_later() and coil_call_at() abort if the
 * thread has no loop.
 */
COIL_API COIL_CHECKED int coil_call_soon(coil_callback fn, void *arg, coil_handle **out);

/*
 * Call fn(arg) once, `delay_ns` from now. A negative delay means that the deadline has
 * already passed. (asyncio: call_later)
 */
COIL_API COIL_CHECKED int coil_call_later(int64_t delay_ns, coil_callback fn, void *arg,
                                          coil_handle **out);

/* Call fn(arg) once, at `deadline` or soon after. (asyncio: call_at) */
COIL_API COIL_CHECKED int coil_call_at(int64_t deadline, coil_callback fn, void *arg,
                                       coil_handle **out);

/*
 * Cancel the call of coil_call_soon(), coil_call_later() or coil_call_at() that returned
 * the handle, so that its function does not run. (asyncio: Handle.cancel)
 *
 * The call's memory and timer are freed immediately. If the function is running or has
 * run, or the call was cancelled before, the only effect is that coil_handle_cancelled()
 * returns true.
 */
COIL_API void coil_handle_cancel(coil_handle *handle);

/*
 * True if coil_handle_cancel() was called, even if the function had already run.
 * (asyncio: cancelled)
 */
COIL_API bool coil_handle_cancelled(const coil_handle *handle);

/*
 * Return the deadline of a coil_call_later() or coil_call_at(); 0 for a coil_call_soon().
 */
COIL_API int64_t coil_handle_when(const coil_handle *handle);

/* Drop the reference; NULL is accepted. The function is still called. */
COIL_API void coil_handle_release(coil_handle *handle);

/*
 * Call fn(arg) on the loop's thread. May be called on any thread, but not in a signal
 * handler. (asyncio: call_soon_threadsafe)
 *
 * Every posted function is called exactly once, in the order of posting, and no later
 * than when the loop closes. Fails with -ESHUTDOWN if the loop is closed, or with
 * -ENOMEM. A thread other than the loop's must hold its own reference
 * (coil_loop_retain()).
 */
COIL_API int coil_post(coil_loop *loop, coil_callback fn, void *arg);

/* ---- readers and writers ----------------------------------------------------------- */

/* Events on a descriptor, for functions such as coil_wait_fd(). */
#define COIL_READABLE 1u
#define COIL_WRITABLE 2u

/*
 * Call fn(arg) in every turn in which `fd` is readable (reader) or writable (writer).
 * (asyncio: add_reader, add_writer)
 *
 * The watch is level-triggered; end of file and errors count as ready. A second call
 * replaces the first. Regular files and /dev/null are always ready.
 *
 * Remove the callback before you close the descriptor. If the number is reused for a new
 * descriptor, another call of this function applies to the new descriptor. Fails with
 * -EBUSY if a stream uses the descriptor, -EBADF, -EINVAL (a descriptor of 1024 or more
 * with the select backend), or -ENOMEM.
 */
COIL_API COIL_CHECKED int coil_add_reader(int fd, coil_callback fn, void *arg);
COIL_API COIL_CHECKED int coil_add_writer(int fd, coil_callback fn, void *arg);

/*
 * Remove the callback; if it is already ready, it is not called. Returns 1 if a callback
 * was set, else 0. (asyncio: remove_reader, remove_writer)
 */
COIL_API int coil_remove_reader(int fd);
COIL_API int coil_remove_writer(int fd);

/* ---- problems without a caller ----------------------------------------------------- */

/*
 * A problem that cannot be returned to a caller, such as a failure that was never
 * retrieved, or a task that is still pending when the loop closes.
 *
 * Members that do not apply are 0 or NULL. All pointers are borrowed for the duration of
 * the call. The task or future may be freed after the call, unless the handler retains
 * it.
 */
typedef struct coil_exception {
    const char *message; /* same as asyncio's: "Task exception was never retrieved" */
    int rc;              /* the failure, a negative errno */
    coil_error *error;   /* message and stack of the failure: coil/error.h */
    coil_task *task;
    coil_future *future; /* the task as a future, if `task` is set */
    coil_handle *handle;
} coil_exception;

/*
 * Handles a report. A handler runs like a callback: it must not suspend, and
 * coil_task_current() returns NULL. Its context (coil/context.h) is that of the reported
 * task. Problems that occur while a handler runs are reported to the default handler.
 */
typedef void (*coil_exception_handler)(const coil_exception *exception, void *arg);

/*
 * Set the exception handler of the current loop; NULL means the default. (asyncio:
 * set_exception_handler)
 */
COIL_API void coil_set_exception_handler(coil_exception_handler handler, void *arg);

/*
 * Return the exception handler of the current loop, or NULL for the default handler. If
 * `arg` is not NULL, *arg receives the handler's argument. (asyncio:
 * get_exception_handler)
 */
COIL_API coil_exception_handler coil_get_exception_handler(void **arg);

/*
 * Report a problem to the current loop's exception handler, or to the default handler if
 * the thread has no loop. (asyncio: call_exception_handler)
 */
COIL_API void coil_call_exception_handler(const coil_exception *exception);

/*
 * The default handler: print the message, the task's name, and the failure with its
 * traceback on stderr. Other handlers may call this function, too. (asyncio:
 * default_exception_handler)
 */
COIL_API void coil_default_exception_handler(const coil_exception *exception);

#ifdef __cplusplus
}
#endif

#endif
