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
 * A group outlives its children, so they may use its owner's frame. A child's failure
 * cancels its siblings and the owner's body; so does an owner that leaves with an error.
 * Groups close last in, first out, in the task that opened them. (asyncio: TaskGroup)
 */
#ifndef COIL_GROUP_H
#define COIL_GROUP_H

#include <coil/task.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The caller's memory; all fields are coil's own. */
typedef struct coil_group {
    void *private_[25];
} coil_group;

/* How many failures a group remembers; it counts all. */
#define COIL_GROUP_ERRORS 8

/* Open a group owned by the running task. Outside a task it stops the program. */
COIL_API void coil_group_enter(coil_group *group);

/*
 * Start a child, as coil_spawn() does. *out, if not NULL, is borrowed until the exit
 * returns. (asyncio: TaskGroup.create_task)
 *
 * May be called by the owner and by the children. Fails with -ESHUTDOWN if the group is
 * being cancelled, or is at its end and empty, with -EAGAIN at the group's limit, and as
 * coil_spawn().
 */
COIL_API int coil_group_spawn(coil_group *group, coil_task_fn fn, void *arg,
                              const coil_spawn_opts *opts, coil_task **out);

/*
 * Let at most `limit` children run at once; 0 means no limit, as at first. At the limit
 * coil_group_spawn() fails with -EAGAIN; the next call waits instead. A limit that is
 * lowered ends no child. (Go: errgroup.SetLimit)
 */
COIL_API void coil_group_set_limit(coil_group *group, size_t limit);

/*
 * Start a child as soon as the limit allows it, suspending until then: first come, first
 * served. (Go: errgroup.Go)
 *
 *     coil_group_enter(&g);
 *     coil_group_set_limit(&g, 10);
 *     for (i = 0; i < count && rc == 0; i++)
 *         rc = coil_group_spawn_when_free(&g, fetch, urls[i], NULL, NULL);
 *     rc = coil_group_exit(&g, rc);
 *
 * Fails with -ECANCELED (nothing is started) and as coil_group_spawn(); -ESHUTDOWN also
 * if the group is cancelled meanwhile. Children that all wait here for each other's end
 * wait for ever.
 */
COIL_SUSPENDS int coil_group_spawn_when_free(coil_group *group, coil_task_fn fn,
                                             void *arg, const coil_spawn_opts *opts,
                                             coil_task **out);

/*
 * Start a child and wait until it is ready: it says coil_group_started(value), value is
 * returned here, and the child goes on. (trio: Nursery.start)
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
 * A child that fails before it is ready fails this call alone, not the group; one that
 * ends otherwise is -ECHILD. Cancelling the caller cancels the child, and the call
 * returns when that has ended or is ready all the same; then its value is returned, and
 * the caller's next wait is told. *out, if not NULL, is set if 0 or more is returned.
 * Fails as coil_group_spawn() before anything is started.
 */
COIL_SUSPENDS int coil_group_start(coil_group *group, coil_task_fn fn, void *arg,
                                   const coil_spawn_opts *opts, coil_task **out);

/*
 * The running task is ready: the coil_group_start() that started it returns `value`,
 * which is 0 or more. Returns 0, also in a task that was not started by
 * coil_group_start(); -EALREADY the second time, -EINVAL for a value below 0. (trio:
 * task_status.started)
 */
COIL_API int coil_group_started(int value);

/*
 * End the group early: cancel its children, and the wait of the owner's body. The exit
 * returns 0 then, unless something failed or the owner was cancelled by another caller,
 * too, in the body or in the exit: then it returns -ECANCELED. Any code on the loop's
 * thread may call this, any number of times. The call has no effect on a group that is
 * being cancelled already, or that is at its exit without children. `reason` is as for
 * coil_task_cancel(). (asyncio 3.15: TaskGroup.cancel; trio: cancel_scope.cancel)
 */
COIL_API void coil_group_cancel(coil_group *group, const char *reason);

/*
 * Wait for all children and close the group. `rc` is what the body came to: below zero,
 * the children are cancelled first.
 *
 * Returns the first failure in time of a child, else rc. If the owner is cancelled by
 * anything but the group (coil_task_cancel(), the deadline of a scope around the group, a
 * group around it), the children are cancelled, and the exit returns -ECANCELED, also
 * after coil_group_cancel(). If a child failed, its failure is returned, and the
 * cancellation is delivered again at the owner's next wait. The exit always waits until
 * the last child has ended.
 */
COIL_SUSPENDS int coil_group_exit(coil_group *group, int rc);

/* How many failed so far: children, and after the exit the body itself. */
COIL_API size_t coil_group_error_count(const coil_group *group);

/* The i-th failure in time, i below COIL_GROUP_ERRORS; 0 if there is none, or not yet. */
COIL_API int coil_group_error(const coil_group *group, size_t i);

#ifdef __cplusplus
}
#endif

#endif
