/*
 * coil/guest.h - a loop that lives inside another: GLib's, Qt's, a game's.
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
 * Host and guest share one thread. Between two steps the host may call what a callback
 * may call: coil_spawn(), coil_future_set(), coil_task_cancel(). Tasks that it makes
 * ready run in the next step. coil does not take SIGINT, report a deadlock or cancel the
 * remaining tasks at the end: the host has to. A runner (coil/run.h) makes that easier:
 * step the loop of coil_runner_loop(), and clean up by coil_runner_close(), which waits
 * as long as that takes. (trio: start_guest_run)
 */
#ifndef COIL_GUEST_H
#define COIL_GUEST_H

#include <coil/loop.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A descriptor that is readable when something has happened that a step would deal with;
 * the loop's own, the same as long as it lives. To be polled for, not read.
 *
 * -EOPNOTSUPP: the backend has none (poll, select), or the clock is virtual.
 */
COIL_API int coil_guest_fd(coil_loop *loop);

/*
 * How long the host may wait at most, in ns: until the next timer, and longer if the loop
 * has a timer_slack_ns above the thread's own (coil/loop.h); 0 if something is ready;
 * COIL_NEVER if only the descriptor can tell. What was asked of the loop since the last
 * step is handed to the kernel here, so call it before each wait.
 */
COIL_API int64_t coil_guest_timeout(coil_loop *loop);

/*
 * Run one turn, never waiting: I/O that happened, posts, timers that are due, all that
 * was ready. Never more than one turn, whatever becomes ready in it, so that the host has
 * its share.
 *
 * Returns 0; 1 if coil_loop_stop() was called, to say that the host should end, too;
 * -EBUSY inside a turn, that is, from a task or callback of this loop; -EOPNOTSUPP with a
 * virtual clock; or what polling failed with.
 */
COIL_API int coil_guest_step(coil_loop *loop);

#ifdef __cplusplus
}
#endif

#endif
