/*
 * coil/coro.h - bare coroutines: separate stacks and switches between them, without a
 * loop.
 *
 *     static void *twice(void *arg)
 *     {
 *         for (intptr_t n = (intptr_t)arg;; n *= 2)
 *             if (coil_coro_suspend((void *)n) == NULL)
 *                 return NULL;
 *     }
 *
 * Any function may create and resume this coroutine:
 *
 *     coil_coro *c;
 *     int rc = coil_coro_create(twice, (void *)3, NULL, &c);
 *     if (rc < 0)
 *         return rc;
 *     coil_coro_resume(c, "go");      // 3
 *     coil_coro_resume(c, "go");      // 6
 *     coil_coro_resume(c, NULL);      // NULL, and it is done
 *     coil_coro_destroy(c);
 *
 * Coroutines are the lowest layer of coil, on which other primitives are built. Most
 * programs use generators (coil/gen.h) or tasks (coil/task.h). Any function may resume a
 * coroutine, but only on the thread that created it. Pointers into its stack stay valid
 * while it is suspended.
 */
#ifndef COIL_CORO_H
#define COIL_CORO_H

#include <coil/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct coil_coro coil_coro;

/*
 * The function that a coroutine runs, called its body. The body's return value becomes
 * the result of the last coil_coro_resume().
 */
typedef void *(*coil_coro_fn)(void *arg);

typedef struct coil_coro_opts {
    size_t stack_bytes; /* 0 means COIL_STACK_BYTES; rounded up to a power of two */
} coil_coro_opts;

/*
 * The default size of a stack in address space. Memory is committed only when it is used.
 */
#define COIL_STACK_BYTES ((size_t)128 * 1024)

/*
 * Create a suspended coroutine. `fn` starts at the first resume.
 *
 * The caller owns *out and destroys it with coil_coro_destroy(). Fails with -ENOMEM if no
 * stack is available, or with -EINVAL if stack_bytes is above 1 GiB.
 */
COIL_API COIL_CHECKED int coil_coro_create(coil_coro_fn fn, void *arg,
                                           const coil_coro_opts *opts, coil_coro **out);

/*
 * Run the coroutine until it suspends or its body returns. Returns the value that was
 * passed to coil_coro_suspend(), or the body's return value.
 *
 * `value` becomes the result of the coil_coro_suspend() in which the coroutine is
 * suspended. The value of the first resume is ignored. Aborts if the coroutine is done or
 * already running: check with coil_coro_done() and coil_coro_running().
 */
COIL_API void *coil_coro_resume(coil_coro *coro, void *value);

/*
 * Suspend the running coroutine: the coil_coro_resume() that resumed it returns `value`.
 * Returns the value of the next resume. Aborts outside a coroutine, and in a task's own
 * body.
 */
COIL_API void *coil_coro_suspend(void *value);

/* True once the body has returned. */
COIL_API bool coil_coro_done(const coil_coro *coro);

/*
 * True while the coroutine is running, including while another coroutine that it resumed
 * is running.
 */
COIL_API bool coil_coro_running(const coil_coro *coro);

/*
 * Free the coroutine and its stack. NULL is accepted. The program aborts if the coroutine
 * has begun and is not done, because the resources of its frames would leak.
 */
COIL_API void coil_coro_destroy(coil_coro *coro);

#ifdef __cplusplus
}
#endif

#endif
