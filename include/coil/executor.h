/*
 * coil/executor.h - run blocking code on a thread, so that the loop does not block.
 *
 *     static int digest(void *arg)            // on a thread
 *     {
 *         struct file *file = arg;
 *
 *         file->sum = sum_of(file->bytes, file->length);
 *         return 0;
 *     }
 *
 * The calling task waits:
 *
 *     rc = coil_blocking(COIL_LANE_CPU, digest, &file);
 *
 * A lane is a pool of threads with a queue of jobs. Each lane has its own threads, so
 * slow name lookups never delay calls on files. Threads are started as needed, are shared
 * by all loops of the process, and end after some idle time. (asyncio: to_thread,
 * run_in_executor)
 */
#ifndef COIL_EXECUTOR_H
#define COIL_EXECUTOR_H

#include <coil/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum coil_lane {
    COIL_LANE_DNS,  /* name lookups: at most 8 threads */
    COIL_LANE_FILE, /* files: at most 8 threads */
    COIL_LANE_CPU   /* computation: as many threads as processors, at least 4 */
} coil_lane;

/*
 * Run fn(arg) on a thread of the lane while this task waits; return the result of `fn`.
 *
 * `fn` may call only functions of coil that are allowed on any thread, such as
 * coil_post() and the functions of promises. `fn` may also call coil_var_get(), which
 * reads a copy of the task's context. `arg` may be on the caller's stack, because the
 * call always waits until a started job has ended, even if the task is cancelled in the
 * meantime. After such a cancellation the job's result is returned, and the next call
 * that would wait returns -ECANCELED.
 *
 * Fails with -ECANCELED if the task was already cancelled before the call, or is
 * cancelled before a thread has begun the job. In both cases the job never runs. Also
 * fails with -EAGAIN if no thread could be started, or if abandoned jobs occupy all
 * threads. The first job of a loop may fail with -ENOMEM.
 */
COIL_SUSPENDS int coil_blocking(coil_lane lane, int (*fn)(void *arg), void *arg);

/*
 * Run fn(arg) on a thread of the lane, as a job that is abandoned if the task is
 * cancelled. In that case the call returns -ECANCELED immediately, while the thread
 * continues.
 *
 * An abandoned job owns `arg`: discard(arg), if not NULL, is called on the job's thread
 * once `fn` has returned. If the job had not begun, discard(arg) is called immediately on
 * this thread. A closing loop waits for the job, for at most coil_run_opts.drain_ns.
 *
 * The thread of an abandoned job does not count towards the lane's limit until the job is
 * done, so jobs that hang do not delay other jobs. This applies to the first 64 abandoned
 * jobs in a lane; the threads of further abandoned jobs count. If abandoned jobs occupy
 * all threads, blocking calls in that lane fail with -EAGAIN, including calls that are
 * already queued. Also fails with -ENOMEM.
 */
COIL_SUSPENDS int coil_blocking_abandonable(coil_lane lane, int (*fn)(void *arg),
                                            void *arg, void (*discard)(void *arg));

/*
 * Set the maximum number of threads of a lane, from 1 to 1024. Returns 0, or -EINVAL for
 * an invalid number or a lane that is being destroyed. May be called on any thread.
 */
COIL_API int coil_executor_set_limit(coil_lane lane, unsigned max_threads);

/*
 * Create a separate lane, for work that must neither delay other work nor be delayed by
 * it. May be called on any thread. (Python: ThreadPoolExecutor)
 *
 *     coil_lane thumbnails;
 *     rc = coil_executor_create("thumbnails", 2, &thumbnails);
 *     rc = coil_blocking(thumbnails, make_thumbnail, &picture);
 *
 * The lane in *out may be used on any thread. It has at most max_threads threads (0: as
 * many as COIL_LANE_CPU). The threads are named after the first 15 bytes of `name`, which
 * is copied. Fails with -EINVAL, or with -EMFILE if 61 lanes already exist. After a
 * failure *out is not a lane; using it aborts.
 */
COIL_API COIL_CHECKED int coil_executor_create(const char *name, unsigned max_threads,
                                               coil_lane *out);

/*
 * End the lane's threads and release the lane. May be called on any thread.
 *
 * All calls of coil_blocking() with the lane must have returned; otherwise the program
 * aborts. The call blocks until abandoned jobs have ended. So do not call this function
 * on a loop's thread if abandoned jobs may be running.
 */
COIL_API void coil_executor_destroy(coil_lane lane);

#ifdef __cplusplus
}
#endif

#endif
