/*
 * coil/error.h - what went wrong, and where.
 *
 *     static int read_port(const char *text)
 *     {
 *         int port = atoi(text);
 *
 *         if (port <= 0)
 *             return coil_fail(-EINVAL, "'%s' is not a port", text);
 *         return port;
 *     }
 *
 * A failure is a negative errno, which says little. coil_fail() records a sentence beside
 * it, and the call stack. Both become the task's error. A task that awaits the failed one
 * gets the error, too, with the call stack of the await added; and so does a task that
 * awaits that one. A failure that nobody retrieves is reported with all of these stacks:
 *
 *     coil: Task exception was never retrieved (task 'server')
 *     'http' is not a port (Invalid argument)
 *       in task 'config'
 *         read_port at config.c:12
 *         read_config at config.c:31
 *       awaited by task 'server'
 *         start at server.c:40
 *
 * All of this costs time only when something fails. Errors belong to their loop's thread.
 * (Python: exceptions, __cause__, traceback.print_exception)
 */
#ifndef COIL_ERROR_H
#define COIL_ERROR_H

#include <coil/base.h>

#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct coil_error coil_error;
typedef struct coil_future coil_future;

/* ---- failing ----------------------------------------------------------------------- */

/*
 * "The application failed": a code for failures that no errno describes. A message says
 * what happened; reports print that message alone. No call of coil's and no system call
 * fails with it, except where it passes on the application's code. (raise RuntimeError)
 *
 *     return coil_fail(-COIL_EFAILED, "the build has %d errors", count);
 */
#define COIL_EFAILED 4000

/*
 * Returns `rc`, a negative errno, and makes it the running task's last error, with the
 * sentence `format` makes (NULL for none) and at most 64 frames of the stack. (raise)
 *
 * If the task's body returns the same rc, its future has failed with this error; a body
 * that deals with the failure just goes on. Where no task runs, in a callback, in a
 * generator without a loop or in main(), the error is the thread's, until its next
 * failure or its end. One block is allocated; where that fails the rc alone remains. The
 * walk takes 5 KiB of stack: where fewer than 8 are left, the frames are left out. errno
 * is kept, and may be printed by %m.
 */
COIL_API int coil_fail(int rc, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/*
 * The same because of `cause`, which is printed before it; it is retained. NULL is
 * accepted. (raise ... from cause)
 *
 *     rc = load(path);
 *     if (rc < 0)
 *         return coil_fail_from(coil_last_error(), rc, "cannot start");
 */
COIL_API int coil_fail_from(coil_error *cause, int rc, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/*
 * Make `error` the last error again, with its own message and stack, and return its rc.
 * It is retained. For a failure that was put aside: coil.hpp carries one in an exception.
 * (raise exception)
 */
COIL_API int coil_fail_again(coil_error *error);

/*
 * For bindings whose language has exceptions, such as coil.hpp. When a function catches an
 * exception, the stack of the throw is gone. So:
 *
 * Call fn(arg), which may throw, and return its rc. If an exception leaves it, *thrown is
 * an error with the stack of the throw, for coil_fail_traced(); else NULL. (Also NULL if
 * memory ran out, or if the exception is forced unwinding.)
 */
COIL_API int coil_call_traced(int (*fn)(void *arg), void *arg, coil_error **thrown);

/* coil_fail() with the stack of `thrown`, which it releases. NULL: with that of now. */
COIL_API int coil_fail_traced(coil_error *thrown, int rc, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/*
 * coil_future_set() with a failure and its sentence, from a task or a callback. Returns
 * 0, or -EALREADY if the future is done. Out of memory it sets the rc alone.
 */
COIL_API int coil_future_set_error(coil_future *future, int rc, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/*
 * Optimised, `return coil_fail(...)` would be a jump that gives up the frame of the very
 * function that failed, before coil_fail() can note it. So what these return passes
 * through the frame; it costs one move. (coil_fail)(...) is the plain function.
 */
__attribute__((always_inline)) static inline int coil__through_frame(int rc)
{
    __asm__ volatile("" : "+r"(rc));
    return rc;
}
#define coil_fail(...) coil__through_frame(coil_fail(__VA_ARGS__))
#define coil_fail_from(...) coil__through_frame(coil_fail_from(__VA_ARGS__))
#define coil_future_set_error(...) coil__through_frame(coil_future_set_error(__VA_ARGS__))

/* ---- asking ------------------------------------------------------------------------ */

/*
 * The error of the last failure of the running task, or where none runs of the thread:
 * its own coil_fail(), what it got by awaiting, or what a call of coil's failed with; one
 * that succeeds leaves it. Borrowed until the next failure. NULL if that had a negative
 * errno and no sentence, as most of coil's calls have. A cancellation, and -EAGAIN, are no
 * failures here. So it is right as long as one asks at once.
 *
 * In debug mode such a call makes an error, too: it has the stack of the call, and
 * coil_strerror() is its message. So a report says where the call failed.
 */
COIL_API coil_error *coil_last_error(void);

/*
 * The failure was dealt with: forget it. Who goes on after a failure need not say so; but
 * a body that later returns the same rc of its own accord, without coil_fail(), would be
 * reported with that sentence. (Python: the end of an except block)
 */
COIL_API void coil_clear_error(void);

/*
 * The error a future or task failed with, borrowed while a reference to it is held. NULL
 * if it has not failed, or with an rc alone, as above. Does not count as retrieving the failure.
 */
COIL_API coil_error *coil_future_error(const coil_future *future);

/* The text of a negative errno: that of strerror(3), or COIL_EFAILED's. */
COIL_API const char *coil_strerror(int rc);

/* The negative errno. */
COIL_API int coil_error_rc(const coil_error *error);

/* The message; without one the text of coil_strerror(). */
COIL_API const char *coil_error_message(const coil_error *error);

/* The name of the task it happened in; "" where none ran. */
COIL_API const char *coil_error_task(const coil_error *error);

/* The cause, borrowed: the error of the awaited task or future. NULL at the root. */
COIL_API coil_error *coil_error_cause(const coil_error *error);

/*
 * Print it as above: the root cause first, then the tasks that awaited it; the innermost
 * function first. Lines where coil was built with libdw, which is loaded now, and the
 * program with debug data; else names, or addresses that addr2line(1) takes.
 */
COIL_API void coil_error_print(const coil_error *error, FILE *out);

/* One more reference, for coil_error_release(). */
COIL_API coil_error *coil_error_retain(coil_error *error);

/* Drop a reference; NULL is accepted. */
COIL_API void coil_error_release(coil_error *error);

#ifdef __cplusplus
}
#endif

#endif
