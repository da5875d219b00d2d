/*
 * coil/hooks.h - make a library's thread-local state task-local.
 *
 *     static const coil_task_hooks *const hooks[] = {&interpreter_hooks, NULL};
 *
 *     coil_spawn_opts opts = {.hooks = hooks};
 *     int rc = coil_spawn(run_script, "a", &opts, NULL);
 *     if (rc == 0)
 *         rc = coil_spawn(run_script, "b", &opts, NULL);
 *
 * Many libraries keep state for each thread: the current interpreter, the last error, the
 * locale. All tasks of a thread share that state, so one task would see the values that
 * another task has set. coil calls a task's hooks whenever it switches to the task or
 * away from it. When the task begins to run, its hooks install the task's own state in
 * the thread; when the task stops running, its hooks save that state.
 *
 * Hooks cost nothing if no task of the thread uses them. errno and C++ exceptions need no
 * hooks: coil saves them for each task.
 */
#ifndef COIL_HOOKS_H
#define COIL_HOOKS_H

#include <coil/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Hooks that install and save a task's state.
 *
 * coil calls `enter` before the task's body begins, and each time before the task
 * continues. coil calls `leave` each time the task begins to wait, even inside a
 * generator. After the body and its deferred calls have returned, coil calls `end`, or
 * `leave` if `end` is NULL. So each call of `enter` is followed by a call of `leave` or
 * `end`. Hooks run on the task's own stack, as the running task. Hooks must not spawn
 * tasks, and the program aborts if a hook would wait. Hooks may change errno.
 *
 * If a task is cancelled before its first step, its hooks are never called. If a task is
 * still waiting when its loop is closed, `end` is not called.
 */
typedef struct coil_task_hooks {
    /*
     * Size of the state of each task, to which `state` points. The state is stored on the
     * task's stack, zeroed at first and aligned to 16 bytes.
     */
    size_t state_bytes;
    void (*enter)(void *state, void *data);
    void (*leave)(void *state, void *data);
    void (*end)(void *state, void *data);
    void *data; /* passed to each call, and shared by all tasks */
} coil_task_hooks;

/*
 * The maximum total size of the states of a task's hooks. If a task's hooks need more,
 * spawning the task fails with -EINVAL.
 *
 * Tasks get hooks from coil_spawn_opts.hooks (coil/task.h), and the main task from
 * coil_run_opts.hooks (coil/run.h): a NULL-terminated array. coil calls the `enter`
 * functions in the order of the array, and the `leave` functions in reverse order. The
 * array and the hooks are not copied, and must outlive the tasks that use them. NULL
 * means the spawner's hooks, with a new state for the child. An empty array means no
 * hooks.
 */
#define COIL_HOOK_STATES_BYTES 4096

/*
 * Hooks for OpenSSL's error queue: ERR_get_error() then returns the task's own errors
 * with their texts.
 *
 * Only programs that call OpenSSL themselves need these hooks, because coil's own TLS
 * leaves no errors in the queue. If memory runs out, an error is saved without its text.
 * If coil was built without TLS, the hooks do nothing.
 */
COIL_API const coil_task_hooks *coil_hooks_openssl_errors(void);

/*
 * Hooks for uselocale(3): each task begins with the locale of its thread, and has its own
 * locale from then on.
 */
COIL_API const coil_task_hooks *coil_hooks_locale(void);

/*
 * Hooks for the signal mask: each task begins with the mask of its thread, and has its
 * own mask from then on, which it sets with pthread_sigmask(3) or sigprocmask(2). Each
 * wait costs two more system calls. A signal to the process is delivered to a thread
 * whose current mask does not block the signal.
 */
COIL_API const coil_task_hooks *coil_hooks_signal_mask(void);

/*
 * Hooks for pthread_setcancelstate(3) and pthread_setcanceltype(3): each task begins with
 * the state and type of its thread, and then has its own state and type.
 * pthread_cancel(3) on the thread takes effect in the running task.
 */
COIL_API const coil_task_hooks *coil_hooks_cancel_state(void);

#ifdef __cplusplus
}
#endif

#endif
