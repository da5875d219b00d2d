/*
 * failure.c - whose errors are whose.
 *
 * A task keeps one error in its future: while it runs the last failure it met, its own or
 * awaited; when it has ended, what it failed with. Which of the failures it met a body
 * returns, C cannot tell; the rc can: an error that has another rc than the body is
 * dropped.
 */
#include "failure.h"

#include "../error/error.h"

/* Where the running task, or else a callback, called us from. */
static struct coil__error_place place_of(const void *from)
{
    const coil_task *task = coil__scheduler.current;

    if (task == NULL)
        return (struct coil__error_place){.from = from};
    return (struct coil__error_place){from, task->name, &task->coro};
}

static void keep(coil_future *future, coil_error *error)
{
    coil_error *last = future->error;

    future->error = error;
    coil_error_release(last);
}

/* ---- failing ----------------------------------------------------------------------- */

static void fail(coil_error *cause, int rc, const void *from, const char *format,
                 va_list args)
{
    struct coil__error_place place = place_of(from);
    coil_task *task = coil__scheduler.current;

    if (rc >= 0)
        coil__misuse("coil_fail: %d is no negative errno", rc);
    if (task != NULL) /* the cause may be its last error: create first */
        keep(&task->future, coil__error_create(&place, rc, cause, format, args));
}

COIL__NOINLINE int coil_fail(int rc, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    fail(NULL, rc, COIL__CALLER(), format, args);
    va_end(args);
    return rc;
}

COIL__NOINLINE int coil_fail_from(coil_error *cause, int rc, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    fail(cause, rc, COIL__CALLER(), format, args);
    va_end(args);
    return rc;
}

COIL__NOINLINE int coil_future_set_error(coil_future *future, int rc, const char *format,
                                         ...)
{
    struct coil__error_place place = place_of(COIL__CALLER());
    coil_error *error;
    va_list args;

    if (rc >= 0)
        coil__misuse("coil_future_set_error: %d is no negative errno", rc);
    if (!coil__future_pending(future))
        return -EALREADY;
    va_start(args, format);
    error = coil__error_create(&place, rc, NULL, format, args);
    va_end(args);
    if (!future->is_task)
        keep(future, error);
    return coil_future_set(future, rc, NULL, NULL);
}

/* ---- handing on -------------------------------------------------------------------- */

void coil__failure_hand_on_error(coil_error *error, int rc, const void *from)
{
    struct coil__error_place place = place_of(from);
    coil_task *task = coil__scheduler.current;

    if (task == NULL || rc >= 0 || rc == -ECANCELED)
        return;
    if (error != NULL)
        error = coil__error_hand_on(&place, error);
    keep(&task->future, error);
}

/* asyncio's CancelledError carries the reason of what was awaited up to the awaiter. */
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
    if (coil_error_rc(future->error) != rc || rc == -ECANCELED)
        keep(future, NULL);
}

/* ---- asking, and telling ----------------------------------------------------------- */

coil_error *coil_last_error(void)
{
    return coil__scheduler.current != NULL ? coil__scheduler.current->future.error : NULL;
}

coil_error *coil_future_error(const coil_future *future)
{
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
