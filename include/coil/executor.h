/*
 * coil/executor.h - run code that blocks on a thread, so that the loop does not block.
 *
 *     static int digest(void *arg)            // on a thread
 *     {
 *         struct file *file = arg;
 *
 *         file->sum = sum_of(file->bytes, file->length);
 *         return 0;
 *     }
 *
 * The task that calls it waits:
 *
 *     rc = coil_blocking(COIL_LANE_CPU, digest, &file);
 *
 * A lane is a pool of threads with a queue of jobs. Each lane has its own, so slow
 * look-ups of names never delay files. Threads are started as needed, shared by all loops
 * of the process, and end after some idle time. (asyncio: to_thread, run_in_executor)
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
    COIL_LANE_CPU   /* computation: as many threads as processors, at least 4 */
} coil_lane;

/*
 * Run fn(arg) on a thread of the lane while this task waits; returns what fn returned.
 *
 * fn must not call coil, except functions for any thread: coil_post(), promises, and
 * coil_var_get(), for it runs in a copy of the task's context. `arg` may lie on the
 * caller's stack: the wait is finished even if the task is cancelled meanwhile; then fn's
 * result is returned, and the next call that would wait returns -ECANCELED. A job that no
 * thread has begun yet is withdrawn by the cancellation instead, and a task that is
 * cancelled already begins none: -ECANCELED. -EAGAIN: no thread could be started, or all
 * are held by jobs that were left behind. -ENOMEM: only for a loop's first job.
 */
COIL_SUSPENDS int coil_blocking(coil_lane lane, int (*fn)(void *arg), void *arg);

/*
 * The same for a job that may be left behind: a cancelled task returns at once with
 * -ECANCELED while the thread goes on. `arg` is then not the caller's any more:
 * discard(arg), if not NULL, is called on that thread when fn has returned, or at once,
 * on this one, for a job that had not begun. A closing loop waits for it, though not
 * longer than coil_run_opts.drain_ns says. Its thread does not count for the lane's limit
 * until the job is done, so that jobs which hang hold up nobody; with more than 64 such
 * jobs in a lane the others keep their places, and once they have taken all, blocking
 * calls in that lane fail with -EAGAIN, those that were queued too. Also fails with
 * -ENOMEM.
 */
COIL_SUSPENDS int coil_blocking_abandonable(coil_lane lane, int (*fn)(void *arg),
                                            void *arg, void (*discard)(void *arg));

/* The most threads a lane may have, 1 to 1024. Returns 0 or -EINVAL, of a lane that is
   being destroyed, too. Any thread. */
COIL_API int coil_executor_set_limit(coil_lane lane, unsigned max_threads);

/*
 * A lane of one's own, for work that is to hold up nothing else, and to be held up by
 * nothing else:
 *
 *     coil_lane thumbnails;
 *     rc = coil_executor_create("thumbnails", 2, &thumbnails);
 *     rc = coil_blocking(thumbnails, make_thumbnail, &picture);
 *
 * *out is a number for the functions above, on any thread. Its threads, at most
 * max_threads (0: as COIL_LANE_CPU has), are called `name`, up to 15 bytes, which is
 * copied. -EINVAL, -EMFILE (there are 61 already); then *out is no lane, and using it
 * stops the program. Any thread. (Python: ThreadPoolExecutor)
 */
COIL_API int coil_executor_create(const char *name, unsigned max_threads, coil_lane *out);

/*
 * End its threads and give the number back. Every call of coil_blocking() with it has
 * returned, or the program is stopped. Waits for what its threads still do, which is
 * abandoned work; so not on a loop's thread while there may be some. Any thread.
 */
COIL_API void coil_executor_destroy(coil_lane lane);

#ifdef __cplusplus
}
#endif

#endif
