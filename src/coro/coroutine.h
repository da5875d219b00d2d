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
    /* The body. coil__coro_resume() returns its result. */
    void *(*main)(coil__coro *coro);
    /* Return the name for messages: a task's name, or "generator". Async-signal-safe. */
    const char *(*label)(const coil__coro *coro);
    bool light; /* its stack can be swapped out: light.h */
};

/*
 * The first member of a control block, which is at the top of a stack's slot. Each thread
 * also has a root: a coroutine that stands for the thread's own stack.
 */
struct coil__coro {
    struct coil__stack stack; /* first: see coil__stack_acquire() */
    void *sp;                 /* the stack pointer while it does not run; else NULL */
    coil__coro *caller;       /* its resumer; NULL while suspended, and for a root */
    bool done;
    uint32_t number; /* a task's number, from coil__scheduler.spawned */
    const struct coil__coro_class *class;
    void *arg; /* the body's argument */
    /* TSan's fiber or ASan's fake stack: sanitizer.h. The layout is the same in every
       build. */
    void *fiber;
};

/* The state of a thread that a switch reads. */
struct coil__coro_thread {
    coil__coro *running; /* NULL at first; the root if no other coroutine runs */
    const void *watch;   /* see coil__exceptions_clear() */
};

extern COIL__THREAD_LOCAL struct coil__coro_thread coil__coro_thread;

/* Make the root the running coroutine of this thread, and return it. */
coil__coro *coil__coro_enter_root(void);

static inline const char *coil__coro_label(const coil__coro *coro)
{
    return coro->class->label(coro);
}

/* Return the coroutine that runs on this thread, or the root if none does. */
static inline coil__coro *coil__coro_current(void)
{
    return COIL__LIKELY(coil__coro_thread.running != NULL) ? coil__coro_thread.running
                                                           : coil__coro_enter_root();
}

/*
 * Create a coroutine in a new slot, with a control block of control_bytes (at least
 * sizeof(coil__coro)) that begins with the coroutine; the rest is zeroed. The first
 * transfer to the coroutine calls class->main(coro), which finds `arg` in the control
 * block. When that returns, the coroutine is done, and control goes to its caller with
 * the value that was returned. Fails with -ENOMEM or -EINVAL.
 */
int coil__coro_create(size_t control_bytes, size_t stack_bytes,
                      const struct coil__coro_class *class, void *arg, coil__coro **out);

/*
 * The first half of coil__coro_create(): takes a slot. The task layer uses this function
 * to recycle control blocks. The members from `class` on have the values of the slot's
 * last user, or are zero. If `class` differs, the caller must write the whole block.
 * coil__coro_prepare() is the second half.
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

/* The first transfer calls class->main(coro). */
void coil__coro_prepare(coil__coro *coro);

/*
 * Cut n bytes, 16-aligned, from the stack's top, before it first runs: for arguments.
 */
void *coil__coro_reserve(coil__coro *coro, size_t n);

/*
 * Suspend the running coroutine and continue `to`, whose own transfer returns `value`.
 * Returns the value of the transfer back. Does not change `caller`: this function is for
 * schedulers, which themselves record which coroutine continues next.
 */
void *coil__coro_transfer(coil__coro *to, void *value);

/* coil__coro_transfer() calls this if the switch needs extra work. Declared for
   backtraces. */
void *coil__coro_transfer_with_care(coil__coro *to, void *value);

/*
 * Like coil__coro_transfer(), without a value, to a coroutine that was suspended by this
 * same function: see coil__switch_alike().
 */
void coil__coro_transfer_alike(coil__coro *to);

/*
 * End the running coroutine and continue `to`. `begun` is false if `to` has not begun.
 * Otherwise one of the functions above suspended `to`, and that function returns NULL.
 * Call this only if coil__coro_may_leave() is true, as the last statement of a function,
 * because the call does not return. The call does not use the old stack any more, so the
 * slot may already be free.
 */
void coil__coro_leave_for(coil__coro *to, bool begun);

/* False if a switch needs extra work: to save exceptions, report an overflow, or notify a
   sanitizer. */
static inline bool coil__coro_may_leave(void)
{
    return COIL__LIKELY(coil__exceptions_clear(coil__coro_thread.watch) &&
                        coil__stack_pointer() >= coil__coro_thread.running->stack.limit);
}

/* Check the running stack for an overflow, as a switch does. */
void coil__coro_check(void);

/*
 * A coroutine may be suspended on a stack of the program's own (makecontext(3)). Only the
 * stack pointer is saved, and the coroutine is resumed there. If a coroutine has
 * overflowed its stack by a large frame, its stack pointer is outside the slot, too. This
 * function distinguishes the two cases by walking the frames of the suspended coroutine:
 * after an overflow the walk arrives at the slot, on another stack it does not. The
 * pointer is NULL in a program without error/backtrace.c.
 */
enum coil__coro_frames {
    COIL__FRAMES_UNKNOWN,
    COIL__FRAMES_IN_SLOT,
    COIL__FRAMES_ELSEWHERE
};

extern enum coil__coro_frames (*coil__coro_find_frames)(const coil__coro *coro);
#define COIL__FIND_FRAMES_BYTES (32 * 1024) /* stack needed to load the unwinder */

/*
 * Called instead of a switch when a coroutine would switch to itself: only checks the
 * stack, as a switch does.
 */
static inline void coil__coro_stay(void)
{
    if (COIL__UNLIKELY(coil__stack_pointer() < coil__coro_thread.running->stack.limit))
        coil__coro_check();
}

/*
 * True if the stack pointer is outside of the running coroutine's slot: a signal handler
 * runs on its alternate stack, or the program has switched stacks itself. Never true on
 * the thread's own stack, whose limits are not known.
 */
static inline bool coil__coro_off_stack(void)
{
    const coil__coro *here = coil__coro_thread.running;

    return here != NULL && coil__stack_in_slot(&here->stack) &&
           (uintptr_t)coil__stack_pointer() - (uintptr_t)here->stack.low >
               (uintptr_t)here->stack.high - (uintptr_t)here->stack.low;
}

/* True if a signal handler runs on its alternate stack. Makes a system call. */
bool coil__coro_in_handler(void);

/* Transfer to `coro`; the running coroutine becomes its caller. */
void *coil__coro_resume(coil__coro *coro, void *value);

/* Transfer to the caller, and clear the link to it. */
void *coil__coro_suspend(void *value);

/*
 * Take one step of an outward walk that begins at a suspended or running coroutine.
 * Returns the generator that delegates to `coro`, else the coroutine that resumed it, or
 * NULL at the end. *leaf is at first the coroutine where the walk begins; the function
 * updates it.
 */
coil__coro *coil__coro_outer(coil__coro *coro, coil__coro **leaf);

/* For the inline function below. */
void coil__coro_destroy_unusual(coil__coro *coro);

/* Release the slot. The body must have ended, or never have begun. */
static inline void coil__coro_destroy(coil__coro *coro)
{
    if (COIL__UNLIKELY(!coro->stack.trimmed || !coil__stack_release_usual(&coro->stack)))
        coil__coro_destroy_unusual(coro);
}

/*
 * Return the number of bytes that are left on the running coroutine's stack: SIZE_MAX on
 * the thread's own stack, 0 on a stack that is not coil's.
 */
size_t coil__coro_room(void);

/*
 * Bypass class->main: the first transfer calls fn(arg) without a frame of coil around it.
 * After fn, end() is called with its result; end() must not return. Under a sanitizer
 * class->main is still used.
 */
void coil__coro_enter_directly(coil__coro *coro, int (*fn)(void *arg), void *arg,
                               void (*end)(int rc));

/* The outermost C function on a coroutine's stack, unless its body is called directly;
   backtraces end there. */
int coil__coro_main(void *coro);

/*
 * Call fn(arg) with at least room_bytes of stack: directly if that much is left, or if
 * the thread's own stack is in use, else on a new stack. fn must return. After -ENOMEM,
 * fn was not called.
 */
int coil__coro_call(size_t room_bytes, void (*fn)(void *arg), void *arg);

/*
 * Between install and uninstall a SIGSEGV in the guard of the running coroutine's stack
 * prints "coil: stack overflow in LABEL (N bytes)", then ends the process. Any other
 * SIGSEGV has its usual effect. Requires that the disposition of SIGSEGV is the default.
 * Each thread must install for its own coroutines: it gets an alternate stack, which
 * uninstall removes. coil__overflow_install() returns false if it did nothing.
 */
bool coil__overflow_install(void);
void coil__overflow_uninstall(void);

/* True between a successful install and the uninstall of this thread. */
bool coil__overflow_watched(void);

/* True if, in addition, SIGSEGV still has coil's handler. Makes a system call. */
bool coil__overflow_is_ours(void);

#endif
