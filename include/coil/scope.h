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
 * A deadline applies to a region of code; it is not a parameter of each call. When it
 * passes, the task's wait inside the region is cancelled. Scopes nest, and the earliest
 * deadline wins. They close last in, first out, in the task that opened them. (asyncio:
 * timeout, timeout_at)
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
 * Open a scope that cancels the running task at `deadline`, COIL_NEVER for none yet. One
 * that has passed cancels in the next turn, so what need not wait is still done. Outside
 * a task it stops the program. Returns 0, or -ENOMEM where there is a deadline and the
 * table of timers cannot grow.
 */
COIL_API int coil_scope_enter(coil_scope *scope, int64_t deadline);

/*
 * The same for cleaning up: inside, the task is not cancelled from outside.
 *
 *     if (coil_scope_enter_shielded(&s, coil_in(COIL_SEC(1))) == 0) {
 *         coil_write(stream, "bye\n", 4);          // although the task was cancelled
 *         coil_scope_exit(&s, 0);
 *     }
 *
 * A request that comes meanwhile is counted (coil_task_cancelling()), and held back until
 * the exit; so is one that was not yet delivered, or was delivered and stands: the calls
 * inside wait again, and after the exit every call that would wait returns -ECANCELED
 * once more. This scope's own deadline does cancel what is inside, and so do the scopes
 * and groups opened there. Give it a deadline: a cleanup that waits for ever is no
 * cleanup. (trio: CancelScope(shield=True))
 */
COIL_API int coil_scope_enter_shielded(coil_scope *scope, int64_t deadline);

/*
 * Close it; returns the rc to go on with. -ECANCELED becomes -ETIMEDOUT if this scope's
 * deadline cancelled the task and nobody else did; the task works on normally then. Any
 * other rc comes back as it is. Never suspends.
 */
COIL_API int coil_scope_exit(coil_scope *scope, int rc);

/*
 * The same for what returns a count, as coil_read() does: the count comes back whole,
 * also beyond INT_MAX.
 */
COIL_API ssize_t coil_scope_exit_count(coil_scope *scope, ssize_t count);

/*
 * Move the deadline. Returns 0, -ETIMEDOUT if it has expired already: what it cut off
 * ends with that; -EINVAL if the scope was left in time; -ENOMEM, for the first deadline
 * that it has. (asyncio: Timeout.reschedule)
 */
COIL_API int coil_scope_set_deadline(coil_scope *scope, int64_t deadline);

/* The deadline that it has now; COIL_NEVER if none. (asyncio: Timeout.when) */
COIL_API int64_t coil_scope_deadline(const coil_scope *scope);

/* True once its deadline has cancelled the task; still so after exit. */
COIL_API bool coil_scope_expired(const coil_scope *scope);

/*
 * For bindings whose language has exceptions, such as coil.hpp: an exception that leaves
 * scopes and groups needs the objects that stand for them.
 *
 * Bind `object` to the scope or group that the running task has entered last, until its
 * exit. Without one it stops the program.
 */
COIL_API void coil_region_bind(void *object);

/*
 * The object of the innermost open region of the running task that has one. With `inside`,
 * which is such an object, that of the next region around it. NULL if there is none.
 */
COIL_API void *coil_region_bound(const void *inside);

#ifdef __cplusplus
}
#endif

#endif
