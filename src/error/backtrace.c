/*
 * backtrace.c - the program counters of the stack that runs.
 *
 * By the compiler's unwinder, which reads the tables that exceptions use: they are there
 * in optimised and in stripped programs, and in libraries that know nothing of coil. It
 * lies in libgcc_s, which C programs rarely need; so it is looked for when it is first
 * wanted, and libcoil starts as fast as without it.
 *
 * A stack that was left is not gone back to for this. What it takes to unwind it are the
 * registers that were put there when it was left, and coil__switch_look() shows those to
 * the unwinder.
 */
#include "backtrace.h"

#include "../coro/switch.h"

#include <dlfcn.h>
#include <pthread.h>
#include <unwind.h>

static struct {
    pthread_once_t once;
    __typeof__(&_Unwind_Backtrace) walk;
    __typeof__(&_Unwind_GetIP) address;
    __typeof__(&_Unwind_GetRegionStart) function;
} unwinder = {.once = PTHREAD_ONCE_INIT};

/* The program may have one already, linked into it. */
static void load_unwinder(void)
{
    void *library = RTLD_DEFAULT;

    if (dlsym(library, "_Unwind_Backtrace") == NULL)
        library = dlopen("libgcc_s.so.1", RTLD_NOW | RTLD_LOCAL);
    *(void **)&unwinder.address = dlsym(library, "_Unwind_GetIP");
    *(void **)&unwinder.function = dlsym(library, "_Unwind_GetRegionStart");
    *(void **)&unwinder.walk = dlsym(library, "_Unwind_Backtrace");
}

struct walk {
    void **addresses;
    size_t count, max;
    const void *from;
    uintptr_t bottom; /* coil's own function below the body; it may have gone, having
                         called the body last */
    size_t to_skip;   /* frames of the walk itself, where it is not on its own stack */
    size_t depth;     /* frames seen */
    bool (*is_machinery)(uintptr_t function);
};

/* The switch is found within so many frames of the inner end. */
#define MACHINERY_DEPTH 8

static bool is_bottom(const struct walk *w, uintptr_t function)
{
    return function == w->bottom || function == (uintptr_t)coil__coro_main;
}

static bool is_machinery(struct walk *w, uintptr_t function)
{
    return w->is_machinery != NULL && ++w->depth <= MACHINERY_DEPTH &&
           w->is_machinery(function);
}

static _Unwind_Reason_Code visit(struct _Unwind_Context *frame, void *arg)
{
    struct walk *w = arg;
    void *address = (void *)unwinder.address(frame);
    uintptr_t function = unwinder.function(frame);

    if (w->to_skip > 0) {
        w->to_skip--;
        return _URC_NO_REASON;
    }
    if (address == NULL || is_bottom(w, function))
        return _URC_END_OF_STACK;
    if (w->from != NULL && address != w->from)
        return _URC_NO_REASON;
    w->from = NULL;
    if (is_machinery(w, function))
        w->count = 0;
    else if (w->count < w->max)
        w->addresses[w->count++] = address;
    else if (w->is_machinery == NULL || w->depth > MACHINERY_DEPTH)
        return _URC_END_OF_STACK;
    return _URC_NO_REASON;
}

bool coil__backtrace_has_room(void)
{
    return coil__coro_room() >= COIL__BACKTRACE_STACK_BYTES;
}

COIL__NOINLINE size_t coil__backtrace(void *addresses[], size_t max, const void *from)
{
    struct walk w = {.addresses = addresses,
                     .max = max,
                     .from = from != NULL ? from : COIL__CALLER(),
                     .bottom = (uintptr_t)coil__coro_current()->fn};
    int saved = errno;

    if (max == 0 || !coil__backtrace_has_room())
        return 0;
    pthread_once(&unwinder.once, load_unwinder);
    if (unwinder.walk != NULL)
        unwinder.walk(visit, &w);
    errno = saved;
    return w.count;
}

/* Not inlined, nor left by a tail call: its frame is skipped. */
static COIL__NOINLINE void walk(void *arg)
{
    unwinder.walk(visit, arg);
    __asm__ volatile("");
}

size_t coil__backtrace_suspended(const coil__coro *coro, void *addresses[], size_t max,
                                 bool (*machinery)(uintptr_t function))
{
    struct walk w = {.addresses = addresses,
                     .max = max,
                     .bottom = (uintptr_t)coro->fn,
                     .to_skip = 2, /* walk() and coil__switch_look() */
                     .is_machinery = machinery};
    int saved = errno;

    if (!coil__backtrace_has_room())
        return 0;
    pthread_once(&unwinder.once, load_unwinder);
    if (unwinder.walk != NULL)
        coil__switch_look(coro->sp, walk, &w);
    errno = saved;
    return w.count;
}

/* What stands between the function that resumed a generator and the switch. */
static bool is_switch(uintptr_t function)
{
    return function == (uintptr_t)coil__coro_transfer ||
           function == (uintptr_t)coil__coro_resume;
}

COIL__NOINLINE size_t coil__backtrace_through(void *addresses[], size_t max,
                                              const void *from,
                                              const coil__coro *outermost)
{
    coil__coro *leaf = coil__coro_current(), *coro = leaf;
    size_t n = coil__backtrace(addresses, max, from != NULL ? from : COIL__CALLER());

    while (n > 0 && n < max && outermost != NULL && coro != outermost && coro != NULL) {
        coro = coil__coro_outer(coro, &leaf);
        n += coil__backtrace_suspended(coro, addresses + n, max - n, is_switch);
    }
    return n;
}
