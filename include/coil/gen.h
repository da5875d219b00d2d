/*
 * coil/gen.h - generators with all features of Python's generators, without a loop.
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
 * Any function may create this generator and take its values:
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
 * A generator is a coroutine that also supports throw, close and delegation. A generator
 * runs on the thread that created it. Any function that has a pointer to the generator
 * may resume it, inside or outside a task. The body may call functions that yield values
 * for the generator, at any depth. If the body waits, the task that resumed the generator
 * is suspended, and later continues inside the generator.
 *
 * Where Python raises an exception, coil returns a negative errno. coil_gen_throw() makes
 * the yield return that errno. If the body returns a negative errno, the generator has
 * failed with that errno. GeneratorExit is -ECANCELED.
 */
#ifndef COIL_GEN_H
#define COIL_GEN_H

#include <coil/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct coil_gen coil_gen;

/*
 * The body of a generator. A body that returns 0 or more ends normally (StopIteration),
 * with the value set by coil_gen_return(). A negative errno is the body's failure, which
 * the caller that resumed the generator receives.
 */
typedef int (*coil_gen_fn)(coil_gen *gen, void *arg);

typedef struct coil_gen_opts {
    size_t stack_bytes; /* 0 means COIL_STACK_BYTES */
} coil_gen_opts;

/*
 * Results of resuming a generator: the generator has yielded a value and is suspended, or
 * the body has ended.
 */
#define COIL_GEN_YIELDED 1
#define COIL_GEN_ENDED 0

typedef enum coil_gen_state {
    COIL_GEN_CREATED,   /* the body has not begun */
    COIL_GEN_SUSPENDED, /* the generator is suspended in a yield */
    COIL_GEN_RUNNING,   /* the body is running, or its task waits inside it */
    COIL_GEN_CLOSED     /* the body has returned */
} coil_gen_state;

/*
 * Create a generator; its body begins at the first coil_gen_next(). The caller owns *out.
 * Fails with -ENOMEM or -EINVAL (stack_bytes).
 */
COIL_API COIL_CHECKED int coil_gen_create(coil_gen_fn fn, void *arg,
                                          const coil_gen_opts *opts, coil_gen **out);

/*
 * Resume the generator until it yields or ends. (Python: next(gen))
 *
 * Returns COIL_GEN_YIELDED with the yielded value in *value. When the body ends, returns
 * COIL_GEN_ENDED with the generator's return value, or the body's negative errno. Later
 * calls return COIL_GEN_ENDED with NULL, where Python raises StopIteration.
 *
 * Fails with -EBUSY if the generator is running, if the task that resumed it is suspended
 * inside it, or if it delegates to such a generator. `value` may be NULL. Suspends only
 * if the body waits.
 */
COIL_SUSPENDS int coil_gen_next(coil_gen *gen, void **value);

/*
 * Like coil_gen_next(), but `sent` becomes the result of the yield in which the generator
 * is suspended. (Python: gen.send)
 *
 * Before the first yield `sent` must be NULL; otherwise the result is -EINVAL.
 */
COIL_SUSPENDS int coil_gen_send(coil_gen *gen, void *sent, void **value);

/*
 * Like coil_gen_next(), but the yield in which the generator is suspended returns
 * `error`, a negative errno. (Python: gen.throw)
 *
 * A generator that has not begun ends, and the call returns `error`. If the generator has
 * already ended, the call only returns `error`. Fails with -EINVAL if `error` is not
 * negative.
 */
COIL_SUSPENDS int coil_gen_throw(coil_gen *gen, int error, void **value);

/*
 * Make the body end, by throwing -ECANCELED into it. (Python: gen.close)
 *
 * Returns 0 if the body ended normally or with -ECANCELED, and also if it had not begun
 * or had already ended. If the body failed with another errno, returns that errno. If the
 * body yielded instead, the result is -EPROTO ("generator ignored GeneratorExit"), and
 * the generator is suspended again.
 */
COIL_SUSPENDS int coil_gen_close(coil_gen *gen);

/*
 * Close the generator if necessary and free it; NULL is accepted. Aborts if the body is
 * running, or if it yields twice instead of ending, because the resources of its frames
 * would leak.
 */
COIL_SUSPENDS void coil_gen_destroy(coil_gen *gen);

/*
 * Yield `value` from the innermost running generator. May be called at any depth of its
 * body. (Python: yield)
 *
 * Returns 0, or the negative errno that was passed to coil_gen_throw(). If `sent` is not
 * NULL, *sent receives the value that was sent, or NULL. Fails with -EPERM outside a
 * generator.
 */
COIL_API int coil_gen_yield(void *value, void **sent);

/*
 * Delegate to `inner` until it ends. (Python: yield from)
 *
 * Values that `inner` yields go directly to the caller that resumes the running
 * generator. Values that this caller sends or throws go directly to `inner`. The cost
 * does not depend on the depth of delegation.
 *
 * Returns COIL_GEN_ENDED with the return value of `inner` in *result (which may be NULL),
 * or its negative errno. Fails with -EBUSY if `inner` is running or another generator
 * delegates to it, or with -EPERM outside a generator. The caller still owns `inner`.
 */
COIL_API int coil_gen_yield_from(coil_gen *inner, void **result);

/* Set the value that the generator returns if it ends normally. (Python: return value) */
COIL_API void coil_gen_return(coil_gen *gen, void *value);

/* Return the state. (Python: inspect.getgeneratorstate) */
COIL_API coil_gen_state coil_gen_get_state(const coil_gen *gen);

/* Return the generator to which `gen` delegates, or NULL. (Python: gi_yieldfrom) */
COIL_API coil_gen *coil_gen_delegate(const coil_gen *gen);

#ifdef __cplusplus
}
#endif

#endif
