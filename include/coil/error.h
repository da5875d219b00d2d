/*
 * coil/error.h - failures with a message and a call stack.
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
 * A negative errno alone says little about a failure. coil_fail() adds a message and the
 * call stack, and stores all three as the running task's error. A task that awaits the
 * failed task receives the error, too, with the call stack of the await added, and passes
 * it on in the same way. A failure that is never retrieved is reported with all of these
 * stacks:
 *
 *     coil: Task exception was never retrieved (task 'server')
 *     'http' is not a port (Invalid argument)
 *       in task 'config'
 *         read_port at config.c:12
 *         read_config at config.c:31
 *       awaited by task 'server'
 *         start at server.c:40
 *
 * Errors cost time only when a call fails. An error may be used only on its loop's
 * thread. (Python: exceptions, __cause__, traceback.print_exception)
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
 * An error code for failures of the application that no errno describes. (raise
 * RuntimeError)
 *
 * Reports print only the message, without a text for the code. Neither coil itself nor
 * system calls fail with this code, but coil passes on the application's failures.
 *
 *     return coil_fail(-COIL_EFAILED, "the build has %d errors", count);
 */
#define COIL_EFAILED 4000

/*
 * Set the running task's last error and return `rc`, a negative errno. (raise)
 *
 * The error has the message that `format` produces (NULL for none) and at most 64 frames
 * of the stack. If the task's body returns the same rc, its future fails with this error.
 * A task that handles the failure simply continues.
 *
 * Outside tasks (in a callback, a generator without a loop or main()), the error is
 * stored for the thread, until the thread fails again or ends. The call allocates one
 * block of memory; if that fails, only the rc remains. Recording the frames takes 5 KiB
 * of stack, and is skipped if less than 8 KiB are left. The call preserves errno, which
 * %m in `format` prints.
 */
COIL_API int coil_fail(int rc, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/*
 * Like coil_fail(), with a cause, which is printed before the new error. (Python: raise
 * ... from cause)
 *
 * The new error retains `cause`, which may be NULL.
 *
 *     rc = load(path);
 *     if (rc < 0)
 *         return coil_fail_from(coil_last_error(), rc, "cannot start");
 */
COIL_API int coil_fail_from(coil_error *cause, int rc, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/*
 * Make `error` the last error again, with its own message and stack, and return its rc.
 * The error is retained. Use this function for a failure that was stored, for example in
 * an exception of coil.hpp. (Python: raise exception)
 */
COIL_API int coil_fail_again(coil_error *error);

/*
 * Call fn(arg), which may throw a C++ exception, and return its rc. If fn throws an
 * exception, set *thrown to an error with the stack of the throw; otherwise set *thrown
 * to NULL.
 *
 * This function is for bindings to languages with exceptions, such as coil.hpp. Once an
 * exception is caught, the stack of the throw is lost, so pass the error to
 * coil_fail_traced() instead of calling coil_fail(). *thrown is also NULL if memory ran
 * out, or if the exception is a forced unwind.
 */
COIL_API int coil_call_traced(int (*fn)(void *arg), void *arg, coil_error **thrown);

/*
 * Like coil_fail(), but record the stack of `thrown`, and release `thrown`. If `thrown`
 * is NULL, record the current stack.
 */
COIL_API int coil_fail_traced(coil_error *thrown, int rc, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/*
 * Set a failure with a message as the result of a future, like coil_future_set(), from a
 * task or a callback. Returns 0, or -EALREADY if the future is done. If memory runs out,
 * only the rc is set.
 */
COIL_API int coil_future_set_error(coil_future *future, int rc, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/*
 * The macros below prevent tail calls. Without them, the compiler would turn `return
 * coil_fail(...)` into a jump and drop the frame of the function that failed, before
 * coil_fail() can record it. The cost is one move instruction. To call the function
 * without the macro, write (coil_fail)(...).
 */
__attribute__((always_inline)) static inline int coil__through_frame(int rc)
{
    __asm__ volatile("" : "+r"(rc));
    return rc;
}
#define coil_fail(...) coil__through_frame(coil_fail(__VA_ARGS__))
#define coil_fail_from(...) coil__through_frame(coil_fail_from(__VA_ARGS__))
#define coil_future_set_error(...) coil__through_frame(coil_future_set_error(__VA_ARGS__))

/* ---- reading errors ---------------------------------------------------------------- */

/*
 * Return the error of the running task's latest failure, or of the thread's if no task is
 * running.
 *
 * A failure is a call of coil_fail(), an error received from an awaited task or future,
 * or the failure of one of coil's functions. A successful call leaves the error
 * unchanged, so read it immediately after a failure. The error is borrowed until the next
 * failure. Returns NULL if the latest failure had only an errno, like most failures of
 * coil's own functions. A cancellation and -EAGAIN do not count as failures here.
 *
 * In debug mode every failed call creates an error with its call stack, and with
 * coil_strerror() as the message. So a report shows where the call failed.
 */
COIL_API coil_error *coil_last_error(void);

/*
 * Clear the last error. Call this function after handling a failure. (Python: the end of
 * an except block)
 *
 * Usually this call is not necessary. However, if the task's body later returns the same
 * rc without coil_fail(), the failure is reported with the old message.
 */
COIL_API void coil_clear_error(void);

/*
 * Return the error with which a future or task failed, borrowed while a reference to the
 * future or task is held. Returns NULL if the future or task did not fail, or failed
 * without an error object. The failure does not count as retrieved.
 */
COIL_API coil_error *coil_future_error(const coil_future *future);

/*
 * Return the text of a negative errno: that of strerror(3), or coil's own text for
 * -COIL_EFAILED.
 */
COIL_API const char *coil_strerror(int rc);

/* Return the negative errno. */
COIL_API int coil_error_rc(const coil_error *error);

/* Return the message; without one, the text of coil_strerror(). */
COIL_API const char *coil_error_message(const coil_error *error);

/* Return the name of the task in which the failure happened; "" outside tasks. */
COIL_API const char *coil_error_task(const coil_error *error);

/*
 * Return the cause, borrowed: the error of the awaited task or future; NULL for the root
 * cause.
 */
COIL_API coil_error *coil_error_cause(const coil_error *error);

/*
 * Print the error as shown at the top of this file: the root cause first, then the tasks
 * that awaited it. In each stack the innermost function comes first.
 *
 * The report has source lines if coil was built with libdw, which this call loads, and
 * the program has debug information. Otherwise it has names of functions, or addresses
 * for addr2line(1).
 */
COIL_API void coil_error_print(const coil_error *error, FILE *out);

/* Add a reference, to be dropped with coil_error_release(). Returns the error. */
COIL_API coil_error *coil_error_retain(coil_error *error);

/* Drop a reference; NULL is accepted. */
COIL_API void coil_error_release(coil_error *error);

#ifdef __cplusplus
}
#endif

#endif
