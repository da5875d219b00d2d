/*
 * failure.c - stores the last error of each task, and of each thread.
 *
 * Each task stores one error, in its future. While the task runs, the stored error
 * describes the latest failure that had a message: the failure of one of the task's
 * calls, or of a future that it awaited. When the task's function has returned, the error
 * explains the task's result. The error is dropped if its rc differs from the rc that the
 * function returned.
 *
 * A failure without a message must not seem to have the message of an earlier failure
 * with the same rc. So each call that fails without a message calls coil__failed(), which
 * drops the task's error if it has the same rc. An error with another rc is kept but
 * marked as older, because the task may still return that rc after cleaning up.
 *
 * In debug mode, a call that fails without a message creates an error that has only the
 * location of the failure (a "bare" error).
 *
 * If no task is running (in a callback, or outside of coil_run()), the error is stored
 * for the thread.
 */
#include "failure.h"

#include "../error/error.h"

/*
 * Return where a failure happened: the call's return address, and the running task, if
 * any.
 */
static struct coil__error_place place_of(const void *from)
{
    const coil_task *task = coil__scheduler.current;

    if (task == NULL)
        return (struct coil__error_place){.from = from};
    return (struct coil__error_place){from, coil_task_name(task), &task->coro};
}

static void keep_in_future(coil_future *future, coil_error *error)
{
    coil_error *last = future->error;

    future->error = error;
    future->error_is_older = false;
    coil_error_release(last);
}

/* ---- outside of tasks -------------------------------------------------------------- */

/* The thread's last error, released when the thread ends. */
static COIL__THREAD_LOCAL coil_error *error_of_thread;
static COIL__THREAD_LOCAL bool error_of_thread_is_older;
static pthread_key_t at_end_of_thread;

static void release_at_end(void *error)
{
    error_of_thread = NULL;
    coil_error_release(error);
}

static void note_failure(int rc);

static void set_up_failures(void)
{
    pthread_key_create(&at_end_of_thread, release_at_end);
    coil__failed_hook = note_failure;
}

void coil__failure_set_up(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, set_up_failures);
}

static void keep_in_thread(coil_error *error)
{
    coil_error *last = error_of_thread;

    if (error != NULL)
        coil__failure_set_up();
    error_of_thread = error;
    error_of_thread_is_older = false;
    if (last != NULL || error != NULL)
        pthread_setspecific(at_end_of_thread, error);
    coil_error_release(last);
}

/* Make `error` the last error of the running task, or of the thread if no task runs. */
static void store_last_error(coil_error *error)
{
    coil_task *task = coil__scheduler.current;

    if (task != NULL)
        keep_in_future(&task->future, error);
    else
        keep_in_thread(error);
}

static coil_error *error_here(void)
{
    const coil_task *task = coil__scheduler.current;

    return task != NULL ? task->future.error : error_of_thread;
}

void coil_clear_error(void)
{
    store_last_error(NULL);
}

void coil__failure_loop_closes(void)
{
    keep_in_thread(NULL);
}

/* ---- failures without a message ---------------------------------------------------- */

/* Record an error that has a location but no message. Returns false if memory ran out. */
static bool keep_bare_error(int rc, const void *from)
{
    const struct coil__error_place place = place_of(from);
    coil_error *last = error_here(), *error;

    if (last != NULL)
        last = coil__error_with_message(last);
    if (last != NULL && coil_error_rc(last) == rc)
        last = NULL;
    error = coil__error_create_bare(&place, rc, last);
    if (error != NULL)
        store_last_error(error);
    return error != NULL;
}

/*
 * Called by coil__failed(). Ignores -ECANCELED, because a cancelled task's calls fail
 * with it while the task cleans up.
 */
static COIL__NOINLINE void note_failure(int rc)
{
    coil_task *task = coil__scheduler.current;
    coil_error *error = error_here();

    if (rc == -ECANCELED ||
        (coil__loop_is_debugged() && keep_bare_error(rc, COIL__CALLER())))
        return;
    if (error == NULL)
        return;
    if (coil_error_rc(error) == rc)
        store_last_error(NULL);
    else if (task != NULL)
        task->future.error_is_older = true;
    else
        error_of_thread_is_older = true;
}

/* ---- failures that stay inside of coil --------------------------------------------- */

void coil__failure_keep(struct coil__failure_kept *kept)
{
    const coil_task *task = coil__scheduler.current;

    kept->error = error_here();
    kept->is_older =
        task != NULL ? task->future.error_is_older : error_of_thread_is_older;
    if (kept->error != NULL)
        coil_error_retain(kept->error);
}

void coil__failure_put_back(struct coil__failure_kept *kept)
{
    coil_task *task = coil__scheduler.current;

    store_last_error(kept->error);
    if (task != NULL)
        task->future.error_is_older = kept->is_older;
    else
        error_of_thread_is_older = kept->is_older;
}

/* ---- failing ----------------------------------------------------------------------- */

static void fail_here(coil_error *cause, int rc, const void *from, const char *format,
                      va_list args)
{
    struct coil__error_place place = place_of(from);

    if (rc >= 0)
        coil__misuse("coil_fail: %d is not a negative errno", rc);
    /* The cause may be the last error, so create the new error first. */
    store_last_error(coil__error_create(&place, rc, cause, format, args));
}

COIL__NOINLINE int(coil_fail)(int rc, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    fail_here(NULL, rc, COIL__CALLER(), format, args);
    va_end(args);
    return rc;
}

COIL__NOINLINE int(coil_fail_from)(coil_error *cause, int rc, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    fail_here(cause, rc, COIL__CALLER(), format, args);
    va_end(args);
    return rc;
}

static coil_error *create_without_message(const struct coil__error_place *place, int rc,
                                          ...)
{
    coil_error *error;
    va_list none;

    va_start(none, rc);
    error = coil__error_create(place, rc, NULL, NULL, none);
    va_end(none);
    return error;
}

coil_error *coil__failure_note(int rc, const void *from)
{
    struct coil__error_place place = place_of(from);

    return create_without_message(&place, rc);
}

COIL__NOINLINE int coil_fail_traced(coil_error *thrown, int rc, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    if (thrown != NULL)
        store_last_error(coil__error_create_at(thrown, rc, format, args));
    else
        fail_here(NULL, rc, COIL__CALLER(), format, args);
    va_end(args);
    coil_error_release(thrown);
    return rc;
}

int coil_fail_again(coil_error *error)
{
    COIL__REQUIRE(error, "an error");
    store_last_error(
        coil_error_retain(error)); /* `error` may already be the last error */
    return coil_error_rc(error);
}

COIL__NOINLINE int coil__explain(int rc, const char *format, ...)
{
    va_list args;

    if (rc >= 0 || rc == -ECANCELED || coil__loop_of_thread == NULL)
        return rc;
    va_start(args, format);
    fail_here(NULL, rc, COIL__CALLER(), format, args);
    va_end(args);
    return rc;
}

COIL__NOINLINE int(coil_future_set_error)(coil_future *future, int rc, const char *format,
                                          ...)
{
    COIL__REQUIRE(future, "a future");
    coil__future_check(future, "coil_future_set_error");
    struct coil__error_place place = place_of(COIL__CALLER());
    coil_error *error;
    va_list args;

    if (rc >= 0)
        coil__misuse("coil_future_set_error: %d is not a negative errno", rc);
    if (!coil__future_pending(future))
        return coil__failed(-EALREADY);
    va_start(args, format);
    error = coil__error_create(&place, rc, NULL, format, args);
    va_end(args);
    if (!future->is_task)
        keep_in_future(future, error);
    return coil_future_set(future, rc, NULL, NULL);
}

/* ---- passing errors to awaiting tasks ---------------------------------------------- */

void coil__failure_hand_on_error(coil_error *error, int rc, const void *from)
{
    struct coil__error_place place = place_of(from);

    if (rc >= 0 || rc == -ECANCELED)
        return;
    if (error != NULL)
        error = coil__error_hand_on(&place, error);
    else if (coil__loop_is_debugged() && keep_bare_error(rc, from))
        return;
    store_last_error(error);
}

/*
 * Copy the awaited future's cancellation reason to the running task, unless the task
 * itself was cancelled. (asyncio: CancelledError carries the reason)
 */
static void hand_on_reason(const coil_future *future)
{
    coil_task *task = coil__scheduler.current;

    if (task != NULL && task->cancelling == 0)
        task->future.cancel_reason = future->cancel_reason;
}

void coil__failure_hand_on(const coil_future *future, int rc, const void *from)
{
    if (rc != future->rc || coil__future_pending(future))
        return;
    if (rc == -ECANCELED)
        hand_on_reason(future);
    else
        coil__failure_hand_on_error(future->error, rc, from);
}

void coil__failure_settle(coil_future *future, int rc)
{
    coil_error *error = rc != -ECANCELED ? coil__error_of_rc(future->error, rc) : NULL;

    if (error != future->error)
        keep_in_future(future, error != NULL ? coil_error_retain(error) : NULL);
}

/* ---- queries and reports ----------------------------------------------------------- */

coil_error *coil_last_error(void)
{
    const coil_task *task = coil__scheduler.current;

    if (task != NULL)
        return task->future.error_is_older ? NULL : task->future.error;
    return error_of_thread_is_older ? NULL : error_of_thread;
}

coil_error *coil__failure_of(int rc)
{
    return coil__error_of_rc(error_here(), rc);
}

coil_error *coil_future_error(const coil_future *future)
{
    COIL__REQUIRE(future, "a future");
    coil__future_check_gone(future, "coil_future_error");
    return coil__future_pending(future) ? NULL : future->error;
}

void coil__failure_report(const char *message, coil_task *task, int rc)
{
    coil_call_exception_handler(
        &(coil_exception){.message = message,
                          .rc = rc,
                          .error = coil_future_error(&task->future),
                          .task = task,
                          .future = &task->future});
}
