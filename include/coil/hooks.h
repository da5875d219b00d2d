/*
 * coil/hooks.h - make a library's thread-local state task-local.
 *
 *     static const coil_task_hooks *const hooks[] = {&interpreter_hooks, NULL};
 *
 *     coil_spawn_opts opts = {.hooks = hooks};
 *     coil_spawn(run_script, "a", &opts, NULL);
 *     coil_spawn(run_script, "b", &opts, NULL);
 *
 * Many libraries keep state for each thread: the current interpreter, the last error, the
 * locale. All tasks of a thread share that state, so one task finds what another has set.
 * Hooks are called when a task is switched to and when it is left: they install the
 * task's own state in the thread, and save it again.
 *
 * They cost nothing where no task of the thread has any. errno and the exceptions of C++
 * need no hooks: coil keeps them for each task.
 */
#ifndef COIL_HOOKS_H
#define COIL_HOOKS_H

#include <coil/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * `enter` is called before the task's body begins, and each time before it goes on;
 * `leave` each time it is left to wait, wherever in it that is, be it in a generator; and
 * once more after the body and what it deferred: then `end` instead, where it is not
 * NULL. So they are called in turns, on the task's own stack, as the running task. They
 * must not wait, which stops the program, nor spawn; they may change errno.
 *
 * A task that is cancelled before its first step is never entered. One that still waits
 * when its loop is closed has been left, and is not ended.
 */
typedef struct coil_task_hooks {
    size_t state_bytes; /* of memory for each task, 16-aligned, zeroed at first, that lies
                           on its stack: what `state` points to */
    void (*enter)(void *state, void *data);
    void (*leave)(void *state, void *data);
    void (*end)(void *state, void *data);
    void *data; /* the same for all tasks */
} coil_task_hooks;

/*
 * Where a task gets them: coil_spawn_opts.hooks (coil/task.h), and for the main task
 * coil_run_opts.hooks (coil/run.h), an array that ends with NULL. They are entered in
 * that order and left in the opposite one. Array and hooks are not copied: they must stay
 * as long as a task that has them. NULL means those of the spawner, as with a context, in
 * a state of the child's own; an empty array means none. The states may take
 * COIL_HOOK_STATES_BYTES in all, or spawning fails with -EINVAL.
 */
#define COIL_HOOK_STATES_BYTES 4096

/*
 * OpenSSL's error queue: ERR_get_error() finds the task's own errors, with their texts.
 * Only for programs that call OpenSSL themselves: coil's own TLS leaves nothing there.
 * Where a text cannot be kept for lack of memory, its error is kept without. Does nothing
 * where coil was built without TLS.
 */
COIL_API const coil_task_hooks *coil_hooks_openssl_errors(void);

/* uselocale(3): a task begins with the locale of its thread, and keeps what it sets. */
COIL_API const coil_task_hooks *coil_hooks_locale(void);

/*
 * The signal mask: a task begins with that of its thread, and keeps what it sets by
 * pthread_sigmask(3) or sigprocmask(2). Costs two system calls for each wait. A signal to
 * the process is delivered to a thread whose current mask lets it in.
 */
COIL_API const coil_task_hooks *coil_hooks_signal_mask(void);

/* pthread_setcancelstate(3) and pthread_setcanceltype(3): a task begins with those of its
 * thread. pthread_cancel(3) of the thread acts in the task that runs. */
COIL_API const coil_task_hooks *coil_hooks_cancel_state(void);

#ifdef __cplusplus
}
#endif

#endif
