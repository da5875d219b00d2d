/*
 * coil/guest.h - run a loop inside another event loop, such as GLib's, Qt's or a game's.
 *
 *     rc = coil_loop_create(NULL, &loop);
 *     if (rc == 0)
 *         rc = coil_spawn(app, &state, NULL, NULL);
 *     while (rc == 0) {                                     // the host's loop
 *         struct pollfd ours = {coil_guest_fd(loop), POLLIN, 0};
 *
 *         poll_with_the_others(&ours, coil_guest_timeout(loop));
 *         if (ours.revents != 0 || coil_guest_timeout(loop) == 0)
 *             rc = coil_guest_step(loop);                   // 1 after coil_loop_stop()
 *     }
 *
 * Host and guest share one thread. Between two steps the host may call any function that
 * a callback may call, such as coil_spawn(), coil_future_set() and coil_task_cancel().
 * Tasks that become ready run in the next step.
 *
 * The host must handle SIGINT, and cancel the remaining tasks at the end. Deadlocks are
 * not reported. A runner (coil/run.h) makes the cleanup easier: step the loop of
 * coil_runner_loop(), and clean up with coil_runner_close(), which waits as long as
 * necessary. (trio: start_guest_run)
 */
#ifndef COIL_GUEST_H
#define COIL_GUEST_H

#include <coil/loop.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Return a descriptor that is readable when there is work for coil_guest_step(). The loop
 * owns the descriptor and never changes it. Poll the descriptor, but do not read from it.
 *
 * Fails with -EOPNOTSUPP if the backend has no such descriptor (poll, select), or if the
 * clock is virtual.
 */
COIL_API int coil_guest_fd(coil_loop *loop);

/*
 * Return the longest time, in ns, that the host may wait. Call this function before each
 * wait, because it also passes pending requests to the kernel.
 *
 * The result is the time until the next timer is due, or longer if the loop's
 * timer_slack_ns is above the thread's own slack. 0 means that a task or callback is
 * ready; COIL_NEVER means that the host need only wait for the descriptor.
 */
COIL_API int64_t coil_guest_timeout(coil_loop *loop);

/*
 * Run one turn of the loop without waiting: poll for I/O, and run posted functions, due
 * timers, and all ready tasks and callbacks. A step never runs more than one turn, so
 * control soon returns to the host.
 *
 * Returns 0, or 1 if coil_loop_stop() was called: the host should then stop, too. Fails
 * with -EBUSY inside a turn, that is, in a task or callback of this loop. Also fails with
 * -EOPNOTSUPP if the clock is virtual, or with the error of the poll.
 */
COIL_API int coil_guest_step(coil_loop *loop);

#ifdef __cplusplus
}
#endif

#endif
