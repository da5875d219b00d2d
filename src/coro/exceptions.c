/*
 * exceptions.c - saves and restores a coroutine's C++ exceptions when it is switched.
 *
 * A C++ runtime keeps two words for each thread: the list of exceptions whose catch
 * blocks are open, and the number of exceptions thrown and not yet caught. If a coroutine
 * is suspended inside a catch block, or in a destructor during unwinding, the two words
 * are saved on its own stack, and the thread's words are set to zero. So every coroutine
 * starts with zeros, and nearly every switch can skip this work.
 *
 * To decide, the switch reads eight bytes, which are zero if there is nothing to do:
 * - With one C++ runtime, they are six bytes of its first word and two bytes of the
 *   second. Reading both words would make a switch 3 % slower.
 * - Without a runtime, they are a word of the loader that changes when the next object is
 *   opened with dlopen(3), possibly by the running task.
 * - With several runtimes, or if the loader does not have such a word, they are `always`,
 *   which is not zero, so each switch calls the functions in this file. If there is no
 *   runtime, these functions then check whether the loader has opened an object (15 ns).
 *
 * A new thread starts with `always`, so its first switch also calls these functions.
 * Under a sanitizer, so does each later switch: see sanitizer.h. A runtime is found by
 * its name, or through a weak reference if the program was linked with the runtime. Two
 * kinds of runtime are not found: a copy hidden in a plugin, and a second runtime that is
 * opened after the first was found.
 */
#include "exceptions.h"

#include "../base/line.h"
#include "coroutine.h"
#include "objects.h"
#include "sanitizer.h"

#include <dlfcn.h>

typedef struct coil__exceptions *get_globals(void);

/* NULL if the program was linked without C++. */
COIL__WEAK get_globals __cxa_get_globals;

const uint64_t coil__exceptions_always = 1;

static COIL__THREAD_LOCAL struct {
    unsigned count;
    struct coil__exceptions *of[COIL__CXX_RUNTIMES_MAX];
    bool looked;
    unsigned long long opened; /* coil__objects.opened at the last search for runtimes */
} runtimes;

/* ---- which runtimes ---------------------------------------------------------------- */

static void add_runtime(get_globals *get)
{
    struct coil__exceptions *ours = get();

    for (unsigned i = 0; i < runtimes.count; i++)
        if (runtimes.of[i] == ours)
            return;
    if (runtimes.count < COIL__CXX_RUNTIMES_MAX)
        runtimes.of[runtimes.count++] = ours;
}

/*
 * Add the runtime with this name, if it is loaded, and prevent it from being unloaded, so
 * that its words can always be read.
 */
static void add_runtime_of(const char *name)
{
    void *object = dlopen(name, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
    get_globals *get;

    if (object == NULL)
        return;
    *(void **)&get = dlsym(object, "__cxa_get_globals");
    if (get != NULL)
        add_runtime(get);
    dlclose(object);
}

/*
 * Return the address of eight bytes that are zero if and only if both words are zero: the
 * upper six bytes of the pointer and the lower two of the count. Objects are at addresses
 * above 64 KiB, so a pointer to a caught exception has a bit set in its upper six bytes.
 * A stack is too small for 65,536 exceptions in flight, so the count fits into two bytes.
 */
static const void *watch_both(const struct coil__exceptions *words)
{
    _Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ && sizeof(void *) == 8 &&
                       offsetof(struct coil__exceptions, uncaught) == 8,
                   "the count's lower bytes lie beside the pointer's upper ones");
    return (const char *)words + 2;
}

static const void *choose_watch(const struct coil__objects *objects)
{
    if (!coil__san_present() && runtimes.count == 1)
        return watch_both(runtimes.of[0]);
    if (!coil__san_present() && runtimes.count == 0 && objects->next != NULL)
        return objects->next;
    return &coil__exceptions_always;
}

static COIL__NOINLINE void look_for_runtimes(void)
{
    struct coil__objects objects;
    int saved = errno;

    coil__objects_look(
        &objects); /* before the search: objects opened during it are found next time */
    runtimes.looked = true;
    runtimes.opened = objects.opened;
    if (__cxa_get_globals != NULL)
        add_runtime(__cxa_get_globals);
    add_runtime_of("libstdc++.so.6");
    add_runtime_of("libc++abi.so.1");
    coil__coro_thread.watch = choose_watch(&objects);
    errno = saved;
}

/* ---- leaving and resuming ---------------------------------------------------------- */

void coil__exceptions_leave(struct coil__kept_exceptions *kept)
{
    if (!runtimes.looked ||
        (runtimes.count == 0 && runtimes.opened != coil__objects_opened()))
        look_for_runtimes();
    kept->count = runtimes.count;
    for (unsigned i = 0; i < kept->count; i++) {
        kept->of[i] = *runtimes.of[i];
        *runtimes.of[i] = (struct coil__exceptions){0};
    }
}

void coil__exceptions_return(const struct coil__kept_exceptions *kept)
{
    for (unsigned i = 0; i < kept->count; i++)
        *runtimes.of[i] = kept->of[i];
}

/* ---- frames that exceptions must not leave ----------------------------------------- */

enum { SEARCH_PHASE = 1, FATAL_ERROR_IN_SEARCH = 3, CONTINUE_UNWINDING = 8 };

static int stop(int actions, const char *kind, const char *name)
{
    if ((actions & SEARCH_PHASE) == 0)
        return CONTINUE_UNWINDING;
    coil__line_print("coil: an exception would leave %s%s; catch it there, because "
                     "exceptions cannot pass through coil\n",
                     kind, name);
    return FATAL_ERROR_IN_SEARCH;
}

int coil__exceptions_stop(int version, int actions, uint64_t class, void *exception,
                          void *context)
{
    (void)version, (void)class, (void)exception, (void)context;
    return stop(actions, "the body of ", coil__coro_label(coil__coro_current()));
}

int coil__exceptions_stop_callback(int version, int actions, uint64_t class,
                                   void *exception, void *context)
{
    (void)version, (void)class, (void)exception, (void)context;
    return stop(actions, "a callback of the loop", "");
}
