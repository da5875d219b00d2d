/*
 * coil/gen.h - generators: Python's, whole, without a loop.
 *
 *     static int count(coil_gen *g, void *arg)
 *     {
 *         (void)g;
 *         for (intptr_t i = 1; i <= (intptr_t)arg; i++) {
 *             int rc = coil_gen_yield((void *)i, NULL);
 *             if (rc < 0)
 *                 return rc;          // thrown in, or closed
 *         }
 *         return 0;
 *     }
 *
 * Any function may create it and take its values:
 *
 *     coil_gen *g;
 *     void *value;
 *     int rc = coil_gen_create(count, (void *)3, NULL, &g);
 *     if (rc < 0)
 *         return rc;
 *     while (coil_gen_next(g, &value) == COIL_GEN_YIELDED)
 *         printf("%ld\n", (long)(intptr_t)value);
 *     coil_gen_destroy(g);
 *
 * A generator is a coroutine that can also be thrown into, closed and delegated to.
 * It runs on the thread that created it, resumed by any function that holds it, task
 * or not. Any function that its body calls, however deep, may yield for it. A body
 * may await: then the task that drives the generator is suspended as a whole, and
 * goes on inside the generator.
 *
 * Where Python raises, coil returns a negative errno: `throw` makes the yield return
 * it, and a body that returns one has failed with it. GeneratorExit is -ECANCELED.
 */
#ifndef COIL_GEN_H
#define COIL_GEN_H

#include <coil/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct coil_gen coil_gen;

/*
 * The body. 0 or more ends it normally (StopIteration), with the value set by
 * coil_gen_return(); a negative errno is its failure and reaches whoever resumed it.
 */
typedef int (*coil_gen_fn)(coil_gen *gen, void *arg);

typedef struct coil_gen_opts {
    size_t stack_bytes; /* 0 means COIL_STACK_BYTES */
} coil_gen_opts;

/* What resuming returns: the generator gave a value and is suspended, or it ended. */
#define COIL_GEN_YIELDED 1
#define COIL_GEN_ENDED 0

typedef enum coil_gen_state {
    COIL_GEN_CREATED,   /* its body has not begun */
    COIL_GEN_SUSPENDED, /* it stands in a yield */
    COIL_GEN_RUNNING,   /* it runs, or the task that drives it waits inside it */
    COIL_GEN_CLOSED     /* its body has returned */
} coil_gen_state;

/*
 * Create a generator; its body begins at the first next. The caller owns *out.
 * Fails with -ENOMEM or -EINVAL (stack_bytes).
 */
COIL_API int coil_gen_create(coil_gen_fn fn, void *arg, const coil_gen_opts *opts,
                             coil_gen **out);

/*
 * Run to the next yield. (Python: next(gen))
 *
 * Returns COIL_GEN_YIELDED with the yielded value in *value, COIL_GEN_ENDED with the
 * returned value there (NULL at every later call, as with Python's StopIteration), or
 * the body's negative errno. -EBUSY: it is running, or its driver is suspended inside
 * it; or it delegates to a generator that is. `value` may be NULL. Suspends only if
 * the body awaits.
 */
COIL_SUSPENDS int coil_gen_next(coil_gen *gen, void **value);

/*
 * As next, and `sent` becomes the result of the yield it stands in. (Python: gen.send)
 *
 * A generator that has not begun stands in no yield: -EINVAL unless sent is NULL.
 */
COIL_SUSPENDS int coil_gen_send(coil_gen *gen, void *sent, void **value);

/*
 * As next, but the yield it stands in returns `error`, a negative errno. (Python:
 * gen.throw)
 *
 * Thrown into one that has not begun, `error` ends it and is returned; into one that
 * has ended, it is returned. -EINVAL if error is not negative.
 */
COIL_SUSPENDS int coil_gen_throw(coil_gen *gen, int error, void **value);

/*
 * Throw -ECANCELED and expect the body to end. (Python: gen.close)
 *
 * Returns 0 if it ended, normally or with -ECANCELED; its errno if it failed
 * otherwise; -EPROTO if it yielded instead ("generator ignored GeneratorExit"): it is
 * suspended again then. One that has not begun or has ended: 0 and closed.
 */
COIL_SUSPENDS int coil_gen_close(coil_gen *gen);

/*
 * Close it if need be and free it; NULL is accepted. A body that ignores the exit
 * twice, and one that is running, stop the program: its frames would be lost.
 */
COIL_SUSPENDS void coil_gen_destroy(coil_gen *gen);

/*
 * Yield `value` from the innermost running generator, called at any depth of its
 * body. (Python: yield)
 *
 * Returns 0, with what was sent (or NULL) in *sent if that is not NULL; or the
 * negative errno thrown in. Outside any generator: -EPERM.
 */
COIL_API int coil_gen_yield(void *value, void **sent);

/*
 * Delegate to `inner` until it ends. (Python: yield from)
 *
 * What it yields goes straight to whoever resumes the running generator, and what
 * they send or throw straight to it, at the same cost at any depth of delegation. Returns
 * COIL_GEN_ENDED with its returned value in *result (NULL allowed), or its negative
 * errno. -EBUSY if it is running, or another generator delegates to it; -EPERM outside
 * any generator. `inner` remains the caller's.
 */
COIL_API int coil_gen_yield_from(coil_gen *inner, void **result);

/* Set the value that goes with a normal end. (Python: return value) */
COIL_API void coil_gen_return(coil_gen *gen, void *value);

/* The state. (Python: inspect.getgeneratorstate) */
COIL_API coil_gen_state coil_gen_get_state(const coil_gen *gen);

/* The generator it delegates to, or NULL. (Python: gi_yieldfrom) */
COIL_API coil_gen *coil_gen_delegate(const coil_gen *gen);

#ifdef __cplusplus
}
#endif

#endif
