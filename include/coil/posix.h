/*
 * coil/posix.h - libcoil-posix: blocking calls suspend the task they are made in.
 *
 *     cc app.c -o app $(pkg-config --cflags --libs coil-posix)
 *     LD_PRELOAD=libcoil-posix.so ./app
 *
 * There is nothing to call. In a task, read(), connect(), poll(), nanosleep(),
 * getaddrinfo() and their relatives, called by whatever library, let the other tasks run
 * while they wait; outside of tasks they are the C library's. docs/manual/posix.md has
 * the list, and what cannot be done.
 */
#ifndef COIL_POSIX_H
#define COIL_POSIX_H

#include <coil/debug.h>
#include <coil/hooks.h>

#include <unistd.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * True if blocking calls of the code that asks suspend its tasks: what it calls gets to
 * libcoil-posix, and that asks the libcoil which this code uses. False where
 * libcoil-posix was loaded by dlopen(3) or linked behind the C library, in a library that
 * was loaded with RTLD_DEEPBIND, and where the program has a libcoil.a that
 * libcoil-posix does not see (linked with libcoil-posix, it sees it). Any thread.
 *
 * The function of this name, which languages other than C and C++ call, answers for the
 * program.
 */
COIL_API bool coil_posix_active(void);

/* The same for whoever binds close(2) and coil_may_suspend() to these; calls the first
 * with -1. */
COIL_API bool coil_posix_reached(int (*close_function)(int fd),
                                 bool (*may_suspend)(void));

/*
 * Hooks that give each task its own values of pthread_getspecific(3), as a thread has:
 * NULL at first, and destroyed by the key's destructor at the task's end. For libraries
 * that keep what they do for each thread under such keys: GLib, OpenSSL, CPython before
 * 3.12. See docs/manual/posix.md, "State and ownership by thread".
 *
 *     static const coil_task_hooks *hooks[2];
 *
 *     hooks[0] = coil_hooks_thread_keys();
 *     coil_run(app, NULL, &(coil_run_opts){.hooks = hooks});
 *
 * Keys from 128 on (pthread_key_t) stay the thread's. A destructor must not wait.
 */
COIL_API const coil_task_hooks *coil_hooks_thread_keys(void);

/* In C and C++ the macro asks for the code that it stands in. */
#define coil_posix_active() coil_posix_reached(close, coil_may_suspend)

#ifdef __cplusplus
}
#endif

#endif
