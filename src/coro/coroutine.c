/*
 * coroutine.c - a function that can be left in the middle, and gone back to.
 *
 * A coroutine is a control block on top of a stack. All it takes to leave it is to put
 * the registers a call preserves on that stack and to remember the stack pointer, which
 * is what coil__switch() does. Everything else here is bookkeeping:
 *
 *     create --> transfer/resume --> coro_main --> fn(arg) --> done, back to `caller`
 *                     ^                              |
 *                     +---- transfer/suspend <-------+
 *
 * Two ways to use it. resume/suspend keep `caller`, like call and return: coil_coro and
 * generators. transfer is the bare switch: the task layer leaves whichever coroutine is
 * current, perhaps a generator deep inside a task, and later goes back to that one,
 * without either knowing of the other.
 *
 * Coroutines stay on the thread that created them, so thread-local addresses that a
 * compiler keeps across a switch stay right.
 */
#include "coroutine.h"

#include "sanitizer.h"
#include "switch.h"

#include <coil/coro.h>

COIL__THREAD_LOCAL coil__coro *coil__coro_running;
static COIL__THREAD_LOCAL coil__coro root;
#if COIL__ASAN
static COIL__THREAD_LOCAL coil__coro *previous; /* who was left last */
#endif

coil__coro *coil__coro_enter_root(void)
{
    root.label = "the thread's own stack";
    root.stack.guarded = true; /* not ours to check */
    coil__coro_running = &root;
    return &root;
}

/* ---- switching --------------------------------------------------------------------- */

static inline void note_arrival(coil__coro *here)
{
#if COIL__ASAN
    coil__san_arrived(here, previous);
#else
    (void)here;
#endif
}

static COIL__NOINLINE void check_overflow(coil__coro *coro)
{
    if (!coil__stack_check(&coro->stack, __builtin_frame_address(0)))
        coil__misuse("stack overflow in %s (%zu bytes)", coro->label,
                     coil__stack_bytes(&coro->stack));
}

/* The switch itself, whose call must be its caller's last: see switch_x86_64.S. */
static inline void *leave_for(coil__coro *from, coil__coro *to, void *value)
{
#if COIL__ASAN
    previous = from;
#endif
    coil__san_leaving(from, to);
    coil__coro_running = to;
    value = coil__switch(&from->sp, to->sp, value);
    note_arrival(from);
    return value;
}

/*
 * Before most switches there is nothing to see to. What there is before the others stands
 * in functions of their own, which are called last: then the common way needs no frame,
 * and making one would cost a tenth of the switch.
 */
static inline bool is_ready_to_leave(const coil__coro *from)
{
    return COIL__LIKELY(from != NULL && from->stack.guarded);
}

static coil__coro *make_ready_to_leave(void)
{
    coil__coro *from = coil__coro_current();

    if (!from->stack.guarded)
        check_overflow(from);
    return from;
}

static COIL__NOINLINE void *transfer_with_care(coil__coro *to, void *value)
{
    return leave_for(make_ready_to_leave(), to, value);
}

void *coil__coro_transfer(coil__coro *to, void *value)
{
    coil__coro *from = coil__coro_running;

    return is_ready_to_leave(from) ? leave_for(from, to, value)
                                   : transfer_with_care(to, value);
}

static inline void leave_for_alike(coil__coro *from, coil__coro *to)
{
#if COIL__ASAN
    previous = from;
#endif
    coil__san_leaving(from, to);
    coil__coro_running = to;
    coil__switch_alike(&from->sp, to->sp, NULL);
    note_arrival(from);
}

static COIL__NOINLINE void transfer_alike_with_care(coil__coro *to)
{
    leave_for_alike(make_ready_to_leave(), to);
}

void coil__coro_transfer_alike(coil__coro *to)
{
    coil__coro *from = coil__coro_running;

    if (is_ready_to_leave(from))
        leave_for_alike(from, to);
    else
        transfer_alike_with_care(to);
}

static COIL__NOINLINE void *resume_with_care(coil__coro *coro, void *value)
{
    coro->caller = coil__coro_current();
    return transfer_with_care(coro, value);
}

void *coil__coro_resume(coil__coro *coro, void *value)
{
    coil__coro *from = coil__coro_running;

    if (!is_ready_to_leave(from))
        return resume_with_care(coro, value);
    coro->caller = from;
    return leave_for(from, coro, value);
}

void *coil__coro_suspend(void *value)
{
    coil__coro *self = coil__coro_running;
    coil__coro *caller = self->caller;

    self->caller = NULL;
    return is_ready_to_leave(self) ? leave_for(self, caller, value)
                                   : transfer_with_care(caller, value);
}

/* ---- life -------------------------------------------------------------------------- */

/* The outermost C function on a coroutine's stack. */
void coil__coro_main(void *arg)
{
    coil__coro *coro = arg;
    void *result;

    note_arrival(coro);
    result = coro->fn(coro->arg);
    coro->done = true;
    coil__coro_suspend(result);
    __builtin_unreachable();
}

int coil__coro_create(size_t control_bytes, size_t stack_bytes, void *(*fn)(void *),
                      void *arg, coil__coro **out)
{
    struct coil__stack *stack;
    coil__coro *coro;
    int rc = coil__stack_acquire(stack_bytes, control_bytes, &stack);

    if (rc < 0)
        return rc;
    coro = COIL__CONTAINER(stack, coil__coro, stack);
    coro->fn = fn;
    coro->arg = arg;
    coro->label = "coroutine";
    coro->sp = coil__switch_prepare(stack->high, coil__coro_main, coro);
    coil__san_created(coro);
    *out = coro;
    return 0;
}

void *coil__coro_reserve(coil__coro *coro, size_t n)
{
    coro->stack.high -= (n + 15) & ~(size_t)15;
    coro->sp = coil__switch_prepare(coro->stack.high, coil__coro_main, coro);
    return coro->stack.high;
}

void coil__coro_destroy(coil__coro *coro)
{
    coil__san_destroyed(coro);
    coil__stack_release(&coro->stack);
}

COIL__NOINLINE size_t coil__coro_room(void)
{
    const coil__coro *coro = coil__coro_current();
    const char *here = __builtin_frame_address(0);

    if (coro == &root)
        return SIZE_MAX;
    return here > coro->stack.low ? (size_t)(here - coro->stack.low) : 0;
}

struct call {
    void (*fn)(void *);
    void *arg;
};

static void *make_call(void *arg)
{
    const struct call *call = arg;

    call->fn(call->arg);
    return NULL;
}

int coil__coro_call(size_t room_bytes, void (*fn)(void *), void *arg)
{
    struct call call = {fn, arg};
    coil__coro *coro;
    int rc;

    if (coil__coro_room() >= room_bytes) {
        fn(arg);
        return 0;
    }
    rc = coil__coro_create(sizeof *coro, room_bytes, make_call, &call, &coro);
    if (rc < 0)
        return rc;
    coil__coro_resume(coro, NULL);
    coil__coro_destroy(coro);
    return 0;
}

/* ---- coil/coro.h ------------------------------------------------------------------- */

struct coil_coro {
    coil__coro coro;
    coil_coro_fn fn;
    void *arg;
    bool begun;
};

static void *bare_main(void *arg)
{
    coil_coro *coro = arg;

    return coro->fn(coro->arg);
}

int coil_coro_create(coil_coro_fn fn, void *arg, const coil_coro_opts *opts,
                     coil_coro **out)
{
    coil__coro *created;
    coil_coro *coro;
    int rc = coil__coro_create(sizeof *coro, opts != NULL ? opts->stack_bytes : 0,
                               bare_main, NULL, &created);

    if (rc < 0)
        return rc;
    coro = COIL__CONTAINER(created, coil_coro, coro);
    coro->coro.arg = coro;
    coro->fn = fn;
    coro->arg = arg;
    *out = coro;
    return 0;
}

void *coil_coro_resume(coil_coro *coro, void *value)
{
    if (coro->coro.done)
        coil__misuse("coil_coro_resume: the coroutine is done");
    if (coro->coro.caller != NULL)
        coil__misuse("coil_coro_resume: the coroutine is running");
    coro->begun = true;
    /* The last call, so that no frame of ours has to return afterwards: that would be
       mispredicted. A body that has ended is therefore trimmed by destroy. */
    return coil__coro_resume(&coro->coro, value);
}

void *coil_coro_suspend(void *value)
{
    if (coil__coro_running == NULL || coil__coro_running->fn != bare_main)
        coil__misuse("coil_coro_suspend: no coroutine of coil_coro_create() runs");
    return coil__coro_suspend(value);
}

bool coil_coro_done(const coil_coro *coro)
{
    return coro->coro.done;
}

bool coil_coro_running(const coil_coro *coro)
{
    return coro->coro.caller != NULL;
}

void coil_coro_destroy(coil_coro *coro)
{
    if (coro == NULL)
        return;
    if (coro->begun && !coro->coro.done)
        coil__misuse("coil_coro_destroy: the coroutine has begun and is not done; its "
                     "frames would be lost");
    coil__coro_destroy(&coro->coro);
}
