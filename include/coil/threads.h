/*
 * coil/threads.h - a program on many processors: a loop on each of several threads.
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
 * Loops share nothing: a task, a lock, a stream belongs to its thread. To communicate,
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
 * coil_run() on n threads at once, the calling one among them; 0: as many as
 * coil_processor_count(). Returns when all have ended: the first failure in time, or else
 * 0. One failure cancels the main tasks of all others, and so does the first SIGINT; it
 * fails with -EINTR then, as coil_run() does.
 *
 * Each main task has a copy of the caller's context, and is called as opts->name says,
 * with "-1" and so on behind it on threads 1 to n - 1, which are called "coil-1" and so
 * on. *opts->error, if asked for, is of the failure that is returned.
 *
 * Fails as coil_run(), with -EINVAL (n above 1024), and with -EAGAIN where a thread could
 * not be started: then what had begun is cancelled.
 */
COIL_API int coil_run_threads(unsigned n, coil_task_fn fn, void *arg,
                              const coil_run_opts *opts);

/* Which of them this is, from 0, and how many there are. Elsewhere 0 and 1. */
COIL_API unsigned coil_thread_index(void);
COIL_API unsigned coil_thread_count(void);

/*
 * How many processors this process may use: those of its affinity mask, but no more than
 * the processor time of its control group (cpu.max) is worth, rounded up. At least 1.
 */
COIL_API unsigned coil_processor_count(void);

#ifdef __cplusplus
}
#endif

#endif
