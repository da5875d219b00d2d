/*
 * backtrace.c - finds the return addresses on the running stack, or on the stack of a
 * suspended coroutine.
 *
 * The compiler's unwinder walks the stack with the tables that C++ exceptions use.
 * Optimised and stripped programs have these tables too, as do libraries built without
 * coil. The unwinder is in libgcc_s, which C programs rarely need. coil loads this
 * library only for the first backtrace, so that programs without backtraces do not start
 * more slowly.
 *
 * A suspended coroutine is not resumed for its backtrace. The coroutine's registers were
 * saved on its stack when it was suspended, and coil__switch_look() passes them to the
 * unwinder.
 */
#include "backtrace.h"

#include "../coro/switch.h"
#include "library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>
#include <unwind.h>

static struct {
    pthread_mutex_t lock;
    _Atomic bool loaded; /* once true, the pointers below are valid */
    __typeof__(&_Unwind_Backtrace) walk;
    __typeof__(&_Unwind_GetIP) address;
    __typeof__(&_Unwind_GetCFA) frame;
    __typeof__(&_Unwind_GetIPInfo) address_info;
    __typeof__(&_Unwind_GetRegionStart) function;
} unwinder = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* NULL if the program was not linked with an unwinder. */
COIL__WEAK __typeof__(_Unwind_Backtrace) _Unwind_Backtrace;
COIL__WEAK __typeof__(_Unwind_GetIP) _Unwind_GetIP;
COIL__WEAK __typeof__(_Unwind_GetCFA) _Unwind_GetCFA;
COIL__WEAK __typeof__(_Unwind_GetIPInfo) _Unwind_GetIPInfo;
COIL__WEAK __typeof__(_Unwind_GetRegionStart) _Unwind_GetRegionStart;

/*
 * Use the unwinder with which the program was linked. A static program cannot load
 * another unwinder.
 */
static bool take_linked_unwinder(void)
{
    unwinder.walk = _Unwind_Backtrace;
    unwinder.address = _Unwind_GetIP;
    unwinder.frame = _Unwind_GetCFA;
    unwinder.address_info = _Unwind_GetIPInfo;
    unwinder.function = _Unwind_GetRegionStart;
    return unwinder.walk != NULL && unwinder.address != NULL && unwinder.frame != NULL &&
           unwinder.function != NULL;
}

/* Find the unwinder at run time: a library loaded since the start may contain one. */
static void look_for_unwinder(void)
{
    void *library = RTLD_DEFAULT;

    if (dlsym(library, "_Unwind_Backtrace") == NULL)
        library = coil__library_open("libgcc_s.so.1"); /* NULL: RTLD_DEFAULT again */
    *(void **)&unwinder.address = dlsym(library, "_Unwind_GetIP");
    *(void **)&unwinder.frame = dlsym(library, "_Unwind_GetCFA");
    *(void **)&unwinder.address_info = dlsym(library, "_Unwind_GetIPInfo");
    *(void **)&unwinder.function = dlsym(library, "_Unwind_GetRegionStart");
    *(void **)&unwinder.walk = dlsym(library, "_Unwind_Backtrace");
}

static void find_unwinder(void)
{
    if (!take_linked_unwinder())
        look_for_unwinder();
    unwinder.loaded = unwinder.walk != NULL;
}

/* Loading fails while the process has no free descriptors, so each call tries again. */
static bool load_unwinder(void)
{
    if (unwinder.loaded)
        return true;
    pthread_mutex_lock(&unwinder.lock);
    if (!unwinder.loaded)
        find_unwinder();
    pthread_mutex_unlock(&unwinder.lock);
    return unwinder.loaded;
}

struct walk {
    void **addresses;
    size_t count, max;
    const void *from;
    uintptr_t bottom; /* coil's function that calls the task's function: the walk ends
                         there. If it has made a tail call, the walk ends at
                         coil__coro_main() or at the entry of the stack */
    size_t to_skip;   /* frames of the walk itself, if it walks another stack */
    size_t depth;     /* number of frames visited */
    bool (*is_machinery)(uintptr_t function);
};

/* is_machinery() is called only for this number of innermost frames. */
#define MACHINERY_DEPTH 8

static bool is_bottom(const struct walk *w, uintptr_t function)
{
    return function == w->bottom || function == (uintptr_t)coil__coro_main ||
           function == (uintptr_t)coil__switch_entry;
}

static bool drops_machinery(struct walk *w, uintptr_t function)
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
    if (drops_machinery(w, function))
        w->count = 0;
    else if (w->count < w->max)
        w->addresses[w->count++] = address;
    else if (w->is_machinery == NULL || w->depth > MACHINERY_DEPTH)
        return _URC_END_OF_STACK;
    return _URC_NO_REASON;
}

/* ---- signal handlers --------------------------------------------------------------- */

/* The maximum number of frames between a signal handler and its call to coil. */
#define HANDLER_DEPTH 32

struct search {
    uintptr_t outermost;
    int depth;
    bool found;
};

/*
 * Look for a frame that a signal has interrupted. The unwinder marks such a frame,
 * because its address is not a return address.
 */
static _Unwind_Reason_Code look_for_interruption(struct _Unwind_Context *frame, void *arg)
{
    struct search *search = arg;
    int is_interrupted = 0;

    unwinder.address_info(frame, &is_interrupted);
    search->found = is_interrupted != 0;
    if (search->found || ++search->depth == HANDLER_DEPTH ||
        unwinder.function(frame) == search->outermost)
        return _URC_END_OF_STACK;
    return _URC_NO_REASON;
}

bool coil__backtrace_in_handler(const void *outermost)
{
    struct search search = {.outermost = (uintptr_t)outermost};
    int saved = errno;

    if (!unwinder.loaded || unwinder.address_info == NULL || !coil__backtrace_has_room())
        return false;
    unwinder.walk(look_for_interruption, &search);
    errno = saved;
    return search.found;
}

void coil__backtrace_prepare(void)
{
    int saved = errno;

    load_unwinder();
    errno = saved;
}

/* ---- addresses --------------------------------------------------------------------- */

bool coil__backtrace_has_room(void)
{
    return coil__coro_room() >= COIL__BACKTRACE_STACK_BYTES;
}

COIL__NOINLINE size_t coil__backtrace(void *addresses[], size_t max, const void *from)
{
    struct walk w = {.addresses = addresses,
                     .max = max,
                     .from = from != NULL ? from : COIL__CALLER(),
                     .bottom = (uintptr_t)coil__coro_current()->class->main};
    int saved = errno;

    if (max == 0 || !coil__backtrace_has_room())
        return 0;
    if (load_unwinder())
        unwinder.walk(visit, &w);
    errno = saved;
    return w.count;
}

/*
 * Walk the suspended stack. coil__switch_look() calls this function as if from that
 * stack. The walk skips exactly one frame for this function, which must therefore neither
 * be inlined nor end in a tail call.
 */
static COIL__NOINLINE void walk_frames(void *arg)
{
    unwinder.walk(visit, arg);
    __asm__ volatile("");
}

size_t coil__backtrace_suspended(const coil__coro *coro, void *addresses[], size_t max,
                                 bool (*machinery)(uintptr_t function))
{
    struct walk w = {.addresses = addresses,
                     .max = max,
                     .bottom = (uintptr_t)coro->class->main,
                     .to_skip = 2, /* walk_frames() and coil__switch_look() */
                     .is_machinery = machinery};
    int saved = errno;

    if (!coil__backtrace_has_room())
        return 0;
    if (load_unwinder())
        coil__switch_look(coro->sp, walk_frames, &w);
    errno = saved;
    return w.count;
}

/* ---- on another stack -------------------------------------------------------------- */

struct slot_search {
    const struct coil__stack *stack;
    size_t to_skip; /* number of frames of the walk itself */
    uintptr_t last; /* the address of the previous frame */
};

/*
 * Visit frames until one is at or above the lowest address of the coroutine's stack. The
 * frames of one stack have ascending addresses. So the walk also ends at a frame that is
 * not above the previous one, as may happen at the outer end of a stack that has no end
 * mark for unwinders.
 */
static _Unwind_Reason_Code look_for_slot(struct _Unwind_Context *frame, void *arg)
{
    struct slot_search *search = arg;
    uintptr_t address = unwinder.frame(frame), last = search->last;

    if (search->to_skip > 0) {
        search->to_skip--;
        return _URC_NO_REASON;
    }
    if (address <= last)
        return _URC_END_OF_STACK;
    search->last = address;
    return address < (uintptr_t)search->stack->low ? _URC_NO_REASON : _URC_END_OF_STACK;
}

static COIL__NOINLINE void walk_to_slot(void *search)
{
    unwinder.walk(look_for_slot, search);
    __asm__ volatile(""); /* prevents a tail call, as in walk_frames() */
}

static enum coil__coro_frames find_frames(const coil__coro *coro)
{
    struct slot_search search = {.stack = &coro->stack, .to_skip = 2};

    if (!load_unwinder())
        return COIL__FRAMES_UNKNOWN;
    coil__switch_look(coro->sp, walk_to_slot, &search);
    return search.last >= (uintptr_t)coro->stack.low &&
                   search.last <= (uintptr_t)coro->stack.high
               ? COIL__FRAMES_IN_SLOT
               : COIL__FRAMES_ELSEWHERE;
}

__attribute__((constructor)) static void offer_search(void)
{
    coil__coro_find_frames = find_frames;
}

/* ---- through coroutines ------------------------------------------------------------ */

/*
 * True for coil's functions between the function that resumes a generator and the switch.
 */
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

/* ---- exceptions -------------------------------------------------------------------- */

struct throw_search {
    const void *found; /* return address of the last throw function found */
    bool is_next;
    size_t depth;
};

/*
 * Compare names, not addresses, because a sanitizer may interpose a function of the same
 * name.
 */
static bool is_throw_function(uintptr_t function)
{
    static const char *const names[] = {
        "__cxa_throw", "__cxa_rethrow",
        "_ZSt17rethrow_exceptionNSt15__exception_ptr13exception_ptrE"};
    Dl_info info;

    if (dladdr((void *)function, &info) == 0 || info.dli_sname == NULL)
        return false;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(info.dli_sname, names[i]) == 0)
            return true;
    return false;
}

static _Unwind_Reason_Code look_for_throw(struct _Unwind_Context *frame, void *arg)
{
    struct throw_search *s = arg;

    if (s->is_next)
        s->found = (void *)unwinder.address(frame);
    s->is_next = is_throw_function(unwinder.function(frame));
    return ++s->depth < MACHINERY_DEPTH || s->is_next ? _URC_NO_REASON
                                                      : _URC_END_OF_STACK;
}

const void *coil__backtrace_throw(void)
{
    struct throw_search s = {.found = NULL};

    if (coil__backtrace_has_room() && load_unwinder())
        unwinder.walk(look_for_throw, &s);
    return s.found;
}

uintptr_t coil__backtrace_sp(struct _Unwind_Context *context, const void *caller)
{
    Dl_info ours, its;

    if (!load_unwinder() || dladdr((void *)(uintptr_t)unwinder.frame, &ours) == 0 ||
        dladdr(caller, &its) == 0 || ours.dli_fbase != its.dli_fbase)
        return 0;
    return unwinder.frame(context);
}
