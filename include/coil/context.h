/*
 * coil/context.h - task-local variables.
 *
 * Task-local variables hold, for example, the request's ID, the user or the language, for
 * functions that do not get these values as arguments. (Python: contextvars)
 *
 *     static coil_var request_id = COIL_VAR_INIT("request_id", NULL);
 *
 *     coil_var_token token;
 *     rc = coil_var_set(&request_id, id, &token);
 *     if (rc < 0)
 *         return rc;
 *     rc = serve(client);                  // coil_var_get(&request_id), anywhere in it
 *     coil_var_reset(&request_id, &token);
 *
 * Each value belongs to a CONTEXT. Every task has its own context, which begins as a copy
 * of its spawner's. The task sees the values that were set before the spawn. Values that
 * the task sets are visible only to itself and to its children.
 *
 * Callbacks run in a copy of the context in which they were requested. This applies to
 * coil_call_soon(), coil_call_later(), coil_call_at(), coil_post(), coil_blocking(), done
 * callbacks, readers and writers. A runner (coil/run.h) has one context for all its runs.
 * All other code, including the callbacks of coil_timer, uses its thread's context.
 *
 * Copying a context is O(1). Setting a variable is O(n) in the number of variables that
 * are set. So use only a few variables, and set them rarely. Contexts cost nothing in a
 * program that sets no variables.
 */
#ifndef COIL_CONTEXT_H
#define COIL_CONTEXT_H

#include <coil/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A variable, usually static. The variable must outlive every context in which it is set.
 * (Python: ContextVar)
 *
 * `retain` and `release` maintain a reference count for values other than NULL. coil
 * calls retain(value) when another context shares the value, and ignores its result. coil
 * calls release(value) when a context drops the value. Set both to NULL if the value
 * outlives the contexts, or is an integer. If a context is used on several threads
 * (coil_post(), coil_blocking()), `retain` and `release` may be called on any of these
 * threads. The program aborts if one of the two functions would suspend.
 */
typedef struct coil_var {
    const char *name; /* for debugging */
    void *initial;    /* the value in a context that does not set the variable */
    void *(*retain)(void *value);
    void (*release)(void *value);
} coil_var;

/* clang-format off */
#define COIL_VAR_INIT(name, initial) {name, initial, NULL, NULL}
/* clang-format on */

/*
 * Stores the value that a call of coil_var_set() replaced, for coil_var_reset().
 * Allocated by the caller; all members are private to coil.
 */
typedef struct coil_var_token {
    void *private_[4];
} coil_var_token;

typedef struct coil_context coil_context;

/*
 * Return the value in the current context; borrowed until the variable is set or reset
 * there.
 */
COIL_API void *coil_var_get(const coil_var *var);

/*
 * Set the variable in the current context, which retains the value. (Python:
 * ContextVar.set)
 *
 * If `token` is not NULL, the old value is stored in it, and the token must be passed to
 * coil_var_reset(). Fails with -ENOMEM without changing the variable.
 */
COIL_API COIL_CHECKED int coil_var_set(const coil_var *var, void *value,
                                       coil_var_token *token);

/*
 * Restore the value that the variable had before the call of coil_var_set() that filled
 * in this token. If the variable was unset before, it is unset again. (Python:
 * ContextVar.reset)
 *
 * If sets and resets are properly nested, the call never allocates memory, and returns 0.
 * Otherwise it may fail with -ENOMEM without changing anything, and the token may be used
 * again. Aborts if the token belongs to another context or variable, or was already used.
 */
COIL_API int coil_var_reset(const coil_var *var, coil_var_token *token);

/*
 * Copy the current context, in O(1). Returns a reference, which the caller releases, or
 * NULL if memory runs out. (Python: copy_context)
 *
 * Pass the copy to coil_context_run() or coil_spawn_opts.context. Code that runs in the
 * copy sets its variables in the copy. Only one thread at a time may use the copy.
 */
COIL_API coil_context *coil_context_copy(void);

/* Add a reference, to be dropped with coil_context_release(). Returns the context. */
COIL_API coil_context *coil_context_retain(coil_context *context);

/* Drop a reference; NULL is accepted. */
COIL_API void coil_context_release(coil_context *context);

/*
 * Call fn(arg) in the context and return its result. (Python: Context.run)
 *
 * `fn` may suspend if the caller may. Unlike in Python, a context may be in use several
 * times at once, even by several tasks, which then see each other's values.
 */
COIL_API int coil_context_run(coil_context *context, int (*fn)(void *arg), void *arg);

#ifdef __cplusplus
}
#endif

#endif
