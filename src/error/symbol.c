/*
 * symbol.c - addresses of the program as functions, files and lines.
 *
 * Reading debug data costs milliseconds and a deep stack (libdw: 160 KiB). So it is read
 * once for all that is printed between begin and end, and looked at on a stack of its
 * own, where the one in use is a coroutine's.
 */
#include "symbol.h"

#include "../coro/coroutine.h"
#include "lines.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <string.h>

#define STACK_BYTES ((size_t)512 * 1024)

/* ---- what was read, for all threads ------------------------------------------------ */

static struct {
    pthread_mutex_t lock;
    unsigned users;
    bool opened;
    struct coil__lines *lines;
} session = {.lock = PTHREAD_MUTEX_INITIALIZER};

void coil__symbols_begin(void)
{
    pthread_mutex_lock(&session.lock);
    session.users++;
    pthread_mutex_unlock(&session.lock);
}

void coil__symbols_end(void)
{
    pthread_mutex_lock(&session.lock);
    if (--session.users == 0) {
        coil__lines_close(session.lines);
        session.lines = NULL;
        session.opened = false;
    }
    pthread_mutex_unlock(&session.lock);
}

struct printing {
    FILE *out;
    void *const *addresses;
    size_t n;
    bool cramped; /* no room for lines */
};

static size_t find(const struct printing *p, uintptr_t address,
                   struct coil__line found[COIL__LINES_MAX])
{
    if (p->cramped)
        return 0;
    if (!session.opened)
        session.lines = coil__lines_open();
    session.opened = true;
    return session.lines != NULL ? coil__lines_find(session.lines, address, found) : 0;
}

/* ---- one address ------------------------------------------------------------------- */

static const char *base_name(const char *path)
{
    const char *slash = path != NULL ? strrchr(path, '/') : NULL;

    return slash != NULL ? slash + 1 : path;
}

/* Without what a compiler adds to the name of a function that it made another one of:
 * "parse.part.0". */
static int length_of_name(const char *function)
{
    return (int)strcspn(function, ".");
}

/* What the dynamic linker knows: the module, and exported functions. */
static void print_module(FILE *out, const char *function, uintptr_t address)
{
    struct link_map *map = NULL;
    Dl_info info;

    if (dladdr1((void *)address, &info, (void **)&map, RTLD_DL_LINKMAP) == 0 ||
        map == NULL) {
        fprintf(out, "%#lx", (unsigned long)address);
        return;
    }
    if (function == NULL)
        function = info.dli_sname;
    if (function != NULL)
        fprintf(out, "%.*s in %s", length_of_name(function), function,
                base_name(info.dli_fname));
    else
        fprintf(out, "%s+%#lx", base_name(info.dli_fname),
                (unsigned long)(address - map->l_addr));
}

/* A compiler run in a folder of its own for what is built was told "../src/app.c". */
static const char *without_way_up(const char *file)
{
    while (strncmp(file, "../", 3) == 0)
        file += 3;
    return file;
}

static void print_line(FILE *out, const struct coil__line *line, uintptr_t address)
{
    if (line->file != NULL)
        fprintf(out, "%.*s at %s:%d", length_of_name(line->function), line->function,
                without_way_up(line->file), line->number);
    else
        print_module(out, line->function, address);
}

/* The address before a return address is in the call. */
static uintptr_t call_of(const void *pc)
{
    return (uintptr_t)pc - 1;
}

static void print_one(void *arg)
{
    const struct printing *p = arg;
    struct coil__line found[COIL__LINES_MAX];
    uintptr_t address = call_of(p->addresses[0]);

    if (find(p, address, found) > 0)
        print_line(p->out, &found[0], address);
    else
        print_module(p->out, NULL, address);
}

/* ---- a stack ----------------------------------------------------------------------- */

static bool is_coils(const struct coil__line *line)
{
    return strncmp(line->function, "coil_", strlen("coil_")) == 0;
}

/* Returns false if it was nothing but coil's own, and left out. */
static bool print_frame(const struct printing *p, uintptr_t address, bool outside_coil)
{
    struct coil__line found[COIL__LINES_MAX];
    size_t n = find(p, address, found);

    for (size_t i = 0; i < n; i++) {
        if (!outside_coil && is_coils(&found[i]))
            continue;
        outside_coil = true;
        fputs("    ", p->out);
        print_line(p->out, &found[i], address);
        putc('\n', p->out);
    }
    if (n > 0)
        return outside_coil;
    fputs("    ", p->out);
    print_module(p->out, NULL, address);
    putc('\n', p->out);
    return true;
}

static void print_frames(void *arg)
{
    const struct printing *p = arg;
    bool outside_coil = false;

    for (size_t i = 0; i < p->n; i++)
        outside_coil = print_frame(p, call_of(p->addresses[i]), outside_coil);
}

/* The helpers of the function that waits are the innermost frames, but few. */
#define HELPERS_MAX 3

static void print_waiting(void *arg)
{
    struct printing *p = arg;
    struct coil__line found[COIL__LINES_MAX];

    for (size_t i = 0; i < p->n && i <= HELPERS_MAX; i++) {
        size_t n = find(p, call_of(p->addresses[i]), found);

        /* What was inlined into a function of coil's is coil's. */
        if (n == 0 || !is_coils(&found[n - 1]))
            continue;
        p->addresses += i + 1;
        p->n -= i + 1;
        break;
    }
    print_frames(p);
}

/* ---- with room to work in ---------------------------------------------------------- */

static void print(void (*fn)(void *), struct printing *printing)
{
    coil__symbols_begin();
    pthread_mutex_lock(&session.lock);
    if (coil__coro_call(STACK_BYTES, fn, printing) < 0) {
        printing->cramped = true;
        fn(printing);
    }
    pthread_mutex_unlock(&session.lock);
    coil__symbols_end();
}

void coil__symbol_print(FILE *out, const void *pc)
{
    void *address = (void *)pc;

    print(print_one, &(struct printing){out, &address, 1, false});
}

void coil__symbol_print_stack(FILE *out, void *const addresses[], size_t n)
{
    print(print_frames, &(struct printing){out, addresses, n, false});
}

void coil__symbol_print_waiting(FILE *out, void *const addresses[], size_t n)
{
    print(print_waiting, &(struct printing){out, addresses, n, false});
}
