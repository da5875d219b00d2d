/*
 * gen.c - generators: coroutines with next, send, throw, close and delegation.
 *
 *             next, send(NULL)            yield
 *   CREATED ------------------> RUNNING --------> SUSPENDED
 *      | throw, close              | fn      <--------'
 *      v                           v returns   next, send, throw
 *   CLOSED <-----------------------+
 *
 * Delegation (`yield from`) forms a chain, outer -> ... -> innermost. Only the innermost
 * generator of a chain runs:
 *
 *        resumer ==> entry --delegate--> ... --delegate--> innermost
 *           ^          '--------------leaf--------------------^ |
 *           '-------------------- caller ------------------------'
 *
 * Resuming the entry switches directly to its leaf, and a yield in the leaf switches
 * directly back to the resumer. The generators in between do not run, so resuming and
 * yielding cost the same at any depth. When the innermost generator ends, its delegator
 * continues, and its own yields and result now go to the resumer.
 *
 * Invariants
 * 1. In the first generator of a chain, `leaf` is the end of the chain. In other
 *    generators `leaf` may be out of date, so follow `delegate`.
 * 2. While a generator runs, its `entry` is the generator that was resumed, and its
 *    coroutine's caller is the coroutine that resumed it. If another generator becomes
 *    the innermost one, it gets the same `entry` and the same caller.
 * 3. `running` is true only for the innermost generator, so a chain is running if its end
 *    is running.
 * 4. While a generator in the middle of a chain is being resumed directly (a detour),
 *    `leaf` is NULL in the outer generators, which must not be resumed.
 *
 * A value that is sent, yielded or returned is stored in the receiver's variable before
 * the switch. The switch itself passes only the return code.
 *
 * A generator may await: the task layer suspends the current coroutine, which is the
 * innermost generator, and resumes it later. This file's data do not change: the
 * generator stays `running`.
 *
 * As in Python, GeneratorExit (-ECANCELED) closes the delegates from the inside out. So
 * an outer generator gets GeneratorExit even if an inner one has ignored it.
 */
#include "coroutine.h"
#include "outside.h"

#include <coil/gen.h>

struct coil_gen {
    coil__coro coro;
    coil_gen_fn fn;

    coil_gen *delegate;  /* the generator to which this one delegates in yield_from */
    coil_gen *delegator; /* the generator that delegates to this one in yield_from */
    coil_gen *leaf;      /* the end of its chain: itself if it does not delegate */
    coil_gen *entry;     /* while running: the generator that was resumed */

    void **sent; /* where to store the value that the resumer sends, or NULL */
    void **out;  /* while running: where to store the value for the resumer */
    void *result;
    bool begun, running, closed;
    bool lost; /* the delegate was resumed by another caller, and has ended */
};

COIL__OUTSIDE(COIL__OUTSIDE_AT(COIL__AT_GEN_CORO, coil_gen, coro),
              COIL__OUTSIDE_AT(COIL__AT_GEN_DELEGATOR, coil_gen, delegator),
              COIL__OUTSIDE_AT(COIL__AT_GEN_ENTRY, coil_gen, entry));

/* ---- the body ---------------------------------------------------------------------- */

static void store_value(void **where, void *value)
{
    if (where != NULL)
        *where = value;
}

/*
 * Called when the innermost generator has ended: let its delegator continue in its place.
 */
static void hand_back(coil_gen *inner, coil_gen *outer)
{
    inner->delegator = NULL;
    outer->delegate = NULL;
    outer->entry = inner->entry;
    outer->entry->leaf = outer;
    outer->out = inner->out;
    outer->running = true;
    store_value(outer->sent, inner->result);
    outer->coro.caller = inner->coro.caller;
    inner->coro.caller = &outer->coro;
}

static void *gen_main(coil__coro *coro)
{
    coil_gen *gen = COIL__CONTAINER(coro, coil_gen, coro);
    int rc = gen->fn(gen, coro->arg);

    if (rc < 0)
        gen->result = NULL;
    gen->running = false;
    gen->closed = true;
    if (gen->entry != gen)
        hand_back(gen, gen->delegator);
    else
        store_value(gen->out, gen->result);
    return (void *)(intptr_t)(rc < 0 ? rc : COIL_GEN_ENDED);
}

static const char *label_generator(const coil__coro *coro)
{
    (void)coro;
    return "generator";
}

static const struct coil__coro_class gen_class = {
    .kind = COIL__CORO_GENERATOR, .main = gen_main, .label = label_generator};

/* Return the generator whose function is running, or NULL. */
static coil_gen *running_gen(void)
{
    coil__coro *coro = coil__coro_current();

    return coro->class == &gen_class ? COIL__CONTAINER(coro, coil_gen, coro) : NULL;
}

int coil_gen_yield(void *value, void **sent)
{
    coil_gen *self = running_gen();

    if (self == NULL)
        return coil__failed(-EPERM);
    self->running = false;
    self->sent = sent;
    store_value(self->out, value);
    return (int)(intptr_t)coil__coro_suspend((void *)(intptr_t)COIL_GEN_YIELDED);
}

void coil_gen_return(coil_gen *gen, void *value)
{
    COIL__REQUIRE(gen, "a generator");
    gen->result = value;
}

/* ---- chains ------------------------------------------------------------------------ */

/* Return the end of the chain that begins at `gen`, or NULL during a detour. */
static coil_gen *end_of_chain(coil_gen *gen)
{
    if (gen->delegator == NULL || gen->leaf == NULL)
        return gen->leaf;
    while (gen->delegate != NULL)
        gen = gen->delegate;
    return gen;
}

static bool is_busy(coil_gen *gen)
{
    coil_gen *leaf = end_of_chain(gen);

    return leaf == NULL || leaf->running;
}

static void set_leaf_upwards(coil_gen *gen, coil_gen *leaf)
{
    for (; gen != NULL; gen = gen->delegator)
        gen->leaf = leaf;
}

/* Prepare `leaf` to be resumed as the end of the chain that begins at `entry`. */
static void prepare_leaf(coil_gen *leaf, coil_gen *entry, void *sent, void **out)
{
    leaf->entry = entry;
    leaf->out = out;
    leaf->running = leaf->begun = true;
    /*
     * NULL if the delegate was lost: Python resumes the exhausted delegate once more,
     * which returns None.
     */
    store_value(leaf->sent, leaf->lost ? NULL : sent);
    leaf->lost = false;
}

int coil_gen_yield_from(coil_gen *inner, void **result)
{
    COIL__REQUIRE(inner, "a generator");
    coil_gen *self = running_gen(), *leaf;

    store_value(result, NULL);
    if (self == NULL)
        return coil__failed(-EPERM);
    if (inner->closed)
        return COIL_GEN_ENDED;
    if (inner->delegator != NULL || is_busy(inner))
        return coil__failed(-EBUSY);
    leaf = end_of_chain(inner);
    self->delegate = inner;
    inner->delegator = self;
    self->running = false;
    self->sent = result;
    self->entry->leaf = leaf;
    prepare_leaf(leaf, self->entry, NULL, self->out);
    leaf->coro.caller = self->coro.caller;
    self->coro.caller = NULL;
    return (int)(intptr_t)coil__coro_transfer(&leaf->coro, NULL);
}

/*
 * The frames of the outer generators in the chain, up to the entry, are suspended in
 * yield_from.
 */
coil__coro *coil__coro_outer(coil__coro *coro, coil__coro **leaf)
{
    if (coro->class == &gen_class && (*leaf)->class == &gen_class) {
        const coil_gen *gen = COIL__CONTAINER(coro, coil_gen, coro);
        const coil_gen *innermost = COIL__CONTAINER(*leaf, coil_gen, coro);

        if (gen != innermost->entry && gen->delegator != NULL)
            return &gen->delegator->coro;
    }
    *leaf = (*leaf)->caller;
    return *leaf;
}

/* ---- resuming ---------------------------------------------------------------------- */

/* Update the outer generators after a detour to `gen`. */
static void end_detour(coil_gen *gen)
{
    coil_gen *outer = gen->delegator;

    if (gen->closed) {
        gen->delegator = NULL;
        outer->delegate = NULL;
        outer->lost = true;
        set_leaf_upwards(outer, outer);
    } else {
        set_leaf_upwards(outer, gen->leaf);
    }
}

/*
 * Resume the innermost generator of the chain: the yield in which it is suspended returns
 * `error`, or 0 with `sent`. Returns the result of that generator's next yield or return.
 */
static int resume_chain(coil_gen *gen, void *sent, int error, void **value)
{
    coil_gen *leaf = end_of_chain(gen);
    coil_gen *outer = gen->delegator;
    int rc;

    prepare_leaf(leaf, gen, error == 0 ? sent : NULL, value);
    set_leaf_upwards(outer, NULL);
    gen->leaf = leaf;
    rc = (int)(intptr_t)coil__coro_resume(&leaf->coro, (void *)(intptr_t)error);
    if (gen->closed)
        coil__stack_trim(&gen->coro.stack);
    if (COIL__UNLIKELY(outer != NULL))
        end_detour(gen);
    return rc;
}

/*
 * Close all generators to which `gen` delegates, innermost first. Returns the error to
 * throw into `gen`: -ECANCELED, or the error of a close that failed.
 */
static int close_delegates(coil_gen *gen)
{
    coil_gen *inner = end_of_chain(gen);
    int error = -ECANCELED;

    set_leaf_upwards(inner->delegator, NULL);
    while (inner != gen) {
        coil_gen *outer = inner->delegator;
        int rc;

        inner->delegator = NULL;
        outer->delegate = NULL;
        outer->lost = true;
        inner->leaf = inner;
        rc = resume_chain(inner, NULL, error, NULL);
        if (rc == COIL_GEN_YIELDED)
            error = -EPROTO;
        else
            error = rc < 0 ? rc : -ECANCELED;
        inner = outer;
    }
    set_leaf_upwards(gen, gen);
    return error;
}

static int throw_exit(coil_gen *gen, void **value)
{
    int error = gen->delegate != NULL ? close_delegates(gen) : -ECANCELED;

    return resume_chain(gen, NULL, error, value);
}

/* ---- coil/gen.h -------------------------------------------------------------------- */

int coil_gen_create(coil_gen_fn fn, void *arg, const coil_gen_opts *opts, coil_gen **out)
{
    COIL__REQUIRE(fn, "a function");
    COIL__REQUIRE(out, "an output pointer");
    size_t stack_bytes = opts != NULL ? opts->stack_bytes : 0;
    coil__coro *coro;
    coil_gen *gen;
    int rc = coil__coro_create(sizeof *gen, stack_bytes, &gen_class, arg, &coro);

    *out = NULL;
    if (rc < 0)
        return coil__failed(rc);
    gen = COIL__CONTAINER(coro, coil_gen, coro);
    gen->fn = fn;
    gen->leaf = gen;
    *out = gen;
    return 0;
}

int coil_gen_next(coil_gen *gen, void **value)
{
    COIL__REQUIRE(gen, "a generator");
    return coil_gen_send(gen, NULL, value);
}

int coil_gen_send(coil_gen *gen, void *sent, void **value)
{
    COIL__REQUIRE(gen, "a generator");
    if (value != NULL)
        *value = NULL;
    if (gen->closed)
        return COIL_GEN_ENDED;
    if (is_busy(gen))
        return coil__failed(-EBUSY);
    if (!gen->begun && sent != NULL)
        return coil__failed(-EINVAL);
    return resume_chain(gen, sent, 0, value);
}

int coil_gen_throw(coil_gen *gen, int error, void **value)
{
    COIL__REQUIRE(gen, "a generator");
    if (value != NULL)
        *value = NULL;
    if (error >= 0)
        return coil__failed(-EINVAL);
    if (gen->closed)
        return error;
    if (is_busy(gen))
        return coil__failed(-EBUSY);
    if (!gen->begun) {
        gen->closed = true; /* the function will never run */
        return error;
    }
    if (error == -ECANCELED)
        return throw_exit(gen, value);
    return resume_chain(gen, NULL, error, value);
}

int coil_gen_close(coil_gen *gen)
{
    COIL__REQUIRE(gen, "a generator");
    int rc;

    if (gen->closed)
        return 0;
    if (is_busy(gen))
        return coil__failed(-EBUSY);
    if (!gen->begun) {
        gen->closed = true; /* the function will never run */
        return 0;
    }
    rc = throw_exit(gen, NULL);
    if (rc == COIL_GEN_YIELDED)
        return coil__failed(-EPROTO);
    return rc == -ECANCELED ? 0 : rc;
}

void coil_gen_destroy(coil_gen *gen)
{
    if (gen == NULL)
        return;
    if (COIL__UNLIKELY(gen->fn == NULL))
        coil__misuse("coil_gen_destroy: the generator was destroyed before");
    if (!gen->closed && is_busy(gen))
        coil__misuse("coil_gen_destroy: the generator is running");
    for (int i = 0; i < 2 && !gen->closed; i++)
        coil_gen_close(gen); /* ignore the result */
    if (!gen->closed)
        coil__misuse("coil_gen_destroy: the generator ignored the exit twice; its frames "
                     "would be lost");
    gen->fn = NULL;
    coil__coro_destroy(&gen->coro);
}

coil_gen_state coil_gen_get_state(const coil_gen *gen)
{
    COIL__REQUIRE(gen, "a generator");
    if (gen->closed)
        return COIL_GEN_CLOSED;
    if (!gen->begun)
        return COIL_GEN_CREATED;
    return is_busy((coil_gen *)(uintptr_t)gen) ? COIL_GEN_RUNNING : COIL_GEN_SUSPENDED;
}

coil_gen *coil_gen_delegate(const coil_gen *gen)
{
    COIL__REQUIRE(gen, "a generator");
    return gen->delegate;
}
