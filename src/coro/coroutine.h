/*
 * coroutine.h (internal) - the coroutine that tasks, generators and coil_coro are made
 * of.
 */
#ifndef COIL_CORO_COROUTINE_H
#define COIL_CORO_COROUTINE_H

#include "stack.h"

typedef struct coil__coro coil__coro;

/*
 * The first member of a control block on top of a slot. Every thread also has a root: the
 * coroutine that is its own stack.
 */
struct coil__coro {
    struct coil__stack stack; /* first: see coil__stack_acquire() */
    void *sp;                 /* where it stands while it does not run */
    coil__coro *caller;       /* who resumed it; NULL while suspended, and for a root */
    bool done;
    void *(*fn)(void *); /* also tells its kind: each has its own */
    void *arg;
    const char *label; /* what overflow reports call it: a task's name, "generator" */
    /* sanitizer.h's own; the layout is the same in every build of the library */
    void *asan_fake_stack;
    void *tsan_fiber;
    unsigned valgrind_id;
};

/* The coroutine that runs on this thread; NULL if none ever did. */
extern COIL__THREAD_LOCAL coil__coro *coil__coro_running;

/* Make the thread's own stack the one that runs. */
coil__coro *coil__coro_enter_root(void);

/* The coroutine that runs on this thread; the root, if none does. */
static inline coil__coro *coil__coro_current(void)
{
    return COIL__LIKELY(coil__coro_running != NULL) ? coil__coro_running
                                                    : coil__coro_enter_root();
}

/*
 * Create one in a slot of its own: control_bytes (at least sizeof(coil__coro)), zeroed
 * but for the coroutine at their beginning. It first runs fn(arg) when control is
 * transferred to it. When fn returns, control goes to its caller with the value returned,
 * and it is done. Fails with -ENOMEM, -EINVAL.
 */
int coil__coro_create(size_t control_bytes, size_t stack_bytes, void *(*fn)(void *),
                      void *arg, coil__coro **out);

/*
 * Cut n bytes, 16-aligned, from the stack's top, before it first runs: for arguments.
 */
void *coil__coro_reserve(coil__coro *coro, size_t n);

/*
 * The switch itself: leave the running coroutine as it stands, and go on in `to`, whose
 * own transfer returns `value`. The caller links are left alone: it is for schedulers,
 * who keep their own books. Returns what is handed over when somebody transfers back.
 */
void *coil__coro_transfer(coil__coro *to, void *value);

/*
 * The same, handing nothing over, to a coroutine that was left by this function too: see
 * coil__switch_alike().
 */
void coil__coro_transfer_alike(coil__coro *to);

/* Transfer with books: `coro` gets the running one as its caller. */
void *coil__coro_resume(coil__coro *coro, void *value);

/* Back to the caller, which is unlinked first. */
void *coil__coro_suspend(void *value);

/*
 * Walk outwards from a coroutine that is suspended, or runs: to the generator that has
 * delegated to it, else to whoever resumed it; NULL behind the last. *leaf is where the
 * walk began, and is kept by it.
 */
coil__coro *coil__coro_outer(coil__coro *coro, coil__coro **leaf);

/* Give the slot back. It must have ended, or never have run. */
void coil__coro_destroy(coil__coro *coro);

/*
 * How many bytes of the running coroutine's stack are left; SIZE_MAX on the thread's own.
 */
size_t coil__coro_room(void);

/* The outermost C function on a coroutine's stack, for whoever walks it. */
void coil__coro_main(void *coro);

/*
 * Call fn(arg) with room_bytes of stack: simply here, if that much is left or this is the
 * thread's own stack; else on one made for it. fn must not leave it. -ENOMEM: not called.
 */
int coil__coro_call(size_t room_bytes, void (*fn)(void *arg), void *arg);

/*
 * While at least one install is not undone, a SIGSEGV that hits the guard of the running
 * coroutine's stack prints "coil: stack overflow in LABEL (N bytes)" with write(2) on an
 * alternate stack, then dies by the signal; any other SIGSEGV takes its course. Only
 * where the disposition was the default, and for coroutines of the threads that have
 * installed it: the alternate stack is the calling thread's, and undone there.
 * `coil__overflow_install` returns false where it did nothing.
 */
bool coil__overflow_install(void);
void coil__overflow_uninstall(void);

#endif
