/*
 * coil/group.h - tasks that end together.
 *
 *     coil_group g;
 *     coil_group_enter(&g);
 *     rc = coil_group_spawn(&g, fetch, &left, NULL, NULL);
 *     if (rc == 0)
 *         rc = coil_group_spawn(&g, fetch, &right, NULL, NULL);
 *     rc = coil_group_exit(&g, rc);              // both have ended here
 *
 * A group waits for all its children before it closes, so they may use the stack frame of
 * its owner. If a child fails, the group cancels the other children and its owner. If the
 * owner leaves with an error, the group cancels all children. The code between
 * coil_group_enter() and coil_group_exit() is called the body of the group. Groups close
 * last in, first out, in the task that opened them. (asyncio: TaskGroup)
 */
#ifndef COIL_GROUP_H
#define COIL_GROUP_H

#include <coil/task.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Allocated by the caller; all members are private to coil. */
typedef struct coil_group {
    void *private_[25];
} coil_group;

/*
 * The maximum number of failures that a group stores. Further failures are only counted.
 */
#define COIL_GROUP_ERRORS 8

/* Open a group owned by the running task. Aborts outside a task. */
COIL_API void coil_group_enter(coil_group *group);

/*
 * Start a child, as coil_spawn() does. If `out` is not NULL, *out receives the child,
 * borrowed until coil_group_exit() returns. (asyncio: TaskGroup.create_task)
 *
 * The owner and the children may call this function. Fails with -ESHUTDOWN if the group
 * is being cancelled, or if coil_group_exit() was called and all children have ended.
 * Also fails with -EAGAIN if the group has reached its limit, or like coil_spawn().
 */
COIL_API COIL_CHECKED int coil_group_spawn(coil_group *group, coil_task_fn fn, void *arg,
                                           const coil_spawn_opts *opts, coil_task **out);

/*
 * Let at most `limit` children run at the same time; 0, the default, means no limit. (Go:
 * errgroup.SetLimit)
 *
 * At the limit, coil_group_spawn() fails with -EAGAIN, and coil_group_spawn_when_free()
 * waits. Lowering the limit does not end running children.
 */
COIL_API void coil_group_set_limit(coil_group *group, size_t limit);

/*
 * Start a child as soon as the limit allows it, suspending until then. Callers are served
 * in the order of their calls. (Go: errgroup.Go)
 *
 *     coil_group_enter(&g);
 *     coil_group_set_limit(&g, 10);
 *     for (i = 0; i < count && rc == 0; i++)
 *         rc = coil_group_spawn_when_free(&g, fetch, urls[i], NULL, NULL);
 *     rc = coil_group_exit(&g, rc);
 *
 * Fails like coil_group_spawn(), or with -ECANCELED (no child is started). The result is
 * -ESHUTDOWN if the group is cancelled during the wait. If all running children call this
 * function, they wait forever, because none of them can end.
 */
COIL_SUSPENDS COIL_CHECKED int coil_group_spawn_when_free(coil_group *group,
                                                          coil_task_fn fn, void *arg,
                                                          const coil_spawn_opts *opts,
                                                          coil_task **out);

/*
 * Start a child and wait until it reports that it is ready. The child calls
 * coil_group_started(value); this call then returns the value, and the child continues.
 * (trio: Nursery.start)
 *
 *     static int server(void *arg)
 *     {
 *         coil_listener *listener;
 *         int rc = coil_listen("localhost", "0", 0, &listener);
 *
 *         if (rc < 0)
 *             return rc;                                    // start() returns it
 *         coil_group_started(coil_listener_port(listener)); // start() returns the port
 *         rc = coil_serve(listener, talk, arg, NULL);       // and the server goes on
 *         coil_listener_destroy(listener);
 *         return rc;
 *     }
 *
 * If the child fails before it is ready, this call returns the child's error, and the
 * group is not affected. If the child ends without failing before it is ready, the result
 * is -ECHILD.
 *
 * Cancelling the caller cancels the child. The call then returns once the child has ended
 * or is ready. If the child became ready, its value is returned, and the caller's next
 * wait is cancelled. If the call returns 0 or more and `out` is not NULL, *out is set.
 * Fails like coil_group_spawn() if the child cannot be started.
 */
COIL_SUSPENDS COIL_CHECKED int coil_group_start(coil_group *group, coil_task_fn fn,
                                                void *arg, const coil_spawn_opts *opts,
                                                coil_task **out);

/*
 * Report that the running task is ready, so that the coil_group_start() that started the
 * task returns `value`, which must be 0 or more. (trio: task_status.started)
 *
 * Returns 0, even in a task that was not started by coil_group_start(). A second call
 * fails with -EALREADY, and a negative value with -EINVAL.
 */
COIL_API int coil_group_started(int value);

/*
 * End the group early: cancel its children and, if the owner is still in the body, the
 * owner. (asyncio 3.15: TaskGroup.cancel; trio: cancel_scope.cancel)
 *
 * After this call, coil_group_exit() returns 0, with two exceptions. If a child or the
 * body failed, coil_group_exit() returns that failure. If another caller also cancelled
 * the owner, in the body or in the exit, coil_group_exit() returns -ECANCELED. Any code
 * on the loop's thread may call this function, any number of times. The call has no
 * effect if the group is already being cancelled, or if coil_group_exit() was called and
 * all children have ended. `reason` has the same meaning as in coil_task_cancel().
 */
COIL_API void coil_group_cancel(coil_group *group, const char *reason);

/*
 * Wait for all children and close the group. `rc` is the result of the body: if it is
 * negative, the children are cancelled first.
 *
 * Returns the earliest failure of a child, or `rc` if no child has failed. The owner may
 * also be cancelled from outside the group: by coil_task_cancel(), by the deadline of a
 * scope around the group, or by a group around it. In that case the children are
 * cancelled, and the call returns -ECANCELED, even after coil_group_cancel(). If a child
 * has also failed, the call returns that failure, and the owner's next wait is cancelled.
 * The call always waits until the last child has ended.
 */
COIL_SUSPENDS int coil_group_exit(coil_group *group, int rc);

/*
 * End the group if it is still open: cancel the children and wait until all have ended.
 * Use this function for cleanup that runs whenever control leaves a block: see
 * COIL_GROUP_GUARD() in coil/guard.h.
 *
 * Because the call returns no result, the first failure of a child is reported to the
 * exception handler. Call this function only after coil_group_enter().
 */
COIL_SUSPENDS void coil_group_leave(coil_group *group);

/*
 * Return the number of failures so far: the number of children that failed, plus one if
 * coil_group_exit() was called with a failure of the body.
 */
COIL_API size_t coil_group_error_count(const coil_group *group);

/*
 * Return the i-th failure, in the order in which they occurred, for i below
 * COIL_GROUP_ERRORS; 0 if there have been fewer failures.
 */
COIL_API int coil_group_error(const coil_group *group, size_t i);

#ifdef __cplusplus
}
#endif

#endif
