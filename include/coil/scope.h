/*
 * coil/scope.h - deadlines.
 *
 *     coil_scope s;
 *     ssize_t n = coil_scope_enter(&s, coil_in(COIL_SEC(2)));
 *
 *     if (n < 0)
 *         return n;
 *     n = coil_read(stream, buf, sizeof buf);
 *     n = coil_scope_exit_count(&s, n);          // -ETIMEDOUT after two seconds
 *
 * A deadline applies to a region of code; it is not a parameter of each call. When the
 * deadline passes, coil cancels the task's wait inside the region. Scopes nest, and the
 * earliest deadline applies. Scopes close last in, first out, in the task that opened
 * them. (asyncio: timeout, timeout_at)
 */
#ifndef COIL_SCOPE_H
#define COIL_SCOPE_H

#include <coil/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The caller's memory, usually on its stack; all fields are coil's own. */
typedef struct coil_scope {
    void *private_[18];
} coil_scope;

/*
 * Open a scope that cancels the running task at `deadline`; COIL_NEVER means no deadline
 * yet.
 *
 * If the deadline has passed already, the cancellation is delivered in the next turn:
 * calls that need not wait still succeed. Returns 0, or -ENOMEM if there is a deadline
 * and the table of timers cannot grow. Aborts outside a task.
 */
COIL_API COIL_CHECKED int coil_scope_enter(coil_scope *scope, int64_t deadline);

/*
 * Open a shielded scope, for cleanup: inside, requests from outside do not cancel the
 * task. (trio: CancelScope(shield=True))
 *
 *     if (coil_scope_enter_shielded(&s, coil_in(COIL_SEC(1))) == 0) {
 *         coil_write(stream, "bye\n", 4);          // although the task was cancelled
 *         coil_scope_exit(&s, 0);
 *     }
 *
 * A request that arrives meanwhile is counted (coil_task_cancelling()) and delayed until
 * the exit. A cancellation that was requested or delivered before is suspended, too:
 * calls inside wait normally. After the exit, every call that would wait returns
 * -ECANCELED again. The scope's own deadline does cancel the calls inside, and so do
 * scopes and groups that are opened there. Always set a deadline, so that the cleanup
 * cannot last forever. Fails like coil_scope_enter().
 */
COIL_API COIL_CHECKED int coil_scope_enter_shielded(coil_scope *scope, int64_t deadline);

/*
 * Close the scope and return the resulting rc. Never suspends.
 *
 * -ECANCELED becomes -ETIMEDOUT if only this scope's deadline cancelled the task;
 * afterwards the task can wait normally. Any other rc is returned unchanged.
 */
COIL_API int coil_scope_exit(coil_scope *scope, int rc);

/*
 * coil_scope_exit() for calls that return a count, such as coil_read(). The count may
 * exceed INT_MAX.
 */
COIL_API ssize_t coil_scope_exit_count(coil_scope *scope, ssize_t count);

/*
 * Close the scope if it is still open; else do nothing. Never suspends. Use this call for
 * cleanup that runs whenever control leaves a block: see COIL_SCOPE_GUARD() in
 * coil/guard.h.
 *
 * Call this function only after coil_scope_enter() or coil_scope_enter_shielded() of this
 * scope, even if that call failed.
 */
COIL_API void coil_scope_leave(coil_scope *scope);

/*
 * Move the deadline. (asyncio: Timeout.reschedule)
 *
 * Returns 0. Fails with -ETIMEDOUT if the deadline has passed already: the code inside
 * then still ends with that error. Fails with -EINVAL if the scope was closed before its
 * deadline, and with -ENOMEM when setting the scope's first deadline.
 */
COIL_API int coil_scope_set_deadline(coil_scope *scope, int64_t deadline);

/* Return the current deadline; COIL_NEVER without one. (asyncio: Timeout.when) */
COIL_API int64_t coil_scope_deadline(const coil_scope *scope);

/* True once the scope's deadline has cancelled the task, also after the exit. */
COIL_API bool coil_scope_expired(const coil_scope *scope);

/*
 * This is for bindings to languages with exceptions, such as coil.hpp. Attach the
 * binding's object to the scope or group that the running task entered last.
 *
 * The attachment lasts until the scope or group exits. An exception that passes through
 * scopes and groups uses it to find their objects. Aborts if no scope or group is open.
 */
COIL_API void coil_region_bind(void *object);

/*
 * Return the object attached to the innermost open scope or group of the running task
 * that has one.
 *
 * If `inside` is such an object, return the object of the next scope or group around it.
 * Returns NULL if no such region has an object.
 */
COIL_API void *coil_region_bound(const void *inside);

#ifdef __cplusplus
}
#endif

#endif
