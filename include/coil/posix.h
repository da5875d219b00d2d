/*
 * coil/posix.h - libcoil-posix: blocking calls suspend only the calling task.
 *
 *     cc app.c -o app $(pkg-config --cflags --libs coil-posix)
 *     LD_PRELOAD=libcoil-posix.so ./app
 *
 * Existing code need not be changed. In a task, read(), connect(), poll(), nanosleep(),
 * getaddrinfo() and similar functions let other tasks run while they wait, whichever
 * library calls them. Outside tasks they are the C library's functions.
 * docs/manual/posix.md lists these functions and their limits.
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
 * True if blocking calls in the calling code suspend only the calling task. This requires
 * that the calls reach libcoil-posix, and that libcoil-posix uses the same libcoil as the
 * calling code. May be called on any thread.
 *
 * So the result is false if libcoil-posix was loaded with dlopen(3) or linked after the C
 * library. The result is also false if the calling library was loaded with RTLD_DEEPBIND,
 * or if libcoil-posix does not see the program's libcoil.a. To avoid the last case, link
 * the program with libcoil-posix.
 *
 * In C and C++ this name is a macro. Other languages call the function, whose result
 * applies to the calls of the program itself rather than of the calling library.
 */
COIL_API bool coil_posix_active(void);

/*
 * Like coil_posix_active(), but for the code that passes the addresses of the close(2)
 * and coil_may_suspend() that its calls reach. Calls close_function(-1).
 */
COIL_API bool coil_posix_reached(int (*close_function)(int fd),
                                 bool (*may_suspend)(void));

/*
 * Hooks that give each task its own values of pthread_getspecific(3), as if it were a
 * thread: each value is NULL at first, and is destroyed by the key's destructor when the
 * task ends. These hooks serve libraries that store the state of each thread under such
 * keys: GLib, OpenSSL, CPython before 3.12. See docs/manual/posix.md, "State and
 * ownership by thread".
 *
 *     static const coil_task_hooks *hooks[2];
 *
 *     hooks[0] = coil_hooks_thread_keys();
 *     rc = coil_run(app, NULL, &(coil_run_opts){.hooks = hooks});
 *
 * Keys (pthread_key_t) numbered 128 or above still have one value per thread. A
 * destructor must not wait.
 */
COIL_API const coil_task_hooks *coil_hooks_thread_keys(void);

/*
 * Hooks that give each task its own thread-local variables (_Thread_local, thread_local)
 * of one library, as if it were a thread: the variables have their initial values when
 * the task begins, and are destroyed when the task ends. `address` is any function or
 * static variable of that library. For example, these hooks are necessary if two tasks of
 * one thread use Rust's thread::park().
 *
 *     static const coil_task_hooks *hooks[2];
 *
 *     hooks[0] = coil_hooks_thread_locals((const void *)parse_with_rust);
 *     rc = coil_run(app, NULL, &(coil_run_opts){.hooks = hooks});
 *
 * Returns NULL if the library has no thread-local variables, or too many for
 * COIL_HOOK_STATES_BYTES. Also returns NULL for the C library, for libcoil or a program
 * that contains libcoil.a, for excluded libraries (see below), and after 16 libraries.
 * Each wait of a task copies the variables. A destructor must not wait. The library must
 * not be unloaded while a task has the hooks. May be called on any thread.
 */
COIL_API const coil_task_hooks *coil_hooks_thread_locals(const void *address);

/*
 * Let all calls by one library block the thread, as outside of tasks. `address` is any
 * function or static variable of that library.
 *
 * Use this function for a library that no task may enter while another task is waiting
 * inside it. A garbage collector is such a library: it waits for its own threads while it
 * marks objects, and another task would change these objects. The library that defines
 * malloc() is excluded already.
 *
 *     rc = coil_posix_exclude((const void *)GC_malloc);
 *
 * A task must not be suspended in a callback of such a library while the library holds a
 * lock, because the next task that acquires the lock would block the thread forever.
 *
 * Returns 0, even if the library was already excluded. Fails with -EINVAL if the address
 * belongs to the program itself or to no library. Fails with -ENOSPC if eight libraries
 * are excluded, including the one that defines malloc(). The library must not be unloaded
 * afterwards. Does not suspend. May be called on any thread, and takes effect at once.
 */
COIL_API int coil_posix_exclude(const void *address);

/*
 * The macro passes the addresses of the functions that the calling code itself reaches.
 */
#define coil_posix_active() coil_posix_reached(close, coil_may_suspend)

#ifdef __cplusplus
}
#endif

#endif
