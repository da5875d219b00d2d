/*
 * context.c - context variables: variables with a separate value in each task.
 *
 *   task ------> slot -- own ------> bindings: {var, value} {var, value} ...
 *   call ------> slot -- own ---------^           immutable, counted
 *   runner ----> coil_context ----> bindings
 *                     ^
 *   task ------> slot -- entered
 *
 * The bindings of a context (variables with their values) are immutable: setting a
 * variable replaces them with a changed copy. So contexts can share bindings, even
 * between threads, and copying a context only increments a reference count. Running code
 * finds its bindings in a slot: the slot's own bindings, or those of the context that was
 * entered with coil_context_run().
 *
 * The token that coil_var_set() returns refers to the old bindings. If no other variable
 * was changed since then, coil_var_reset() puts them back, without an allocation.
 * (Bindings are an array, which is best for a few variables. Python uses a hash tree,
 * which is better for many.)
 */
#include "context.h"

#include <pthread.h>

struct binding {
    const coil_var *var;
    void *value;
};

struct coil__bindings {
    _Atomic unsigned refs;
    unsigned count; /* 1 or more */
    struct binding entries[];
};

struct coil_context {
    struct coil__bindings *bindings;
    void *unused;          /* see coil__misuse_gone() */
    _Atomic unsigned refs; /* 0 once freed */
};

_Atomic bool coil__context_used;

static COIL__THREAD_LOCAL const struct coil__context_tasks *tasks;

void coil__context_set_tasks(const struct coil__context_tasks *of_thread)
{
    tasks = of_thread;
}

/*
 * Call fn(arg), which retains or releases the values of bindings. These calls of the
 * program's functions must not wait, because another task could use the bindings in the
 * meantime.
 */
static void call_unsuspended(void (*fn)(void *arg), void *arg)
{
    if (tasks != NULL)
        tasks->call_unsuspended(fn, arg);
    else
        fn(arg);
}

/* ---- bindings ---------------------------------------------------------------------- */

struct coil__bindings *coil__bindings_retain(struct coil__bindings *bindings)
{
    if (bindings != NULL)
        atomic_fetch_add_explicit(&bindings->refs, 1, memory_order_relaxed);
    return bindings;
}

static void release_values(void *arg)
{
    const struct coil__bindings *bindings = arg;

    for (unsigned i = 0; i < bindings->count; i++) {
        const struct binding *entry = &bindings->entries[i];

        if (entry->value != NULL && entry->var->release != NULL)
            entry->var->release(entry->value);
    }
}

void coil__bindings_release(struct coil__bindings *bindings)
{
    if (bindings == NULL || atomic_fetch_sub(&bindings->refs, 1) != 1)
        return;
    call_unsuspended(release_values, bindings);
    coil__free(bindings);
}

static const struct binding *find_binding(const struct coil__bindings *bindings,
                                          const coil_var *var)
{
    for (unsigned i = 0; bindings != NULL && i < bindings->count; i++)
        if (bindings->entries[i].var == var)
            return &bindings->entries[i];
    return NULL;
}

static void retain_values(void *arg)
{
    const struct coil__bindings *bindings = arg;

    for (unsigned i = 0; i < bindings->count; i++) {
        const struct binding *entry = &bindings->entries[i];

        if (entry->value != NULL && entry->var->retain != NULL)
            entry->var->retain(entry->value);
    }
}

/*
 * Copy the bindings `old` to *out, with `binding` instead of the old binding of `var`, or
 * without `var` if `binding` is NULL. Sets *out to NULL if no bindings remain. Fails with
 * -ENOMEM.
 */
static int rebind(const struct coil__bindings *old, const coil_var *var,
                  const struct binding *binding, struct coil__bindings **out)
{
    unsigned old_count = old != NULL ? old->count : 0;
    struct coil__bindings *made;

    *out = NULL;
    if (binding == NULL &&
        (old_count == 0 || (old_count == 1 && find_binding(old, var) != NULL)))
        return 0;
    made = coil__alloc(sizeof *made + (old_count + 1) * sizeof made->entries[0]);
    if (made == NULL)
        return coil__failed(-ENOMEM);
    atomic_init(&made->refs, 1);
    made->count = 0;
    if (binding != NULL)
        made->entries[made->count++] = *binding;
    for (unsigned i = 0; i < old_count; i++)
        if (old->entries[i].var != var)
            made->entries[made->count++] = old->entries[i];
    call_unsuspended(retain_values, made);
    *out = made;
    return 0;
}

/* ---- slots ------------------------------------------------------------------------- */

static COIL__THREAD_LOCAL struct coil__context_slot of_thread;
COIL__THREAD_LOCAL struct coil__context_slot *coil__context_ambient = NULL;

static struct coil__context_slot *current_slot(void)
{
    struct coil__context_slot *slot = tasks != NULL ? tasks->slot() : NULL;

    if (slot == NULL)
        slot = coil__context_ambient;
    return slot != NULL ? slot : &of_thread;
}

/* Return the address at which the pointer to the current bindings is stored. */
static struct coil__bindings **current_bindings(void)
{
    struct coil__context_slot *slot = current_slot();

    return slot->entered != NULL ? &slot->entered->bindings : &slot->own;
}

struct coil__bindings *coil__context_capture_used(void)
{
    return coil__bindings_retain(*current_bindings());
}

/* A key whose destructor releases the bindings in `of_thread` when the thread ends. */
static pthread_key_t exit_key;

static void finish_slot(void *slot)
{
    coil__context_slot_finish(slot);
}

static void create_exit_key(void)
{
    pthread_key_create(&exit_key, finish_slot);
}

static void note_use(struct coil__bindings *const *place)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    atomic_store_explicit(&coil__context_used, true, memory_order_relaxed);
    if (place != &of_thread.own)
        return;
    pthread_once(&once, create_exit_key);
    pthread_setspecific(exit_key, &of_thread);
}

/* ---- variables --------------------------------------------------------------------- */

struct token {
    struct coil__bindings **place; /* NULL once the token was used */
    const coil_var *var;
    struct coil__bindings *before, *after; /* references */
};

_Static_assert(sizeof(struct token) == sizeof(coil_var_token),
               "coil_var_token has another size");

void *coil_var_get(const coil_var *var)
{
    COIL__REQUIRE(var, "a variable");
    const struct binding *binding = NULL;

    if (coil__context_is_used())
        binding = find_binding(*current_bindings(), var);
    return binding != NULL ? binding->value : var->initial;
}

int coil_var_set(const coil_var *var, void *value, coil_var_token *token)
{
    COIL__REQUIRE(var, "a variable");
    struct coil__bindings **place = current_bindings(), *before = *place, *after;
    int rc = rebind(before, var, &(struct binding){var, value}, &after);

    if (rc < 0)
        return rc;
    note_use(place);
    *place = after;
    if (token != NULL)
        *(struct token *)token =
            (struct token){place, var, before, coil__bindings_retain(after)};
    else
        coil__bindings_release(before);
    return 0;
}

int coil_var_reset(const coil_var *var, coil_var_token *token)
{
    COIL__REQUIRE(var, "a variable");
    COIL__REQUIRE(token, "a token");
    struct token *t = (struct token *)token;
    struct coil__bindings **place = current_bindings(), *replaced = *place, *restored;
    int rc;

    if (t->place == NULL)
        coil__misuse("coil_var_reset: the token of '%s' was already used", var->name);
    if (t->place != place || t->var != var)
        coil__misuse("coil_var_reset: the token belongs to another context or variable "
                     "than '%s' here",
                     var->name);
    if (replaced == t->after) {
        restored = t->before;
    } else {
        rc = rebind(replaced, var, find_binding(t->before, var), &restored);
        if (rc < 0)
            return rc;
        coil__bindings_release(t->before);
    }
    t->place = NULL;
    *place = restored;
    coil__bindings_release(t->after);
    coil__bindings_release(replaced);
    return 0;
}

/* ---- contexts ---------------------------------------------------------------------- */

coil_context *coil_context_copy(void)
{
    coil_context *context = coil__alloc(sizeof *context);

    if (context == NULL) {
        coil__note_failure(-ENOMEM);
        return NULL;
    }
    atomic_init(&context->refs, 1);
    context->bindings = coil__bindings_retain(*current_bindings());
    return context;
}

coil_context *coil_context_retain(coil_context *context)
{
    COIL__REQUIRE(context, "a context");
    if (atomic_fetch_add_explicit(&context->refs, 1, memory_order_relaxed) == 0)
        coil__misuse_gone("coil_context_retain");
    return context;
}

void coil_context_release(coil_context *context)
{
    unsigned before = context != NULL ? atomic_fetch_sub(&context->refs, 1) : 2;

    if (COIL__UNLIKELY(before == 0))
        coil__misuse_gone("coil_context_release");
    if (before > 1)
        return;
    coil__bindings_release(context->bindings);
    coil__free_object(context);
}

int coil_context_run(coil_context *context, int (*fn)(void *arg), void *arg)
{
    COIL__REQUIRE(context, "a context");
    COIL__REQUIRE(fn, "a function");
    if (atomic_load(&context->refs) == 0)
        coil__misuse_gone("coil_context_run");
    struct coil__context_slot *slot = current_slot();
    coil_context *outer = slot->entered;
    int rc;

    slot->entered = coil_context_retain(context);
    rc = fn(arg);
    slot->entered = outer;
    coil_context_release(context);
    return rc;
}
