/*
 * coil/trace.h - record a timeline of a loop and its tasks.
 *
 *     static int trace_work(int (*work)(void *arg), void *arg)
 *     {
 *         int rc = coil_trace_start(0);
 *
 *         if (rc < 0)
 *             return rc;
 *         rc = work(arg);
 *         coil_trace_stop();
 *         if (coil_trace_write("work.json") < 0)
 *             fputs("work.json could not be written\n", stderr);
 *         return rc;
 *     }
 *
 * A trace contains each step of a task, each wait with its reason, each poll and each
 * callback. For each task that was woken, it also shows the task that woke it. Perfetto
 * (https://ui.perfetto.dev) displays the trace, with a track for the loop and a track for
 * each task.
 *
 * The records are stored in a ring buffer in memory, in which the newest records replace
 * the oldest. A switch between tasks takes about 10 ns longer while the loop is traced.
 *
 * A program can also be traced without these calls. With COIL_TRACE=FILE in the
 * environment, each loop is traced from its creation, and the file is written when the
 * loops close. `coil-ps --trace` traces a running process from outside, or reads the
 * trace in a core file. docs/manual/trace.md describes both ways.
 */
#ifndef COIL_TRACE_H
#define COIL_TRACE_H

#include <coil/loop.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The size of the ring for coil_trace_start(0): 262,144 records. */
#define COIL_TRACE_BYTES ((size_t)4 * 1024 * 1024)

/*
 * Start to trace the thread's loop, with a ring of `bytes`, rounded up to a power of two;
 * 0 means COIL_TRACE_BYTES. The records of an earlier trace of this loop are discarded.
 *
 * Fails with -EALREADY if the loop is being traced, -EINVAL if `bytes` is above 1 GiB, or
 * -ENOMEM. Aborts if the thread has no loop.
 */
COIL_API int coil_trace_start(size_t bytes);

/*
 * Stop tracing the thread's loop. The records remain until the next start, or until the
 * loop closes. Does nothing if the loop is not traced.
 */
COIL_API void coil_trace_stop(void);

/*
 * Write the records of the thread's loop to a file. If the name of the file ends with
 * ".pftrace" or ".perfetto-trace", the file has Perfetto's own format (protocol buffers).
 * Otherwise it is JSON, in the format of Chrome's trace events. An existing file is overwritten. The call does not suspend: it blocks the
 * thread until the file is written. If tracing was not stopped, it continues.
 *
 * Fails with -ENOENT if the loop was not traced, with -ENOMEM, or like open(2) and
 * write(2).
 */
COIL_API int coil_trace_write(const char *path);

#ifdef __cplusplus
}
#endif

#endif
