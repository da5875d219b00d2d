/*
 * coroutine.h (internal) - coroutines: the common part of tasks, generators and
 * coil_coro.
 */
#ifndef COIL_CORO_COROUTINE_H
#define COIL_CORO_COROUTINE_H

#include "exceptions.h"
#include "stack.h"

typedef struct coil__coro coil__coro;

/* A kind of coroutine. */
enum coil__coro_kind { COIL__CORO_OTHER, COIL__CORO_TASK, COIL__CORO_GENERATOR };

struct coil__coro_class {
    enum coil__coro_kind kind;
    /* The coroutine's function. coil__coro_resume() returns its result. */
    void *(*main)(coil__coro *coro);
    /* Return the name for messages: a task's name, or "generator". Async-signal-safe. */
    const char *(*label)(const coil__coro *coro);
    bool light; /* its coroutines have light stacks: light.h */
};

/*
 * A coroutine: the first member of a control block at the top of a stack's slot. Each
 * thread also has a root coroutine, which represents the thread's own stack.
 */
struct coil__coro {
    struct coil__stack stack; /* first: see coil__stack_acquire() */
    void *sp;                 /* the stack pointer while suspended; NULL while running */
    /* the coroutine that resumed this one; NULL while suspended, and for a root */
    coil__coro *caller;
    bool done;
    uint32_t number; /* a task's number, from coil__scheduler.spawned */
    const struct coil__coro_class *class;
    void *arg; /* the argument of the coroutine's function */
    /*
     * TSan's fiber or ASan's fake stack: see sanitizer.h. Present in every build, so that
     * the layout is always the same.
     */
    void *fiber;
};

/* The part of a thread's state that each switch reads. */
struct coil__coro_thread {
    coil__coro *running; /* the running coroutine or the root; NULL at first */
    const void *watch;   /* see coil__exceptions_clear() */
};

extern COIL__THREAD_LOCAL struct coil__coro_thread coil__coro_thread;

/* Make the root the running coroutine of this thread, and return it. */
coil__coro *coil__coro_enter_root(void);

static inline const char *coil__coro_label(const coil__coro *coro)
{
    return coro->class->label(coro);
}

/* Return the coroutine that is running on this thread, or the root if there is none. */
static inline coil__coro *coil__coro_current(void)
{
    return COIL__LIKELY(coil__coro_thread.running != NULL) ? coil__coro_thread.running
                                                           : coil__coro_enter_root();
}

/*
 * Create a coroutine in a new slot. Its control block has control_bytes bytes (at least
 * sizeof(coil__coro)) and begins with the coroutine; the rest is zeroed. The first
 * transfer to the coroutine calls class->main(coro), which finds `arg` in the control
 * block. When main() returns, the coroutine is done, and main()'s result is passed to the
 * coroutine's caller. Fails with -ENOMEM or -EINVAL.
 */
int coil__coro_create(size_t control_bytes, size_t stack_bytes,
                      const struct coil__coro_class *class, void *arg, coil__coro **out);

/*
 * Take a slot for a coroutine, as the first half of coil__coro_create();
 * coil__coro_prepare() is the second half. The task layer calls the halves separately so
 * that it can recycle control blocks. The members from `class` on are zero or have the
 * values that the slot's last user left. If the block's `class` is not the given class,
 * the caller must write the whole block.
 */
static inline int coil__coro_take(size_t control_bytes, size_t stack_bytes,
                                  const struct coil__coro_class *class, coil__coro **out)
{
    struct coil__stack *stack = NULL;

    if (COIL__LIKELY(stack_bytes == 0 && !class->light &&
                     control_bytes <= COIL__STACK_BLOCK_BYTES))
        stack = coil__stack_acquire_usual();
    if (COIL__UNLIKELY(stack == NULL)) {
        int rc = coil__stack_acquire(stack_bytes, control_bytes, class->light, &stack);

        if (rc < 0)
            return rc;
    }
    *out = COIL__CONTAINER(stack, coil__coro, stack);
    return 0;
}

/* Prepare the stack so that the first transfer calls class->main(coro). */
void coil__coro_prepare(coil__coro *coro);

/*
 * Reserve n bytes, 16-aligned, at the top of the stack for arguments. Must be called
 * before the coroutine first runs.
 */
void *coil__coro_reserve(coil__coro *coro, size_t n);

/*
 * Suspend the running coroutine and continue `to`: there, the call that suspended `to`
 * returns `value`. This call returns the value that is passed when control is transferred
 * back. Does not change to->caller, because schedulers keep track of the next coroutine
 * themselves.
 */
void *coil__coro_transfer(coil__coro *to, void *value);

/* coil__coro_transfer() calls this function if the switch needs extra work. The
   declaration is here because backtraces need the function's address. */
void *coil__coro_transfer_with_care(coil__coro *to, void *value);

/*
 * Like coil__coro_transfer(), but passes no value, and is faster if `to` was suspended by
 * this function too: see coil__switch_alike().
 */
void coil__coro_transfer_alike(coil__coro *to);

/*
 * End the running coroutine and transfer control to `to`. Set `begun` to true if `to` was
 * suspended by one of the functions above, which now returns NULL, or to false if `to`
 * has not begun yet. Does not return. Must be called only if coil__coro_may_leave() is
 * true, as the last statement of a function. The slot of the ended coroutine may already
 * be free, because this function does not use the old stack.
 */
void coil__coro_leave_for(coil__coro *to, bool begun);

/* False if a switch needs extra work, such as saving exceptions, reporting an overflow,
   or notifying a sanitizer. */
static inline bool coil__coro_may_leave(void)
{
    return COIL__LIKELY(coil__exceptions_clear(coil__coro_thread.watch) &&
                        coil__stack_pointer() >= coil__coro_thread.running->stack.limit);
}

/* Check the running stack for an overflow, as a switch does. */
void coil__coro_check(void);

/*
 * The result of coil__coro_find_frames(). A coroutine's stack pointer can be outside its
 * slot for two reasons: a large frame has overflowed the stack, or the coroutine runs on
 * one of the program's own stacks (makecontext(3)). The function tells them apart by
 * walking the coroutine's frames: after an overflow, the walk reaches the slot; on
 * another stack, it does not. The pointer is NULL in a program without error/backtrace.c.
 */
enum coil__coro_frames {
    COIL__FRAMES_UNKNOWN,
    COIL__FRAMES_IN_SLOT,
    COIL__FRAMES_ELSEWHERE
};

extern enum coil__coro_frames (*coil__coro_find_frames)(const coil__coro *coro);
#define COIL__FIND_FRAMES_BYTES (32 * 1024) /* bytes of stack for loading the unwinder */

/*
 * Check the stack for an overflow. Called instead of a switch if a coroutine would switch
 * to itself.
 */
static inline void coil__coro_stay(void)
{
    if (COIL__UNLIKELY(coil__stack_pointer() < coil__coro_thread.running->stack.limit))
        coil__coro_check();
}

/*
 * True if the stack pointer is outside of the running coroutine's slot: a signal handler
 * is running on its alternate stack, or the program has switched stacks itself. Always
 * false if the root is running, because the limits of the thread's own stack are not
 * known.
 */
static inline bool coil__coro_off_stack(void)
{
    const coil__coro *here = coil__coro_thread.running;

    return here != NULL && coil__stack_in_slot(&here->stack) &&
           (uintptr_t)coil__stack_pointer() - (uintptr_t)here->stack.low >
               (uintptr_t)here->stack.high - (uintptr_t)here->stack.low;
}

/* True if a signal handler is running on its alternate stack. Makes a system call. */
bool coil__coro_in_handler(void);

/* Transfer to `coro`, and make the running coroutine its caller. */
void *coil__coro_resume(coil__coro *coro, void *value);

/*
 * Transfer to the running coroutine's caller, and clear the running coroutine's `caller`.
 */
void *coil__coro_suspend(void *value);

/*
 * Return the next coroutine outwards from `coro`: the generator that delegates to it, or
 * otherwise the coroutine that resumed it, or NULL at the end. Repeated calls walk
 * outwards from a suspended or running coroutine, to which *leaf must point at first; the
 * function updates *leaf.
 */
coil__coro *coil__coro_outer(coil__coro *coro, coil__coro **leaf);

/* The slow path of coil__coro_destroy(). */
void coil__coro_destroy_unusual(coil__coro *coro);

/* Release the slot. The coroutine must have ended, or must never have begun. */
static inline void coil__coro_destroy(coil__coro *coro)
{
    if (COIL__UNLIKELY(!coro->stack.trimmed || !coil__stack_release_usual(&coro->stack)))
        coil__coro_destroy_unusual(coro);
}

/*
 * Return the number of bytes that are left on the running coroutine's stack, SIZE_MAX on
 * the thread's own stack, or 0 on a stack that is not coil's.
 */
size_t coil__coro_room(void);

/*
 * Prepare the stack so that the first transfer bypasses class->main: it calls fn(arg)
 * directly, and then end() with fn's result. end() must not return. Under a sanitizer,
 * class->main is still used.
 */
void coil__coro_enter_directly(coil__coro *coro, int (*fn)(void *arg), void *arg,
                               void (*end)(int rc));

/*
 * The outermost C function on a coroutine's stack, where backtraces end, except after
 * coil__coro_enter_directly().
 */
int coil__coro_main(void *coro);

/*
 * Call fn(arg) with at least room_bytes of stack. fn runs on the current stack if that
 * much is left, or if this is the thread's own stack, otherwise on a new stack. fn must
 * return. If this function fails with -ENOMEM, fn was not called.
 */
int coil__coro_call(size_t room_bytes, void (*fn)(void *arg), void *arg);

/*
 * Start and stop detecting stack overflows. In between, a SIGSEGV in the guard of the
 * running coroutine's stack prints "coil: stack overflow in LABEL (N bytes)" and ends the
 * process; any other SIGSEGV has its usual effect. SIGSEGV must have its default
 * disposition. Each thread must call coil__overflow_install() for its own coroutines,
 * because each thread needs an alternate signal stack, which coil__overflow_uninstall()
 * removes. coil__overflow_install() returns false if overflows cannot be detected on this
 * thread.
 */
bool coil__overflow_install(void);
void coil__overflow_uninstall(void);

/*
 * True between a successful call of coil__overflow_install() and the call of
 * coil__overflow_uninstall() on this thread.
 */
bool coil__overflow_watched(void);

/*
 * Like coil__overflow_watched(), but also check that coil's handler for SIGSEGV is still
 * installed. Makes a system call.
 */
bool coil__overflow_is_ours(void);

#endif
