/*
 * backtrace.c - the program counters of the stack that runs.
 *
 * By the compiler's unwinder, which reads the tables that exceptions use: they are there
 * in optimised and in stripped programs, and in libraries that know nothing of coil. It
 * lies in libgcc_s, which C programs rarely need; so it is looked for when it is first
 * wanted, and libcoil starts as fast as without it.
 */
#include "backtrace.h"

#include "../coro/coroutine.h"

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
};

static bool is_bottom(const struct walk *w, uintptr_t function)
{
    return function == w->bottom || function == (uintptr_t)coil__coro_main;
}

static _Unwind_Reason_Code visit(struct _Unwind_Context *frame, void *arg)
{
    struct walk *w = arg;
    void *address = (void *)unwinder.address(frame);

    if (address == NULL || is_bottom(w, unwinder.function(frame)))
        return _URC_END_OF_STACK;
    if (w->from != NULL && address != w->from)
        return _URC_NO_REASON;
    w->from = NULL;
    w->addresses[w->count++] = address;
    return w->count < w->max ? _URC_NO_REASON : _URC_END_OF_STACK;
}

size_t coil__backtrace(void *addresses[], size_t max, const void *from)
{
    struct walk w = {.addresses = addresses,
                     .max = max,
                     .from = from != NULL ? from : COIL__CALLER(),
                     .bottom = (uintptr_t)coil__coro_current()->fn};
    int saved = errno;

    if (max == 0 || coil__coro_room() < COIL__BACKTRACE_STACK_BYTES)
        return 0;
    pthread_once(&unwinder.once, load_unwinder);
    if (unwinder.walk != NULL)
        unwinder.walk(visit, &w);
    errno = saved;
    return w.count;
}
