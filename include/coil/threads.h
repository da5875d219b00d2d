/*
 * coil/threads.h - use many processors, with a loop on each of several threads.
 *
 *     static int serve(void *port)                  // on every thread
 *     {
 *         coil_listener *listener;
 *         coil_listen_options at = {.port = port, .reuse_port = true};
 *         int rc = coil_listen_opts(&at, &listener);
 *
 *         if (rc < 0)
 *             return rc;
 *         rc = coil_serve(listener, talk, NULL, NULL);
 *         coil_listener_destroy(listener);
 *         return rc;
 *     }
 *
 *     int main(int argc, char *argv[])
 *     {
 *         return coil_run_threads(0, serve, argc > 1 ? argv[1] : "8080", NULL) < 0;
 *     }
 *
 * Loops share nothing: a task, a lock or a stream belongs to its thread. To communicate,
 * use coil_post(), coil_spawn_threadsafe(), promises (coil/promise.h) or channels
 * (coil/channel.h). A stream can be moved from one loop to another: coil_stream_detach().
 */
#ifndef COIL_THREADS_H
#define COIL_THREADS_H

#include <coil/run.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Call coil_run() on n threads at the same time, including the calling thread. 0 means
 * coil_processor_count().
 *
 * Returns when all main tasks have ended, with the earliest failure, or 0 if none failed.
 * A failure cancels the main tasks of all other threads. The first SIGINT cancels all
 * main tasks, and the call then fails with -EINTR, like coil_run().
 *
 * Each main task begins with a copy of the caller's context. On threads 1 to n - 1, the
 * name of the main task is opts->name followed by "-1" and so on, and the threads are
 * named "coil-1" and so on. If opts->error is set, it receives the error of the failure
 * that is returned.
 *
 * Fails like coil_run(), or with -EINVAL (n above 1024), or with -EAGAIN if a thread
 * could not be started. In the last case, main tasks that have begun are cancelled.
 */
COIL_API int coil_run_threads(unsigned n, coil_task_fn fn, void *arg,
                              const coil_run_opts *opts);

/*
 * Return the index of this thread among the threads of coil_run_threads(), beginning with
 * 0, or the number of these threads. On all other threads the results are 0 and 1.
 */
COIL_API unsigned coil_thread_index(void);
COIL_API unsigned coil_thread_count(void);

/*
 * Return the number of processors that this process may use, at least 1. The result is
 * the number of processors in the process's affinity mask. If the quota of its control
 * group (cpu.max) is smaller, the result is that quota, rounded up. The mask is read by
 * each call, the quota only by the first.
 */
COIL_API unsigned coil_processor_count(void);

#ifdef __cplusplus
}
#endif

#endif
