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
 * A deadline applies to a region of code, instead of being a parameter of each call. When
 * the deadline passes, coil cancels the call in which the task is waiting inside the
 * region. Scopes nest, and the earliest deadline applies. Scopes close last in, first
 * out, in the task that opened them. (asyncio: timeout, timeout_at)
 */
#ifndef COIL_SCOPE_H
#define COIL_SCOPE_H

#include <coil/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Allocated by the caller, usually on its stack; all members are private to coil. */
typedef struct coil_scope {
    void *private_[18];
} coil_scope;

/*
 * Open a scope that cancels the running task at `deadline`; COIL_NEVER means no deadline
 * yet.
 *
 * If the deadline has already passed, the cancellation is delivered in the next turn of
 * the loop: calls that need not wait still succeed. Returns 0, or -ENOMEM if there is a
 * deadline and the table of timers cannot grow. Aborts outside a task.
 */
COIL_API COIL_CHECKED int coil_scope_enter(coil_scope *scope, int64_t deadline);

/*
 * Open a shielded scope, for cleanup: cancellation requests from outside the scope do not
 * cancel the calls inside. (trio: CancelScope(shield=True))
 *
 *     if (coil_scope_enter_shielded(&s, coil_in(COIL_SEC(1))) == 0) {
 *         coil_write(stream, "bye\n", 4);          // although the task was cancelled
 *         coil_scope_exit(&s, 0);
 *     }
 *
 * A request that arrives while the scope is open is counted (coil_task_cancelling()) and
 * delayed until the exit. A cancellation that was requested or delivered earlier is
 * suspended, too: calls inside wait normally. After the exit, every call that would wait
 * returns -ECANCELED again. The calls inside can still be cancelled by the scope's own
 * deadline, and by scopes and groups that are opened inside. Always set a deadline,
 * because the cleanup could otherwise last forever. Fails like coil_scope_enter().
 */
COIL_API COIL_CHECKED int coil_scope_enter_shielded(coil_scope *scope, int64_t deadline);

/*
 * Close the scope and return the resulting rc. Never suspends.
 *
 * If `rc` is -ECANCELED and only this scope's deadline cancelled the task, the result is
 * -ETIMEDOUT, and the task can wait normally again. Otherwise the result is `rc`.
 */
COIL_API int coil_scope_exit(coil_scope *scope, int rc);

/*
 * Like coil_scope_exit(), for the results of calls that return a count, such as
 * coil_read(). The count may exceed INT_MAX.
 */
COIL_API ssize_t coil_scope_exit_count(coil_scope *scope, ssize_t count);

/*
 * Close the scope if it is still open. Never suspends. Use this function for cleanup that
 * runs whenever control leaves a block: see COIL_SCOPE_GUARD() in coil/guard.h.
 *
 * Call this function only after coil_scope_enter() or coil_scope_enter_shielded() was
 * called for the scope; that call may have failed.
 */
COIL_API void coil_scope_leave(coil_scope *scope);

/*
 * Move the deadline. (asyncio: Timeout.reschedule)
 *
 * Returns 0. Fails with -ETIMEDOUT if the old deadline has already passed: in that case
 * the calls inside remain cancelled. Fails with -EINVAL if the scope was closed before
 * its deadline, or with -ENOMEM when setting the scope's first deadline.
 */
COIL_API int coil_scope_set_deadline(coil_scope *scope, int64_t deadline);

/* Return the current deadline; COIL_NEVER without one. (asyncio: Timeout.when) */
COIL_API int64_t coil_scope_deadline(const coil_scope *scope);

/* True once the scope's deadline has cancelled the task, even after the exit. */
COIL_API bool coil_scope_expired(const coil_scope *scope);

/*
 * Attach the object of a language binding to the scope or group that the running task
 * entered last. This function is for languages with exceptions: see coil.hpp.
 *
 * The attachment lasts until the scope or group exits. When an exception passes through
 * scopes and groups, the binding calls coil_region_bound() to find their objects. Aborts
 * if no scope or group is open.
 */
COIL_API void coil_region_bind(void *object);

/*
 * Return the object that is attached to the running task's innermost scope or group with
 * an object. If `inside` is such an object, return the object of the next scope or group
 * further out that has one. Returns NULL if there is no such scope or group.
 */
COIL_API void *coil_region_bound(const void *inside);

#ifdef __cplusplus
}
#endif

#endif
