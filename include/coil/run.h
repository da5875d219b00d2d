/*
 * coil/run.h - from main() into coil and back.
 *
 *     static int app(void *arg)
 *     {
 *         return coil_sleep(COIL_SEC(1));
 *     }
 *
 *     int main(void)
 *     {
 *         return coil_run(app, NULL, NULL) < 0;
 *     }
 */
#ifndef COIL_RUN_H
#define COIL_RUN_H

#include <coil/loop.h>
#include <coil/task.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct coil_run_opts {
    coil_loop_opts loop;
    const char *name;   /* of the main task; NULL means "main" */
    size_t stack_bytes; /* of the main task; 0 means 1 MiB */
    bool no_signals;    /* leave SIGINT and SIGSEGV alone */
} coil_run_opts;

/*
 * Create a loop, run fn(arg) as its main task, clean up, and return its rc.
 * (asyncio: run)
 *
 * When the main task has ended, tasks that are left are cancelled and awaited, failures
 * among them reported; blocking work is finished; the loop is closed.
 *
 * On the main thread, and where the disposition was the default, SIGINT is taken: the
 * first cancels the main task, and if that ends cancelled coil_run() returns -EINTR; the
 * second ends the program by the signal. SIGSEGV is taken to print which task
 * overflowed its stack, then ends the program as ever. Both are restored.
 *
 * Fails as coil_loop_create() and coil_spawn(). Inside a running loop it stops the
 * program.
 */
COIL_API int coil_run(coil_task_fn fn, void *arg, const coil_run_opts *opts);

/*
 * Run the current loop until the future is done, and return its rc; -EDEADLK if somebody
 * stopped the loop before that. (asyncio: run_until_complete)
 */
COIL_API int coil_run_until_complete(coil_future *future);

#ifdef __cplusplus
}
#endif

#endif
