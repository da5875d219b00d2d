/*
 * thread_locals.c - give each task its own thread-local variables of a library:
 * coil_hooks_thread_locals().
 *
 * Compiled code reads a thread-local variable at a fixed offset in the thread's memory.
 * The hooks therefore exchange the contents of this memory when a task is entered and
 * left: the whole block of the library (its PT_TLS segment), which is often a few hundred
 * bytes. A new task begins with the initial values, like a new thread.
 *
 * Destructors of thread-local objects are registered by __cxa_thread_atexit_impl(), which
 * C++ and Rust call. In a task with these hooks, such destructors run when the task ends.
 */
#include "interpose.h"

#include <coil/loop.h>
#include <coil/posix.h>

#include <dlfcn.h>
#include <link.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define MOST_LIBRARIES 16
#define MOST_BYTES (COIL_HOOK_STATES_BYTES - sizeof(struct variables))

struct destructor {
    void (*destroy)(void *object);
    void *object;
    struct destructor *next;
};

/* The state of a task's hooks. */
struct variables {
    struct destructor *destructors; /* the latest one first */
    bool begun;
    char values[]; /* the task's values while the task waits, otherwise the thread's */
};

struct library {
    struct posix__range range; /* where the library is loaded */
    /* the number that the dynamic linker gives to the library's thread-local variables */
    size_t module;
    const void *initial;
    size_t initial_bytes, size;
    coil_task_hooks hooks;
};

/* An argument of __tls_get_addr(). */
struct variable {
    unsigned long module, offset;
};

void *__tls_get_addr(struct variable *variable);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct library libraries[MOST_LIBRARIES];
static unsigned library_count;

/* The states of the running task, by library. */
static THREAD_LOCAL struct variables *entered[MOST_LIBRARIES];

/* ---- finding the library ----------------------------------------------------------- */

static bool library_contains(const struct library *library, const void *address)
{
    return posix__range_contains(&library->range, address);
}

struct search {
    const void *address;
    struct library found;
};

/* A callback for dl_iterate_phdr(3): describe the library if it contains the address. */
static int find_library(struct dl_phdr_info *info, size_t bytes, void *arg)
{
    struct search *search = arg;
    struct library found = {.range = posix__range_of(info)};

    (void)bytes;
    if (!library_contains(&found, search->address))
        return 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];

        if (segment->p_type != PT_TLS)
            continue;
        found.module = info->dlpi_tls_modid;
        found.initial = (const void *)(info->dlpi_addr + segment->p_vaddr);
        found.initial_bytes = segment->p_filesz;
        found.size = segment->p_memsz;
    }
    search->found = found;
    return 1;
}

/*
 * True if the library's variables belong to the thread and must not be exchanged. This
 * applies to coil, the C library and excluded libraries, which use their variables even
 * when no task with the hooks is running.
 */
static bool is_of_thread(const struct library *library)
{
    return library_contains(library, (const void *)coil_may_suspend) ||
           library_contains(library, (const void *)coil_loop_current) ||
           library_contains(library, (const void *)coil_hooks_thread_locals) ||
           library_contains(library, (const void *)NEXT(read)) ||
           posix__is_excluded((const void *)library->range.begin);
}

/* ---- the hooks --------------------------------------------------------------------- */

static void exchange(const struct library *library, char *values)
{
    char *block = __tls_get_addr(&(struct variable){.module = library->module});
    char piece[256];

    for (size_t done = 0; done < library->size; done += sizeof piece) {
        size_t left = library->size - done, n = left < sizeof piece ? left : sizeof piece;

        memcpy(piece, block + done, n);
        memcpy(block + done, values + done, n);
        memcpy(values + done, piece, n);
    }
}

static void enter(void *state, void *data)
{
    struct variables *variables = state;
    const struct library *library = data;

    if (!variables->begun)
        memcpy(variables->values, library->initial, library->initial_bytes);
    variables->begun = true;
    exchange(library, variables->values);
    entered[library - libraries] = variables;
}

static void leave(void *state, void *data)
{
    struct variables *variables = state;
    const struct library *library = data;

    entered[library - libraries] = NULL;
    exchange(library, variables->values);
}

/* Call the destructors, the latest one first. A destructor may register another one. */
static void end(void *state, void *data)
{
    struct variables *variables = state;

    while (variables->destructors != NULL) {
        struct destructor *d = variables->destructors;

        variables->destructors = d->next;
        d->destroy(d->object);
        free(d);
    }
    leave(state, data);
}

/* Register a destructor of a thread-local variable. `library` is any address in the
 * library that has the variable. */
INTERPOSE int __cxa_thread_atexit_impl(void (*destroy)(void *object), void *object,
                                       void *library)
{
    unsigned i = 0;
    struct destructor *d;

    while (i < MOST_LIBRARIES &&
           (entered[i] == NULL || !library_contains(&libraries[i], library)))
        i++;
    d = i < MOST_LIBRARIES ? malloc(sizeof *d) : NULL;
    if (d == NULL)
        return NEXT(__cxa_thread_atexit_impl)(destroy, object, library);
    *d = (struct destructor){
        .destroy = destroy, .object = object, .next = entered[i]->destructors};
    entered[i]->destructors = d;
    return 0;
}

static bool has_own_variables(const void *address)
{
    for (unsigned i = 0; i < MOST_LIBRARIES; i++)
        if (entered[i] != NULL && library_contains(&libraries[i], address))
            return true;
    return false;
}

/*
 * Report once that a task waits in Rust's thread::park() while it shares its thread-local
 * variables, in which thread::park() keeps its state, with other tasks.
 */
void posix__note_park(const void *caller)
{
    static _Atomic bool reported;
    char text[600];
    Dl_info info;
    int n;

    if (has_own_variables(caller) || atomic_exchange(&reported, true))
        return;
    n = snprintf(
        text, sizeof text,
        "coil: A task waits in thread::park() in %s. If two tasks of a thread do so, "
        "they hang: see Rust in docs/manual/posix.md\n",
        dladdr(caller, &info) != 0 ? basename(info.dli_fname) : "a program");
    if (NEXT(write)(STDERR_FILENO, text, n < (int)sizeof text ? (size_t)n : 0) < 0)
        return;
}

/* Add a library. The caller holds the lock. Returns NULL if the table is full. */
static struct library *add_library(const struct library *found)
{
    struct library *library;

    for (unsigned i = 0; i < library_count; i++)
        if (libraries[i].range.begin == found->range.begin &&
            libraries[i].module == found->module)
            return &libraries[i];
    if (library_count == MOST_LIBRARIES)
        return NULL;
    library = &libraries[library_count++];
    *library = *found;
    library->hooks =
        (coil_task_hooks){.state_bytes = sizeof(struct variables) + library->size,
                          .enter = enter,
                          .leave = leave,
                          .end = end,
                          .data = library};
    return library;
}

const coil_task_hooks *coil_hooks_thread_locals(const void *address)
{
    struct search search = {.address = address};
    struct library *library;

    if (dl_iterate_phdr(find_library, &search) == 0 || search.found.size == 0 ||
        search.found.size > MOST_BYTES || is_of_thread(&search.found))
        return NULL;
    NEXT(pthread_mutex_lock)(&lock);
    library = add_library(&search.found);
    NEXT(pthread_mutex_unlock)(&lock);
    return library != NULL ? &library->hooks : NULL;
}
