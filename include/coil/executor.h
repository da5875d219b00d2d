/*
 * coil/executor.h - code that blocks, on threads, so that the loop does not.
 *
 *     static int digest(void *arg) { ... seconds of work ... }
 *     rc = coil_blocking(COIL_LANE_CPU, digest, &file);
 *
 * Each lane has its own threads and its own line, so slow names never hold up files.
 * Threads are started as needed, shared by all loops of the process, and end after
 * having been idle for a while. (asyncio: to_thread, run_in_executor)
 */
#ifndef COIL_EXECUTOR_H
#define COIL_EXECUTOR_H

#include <coil/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum coil_lane {
    COIL_LANE_DNS,  /* look-ups: at most 8 threads */
    COIL_LANE_FILE, /* files: at most 8 threads */
    COIL_LANE_CPU   /* computation: as many threads as processors */
} coil_lane;

/*
 * Run fn(arg) on a thread of the lane while this task waits; returns what fn returned.
 *
 * fn must not call coil, except what is for any thread: coil_post(), promises, and
 * coil_var_get(), for it runs in a copy of the task's context. `arg` may lie on the
 * caller's stack: the wait is finished even if the task is cancelled meanwhile; then fn's
 * result is returned, and the next call that waits sees the cancellation. A job that no
 * thread has begun yet is withdrawn by the cancellation instead: -ECANCELED. -EAGAIN: no
 * thread could be started. -ENOMEM: only for a loop's first job.
 */
COIL_SUSPENDS int coil_blocking(coil_lane lane, int (*fn)(void *arg), void *arg);

/*
 * The same for a job that may be left behind: a cancelled task returns at once with
 * -ECANCELED while the thread goes on. `arg` is then not the caller's any more:
 * discard(arg), if not NULL, is called on that thread when fn has returned, or at once,
 * on this one, for a job that had not begun. A closing loop waits for it, though not
 * longer than coil_run_opts.drain_ns says. Also fails with -ENOMEM.
 */
COIL_SUSPENDS int coil_blocking_abandonable(coil_lane lane, int (*fn)(void *arg),
                                            void *arg, void (*discard)(void *arg));

/* The most threads a lane may have, 1 to 1024. Returns 0 or -EINVAL. Any thread. */
COIL_API int coil_executor_set_limit(coil_lane lane, unsigned max_threads);

#ifdef __cplusplus
}
#endif

#endif
