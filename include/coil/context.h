/*
 * coil/context.h - task-local variables.
 *
 * They hold the request's id, the user, the language, for functions that do not get them
 * as arguments. (Python: contextvars)
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
 * Values belong to a CONTEXT. Every task has a context of its own, which begins as a copy
 * of its spawner's: the task sees the values set before the spawn, and only the task and
 * its own children see the values that it sets. Callbacks, too, run in a copy of the
 * context in which they were requested: those of coil_call_soon(), coil_call_later(),
 * coil_call_at(), coil_post() and coil_blocking(), done callbacks, readers and writers. A
 * runner (coil/run.h) has one context for all its runs. All other code, coil_timer's
 * callbacks included, uses its thread's context.
 *
 * Copying is O(1), setting O(n) in the number of variables that are set: this is for a
 * few variables that are seldom set. A program that sets none pays nothing.
 */
#ifndef COIL_CONTEXT_H
#define COIL_CONTEXT_H

#include <coil/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A variable; mostly static. It must outlive every context in which it is set. (Python:
 * ContextVar)
 *
 * retain(value), whose result is not used, and release(value) are called as contexts come
 * to share a value, other than NULL, and let go of it; they are NULL where the value
 * outlives the contexts, or is a number in disguise. Where a context crosses threads
 * (coil_post(), coil_blocking()) they are called on any of them. If one would suspend,
 * the program stops.
 */
typedef struct coil_var {
    const char *name; /* for debugging */
    void *initial;    /* its value where it is not set */
    void *(*retain)(void *value);
    void (*release)(void *value);
} coil_var;

/* clang-format off */
#define COIL_VAR_INIT(name, initial) {name, initial, NULL, NULL}
/* clang-format on */

/* The way back from one coil_var_set(). The caller's memory, the fields are coil's own.
 */
typedef struct coil_var_token {
    void *private_[4];
} coil_var_token;

typedef struct coil_context coil_context;

/* Its value in the current context; borrowed until it is set there, or reset. */
COIL_API void *coil_var_get(const coil_var *var);

/*
 * Set it in the current context, which retains the value. Fails with -ENOMEM; then
 * nothing has changed. (Python: ContextVar.set)
 *
 * A token that was asked for keeps the old value, and must be given to coil_var_reset();
 * `token` may be NULL.
 */
COIL_API int coil_var_set(const coil_var *var, void *value, coil_var_token *token);

/*
 * Give it back the value, or the lack of one, that it had before the set the token is of.
 * (Python: ContextVar.reset)
 *
 * Allocates nothing and returns 0 if the set was the last one in the context that was not
 * reset: where they nest, that is always so. Otherwise it fails with -ENOMEM where memory
 * does: nothing has changed, and the token is good for another try. A token of another
 * context or variable, or one that was used, stops the program.
 */
COIL_API int coil_var_reset(const coil_var *var, coil_var_token *token);

/*
 * A copy of the current context, O(1), as a reference to release. NULL: no memory.
 * (Python: copy_context)
 *
 * It is for coil_context_run() and coil_spawn_opts.context: those run in it, and what
 * they set stays in it. To be used by one thread at a time.
 */
COIL_API coil_context *coil_context_copy(void);

/* One more reference, for coil_context_release(). */
COIL_API coil_context *coil_context_retain(coil_context *context);

/* Drop a reference; NULL is accepted. */
COIL_API void coil_context_release(coil_context *context);

/*
 * Call fn(arg) in the context and return what it returned. (Python: Context.run)
 *
 * fn may suspend, if the caller may. Unlike Python's, a context may be entered where it
 * is entered already, by others too: they see what each other sets.
 */
COIL_API int coil_context_run(coil_context *context, int (*fn)(void *arg), void *arg);

#ifdef __cplusplus
}
#endif

#endif
