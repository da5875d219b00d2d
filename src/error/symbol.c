/*
 * symbol.c - prints addresses of the program as functions, files and lines.
 *
 * Reading debug data takes milliseconds, and libdw needs 160 KiB of stack. So debug data
 * is cached between coil__symbols_begin() and coil__symbols_end(), and look-ups that
 * begin on a coroutine's stack run on a larger stack.
 */
#include "symbol.h"

#include "../coro/coroutine.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <string.h>

#define STACK_BYTES ((size_t)512 * 1024)

/* ---- the cached debug data of all threads ------------------------------------------ */

static struct {
    pthread_mutex_t lock;
    unsigned users;
    bool opened;
    struct coil__lines *lines;
} session = {.lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP};

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

static const struct coil__symbol_source *symbol_source; /* NULL: this process */

void coil__symbols_use(const struct coil__symbol_source *source)
{
    symbol_source = source;
}

struct printing {
    struct coil__report *report;
    const char *margin; /* printed before each function */
    void *const *addresses;
    size_t n;
    const char *key; /* JSON key, if only one function is printed */
    bool cramped;    /* too little stack for libdw: print only modules */
};

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL ? slash + 1 : path;
}

/*
 * True for a function of coil.hpp. Reports omit such functions, and show their callers.
 */
static bool is_wrapper(const struct coil__line *line)
{
    return line->file != NULL && strcmp(base_name(line->file), "coil.hpp") == 0;
}

/*
 * Remove functions of coil.hpp, but keep the innermost function if nothing else is left.
 * Returns the new count.
 */
static size_t without_wrappers(struct coil__line found[], size_t n)
{
    size_t left = 0;

    for (size_t i = 0; i < n; i++)
        if (!is_wrapper(&found[i]))
            found[left++] = found[i];
    return left > 0 || n == 0 ? left : 1;
}

static size_t find_lines(const struct printing *p, uintptr_t address,
                         struct coil__line found[COIL__LINES_MAX])
{
    if (symbol_source != NULL)
        return without_wrappers(found,
                                symbol_source->lines(symbol_source, address, found));
    if (p->cramped)
        return 0;
    if (!session.opened)
        session.lines = coil__lines_open();
    session.opened = true;
    if (session.lines == NULL)
        return 0;
    return without_wrappers(found, coil__lines_find(session.lines, address, found));
}

/* ---- one address ------------------------------------------------------------------- */

/*
 * Return the length of the name without a compiler's suffix, such as that of
 * "parse.part.0", which is a split-off part of "parse".
 */
static int length_of_name(const char *function)
{
    return (int)strcspn(function, ".");
}

/*
 * Return the path of the module that contains the address. Stores the exported function,
 * or NULL, and the offset in the module.
 */
static const char *find_module(uintptr_t address, const char **function,
                               uintptr_t *offset)
{
    struct link_map *map = NULL;
    Dl_info info;

    if (symbol_source != NULL)
        return symbol_source->module(symbol_source, address, function, offset);
    if (dladdr1((void *)address, &info, (void **)&map, RTLD_DL_LINKMAP) == 0 ||
        map == NULL)
        return NULL;
    *function = info.dli_sname;
    *offset = address - map->l_addr;
    return info.dli_fname;
}

/*
 * Print an address without debug data: the exported function, or the module and offset.
 */
static void print_module(struct coil__report *report, const char *function,
                         uintptr_t address)
{
    const char *exported = NULL;
    uintptr_t offset = 0;
    const char *module = find_module(address, &exported, &offset);

    if (module == NULL) {
        coil__report_value(report, "address", "0x%zx", (size_t)address);
        return;
    }
    if (function == NULL)
        function = exported;
    if (function != NULL)
        coil__report_value(report, "function", "%.*s in ", length_of_name(function),
                           function);
    coil__report_value(report, "module", "%s", base_name(module));
    if (function == NULL)
        coil__report_value(report, "offset", "+0x%zx", (size_t)offset);
}

/* Return the last `count` components of the path. */
static const char *last_names(const char *path, int count)
{
    const char *at = path + strlen(path);

    while (at > path && (at[-1] != '/' || --count > 0))
        at--;
    return at;
}

/*
 * Remove each "../" from the beginning of the path, which is relative to the build
 * folder. If there are several, the build folder is outside the project, and the path
 * contains folders above the project, so return only its last three components.
 */
static const char *without_leading_folders(const char *file)
{
    int ups = 0;

    for (; strncmp(file, "../", 3) == 0; file += 3)
        ups++;
    return ups > 1 ? last_names(file, 3) : file;
}

/* Print the function at `address`. `line` is NULL without debug data. */
static void print_function(struct coil__report *report, const char *key,
                           const struct coil__line *line, uintptr_t address)
{
    coil__report_open(report, key, '{');
    if (line != NULL && line->file != NULL) {
        coil__report_value(report, "function", "%.*s", length_of_name(line->function),
                           line->function);
        coil__report_value(report, "file", " at %s", without_leading_folders(line->file));
        coil__report_value(report, "line", ":%d", line->number);
    } else
        print_module(report, line != NULL ? line->function : NULL, address);
    coil__report_close(report, '}');
}

/* Return an address inside the call instruction: the byte before the return address. */
static uintptr_t call_of(const void *pc)
{
    return (uintptr_t)pc - 1;
}

static void print_innermost(void *arg)
{
    const struct printing *p = arg;
    struct coil__line found[COIL__LINES_MAX];
    uintptr_t address = call_of(p->addresses[0]);
    size_t n = find_lines(p, address, found);

    print_function(p->report, p->key, n > 0 ? &found[0] : NULL, address);
}

/* ---- a stack ----------------------------------------------------------------------- */

/*
 * True if this is one of coil's functions, except coil_call_traced(), which does not wait
 * but calls a function of the program.
 */
static bool is_coils(const struct coil__line *line)
{
    return strncmp(line->function, "coil_", strlen("coil_")) == 0 &&
           strcmp(line->function, "coil_call_traced") != 0;
}

/* Return the base address of the library that contains the address, or NULL if the
   program contains it. */
static const void *library_of(const void *address)
{
    struct link_map *map = NULL;
    Dl_info info;

    if (dladdr1(address, &info, (void **)&map, RTLD_DL_LINKMAP) == 0 || map == NULL ||
        map->l_name[0] == '\0')
        return NULL;
    return info.dli_fbase;
}

/*
 * True if the address is in one of the ranges that own.h records, which exist even in
 * stripped programs. With link-time optimisation (gcc -flto), every record contains the
 * range of the whole program, so if two records begin at the same address, all records
 * are ignored.
 */
static bool in_own_text(uintptr_t address)
{
    uintptr_t first = 0;
    bool found = false;

    for (const struct coil__own_text *note = __start_coil_own_text;
         note < __stop_coil_own_text; note++) {
        uintptr_t begin = (uintptr_t)note + (uintptr_t)(intptr_t)note->begin;

        if (note->size == 0)
            continue;
        if (begin == first)
            return false;
        if (first == 0)
            first = begin;
        found |= address - begin < note->size;
    }
    return found;
}

/* True if the address is in libcoil's code. Works without symbols. */
static bool is_own(uintptr_t address)
{
    const void *own;

    if (symbol_source != NULL)
        return symbol_source->is_own(symbol_source, address);
    own = library_of((const void *)(uintptr_t)coil__symbols_begin);
    return (own != NULL && library_of((const void *)address) == own) ||
           in_own_text(address);
}

static void print_frame_line(const struct printing *p, const struct coil__line *line,
                             uintptr_t address)
{
    coil__report_words(p->report, "%s", p->margin);
    print_function(p->report, NULL, line, address);
    coil__report_words(p->report, "\n");
}

/*
 * Print the functions of one frame. coil's functions are omitted as long as
 * `outside_coil` is false, that is, until a function of the program was printed. Returns
 * the new value of `outside_coil`.
 */
static bool print_frame(const struct printing *p, uintptr_t address, bool outside_coil)
{
    struct coil__line found[COIL__LINES_MAX];
    size_t n;

    if (!outside_coil && is_own(address))
        return false;
    n = find_lines(p, address, found);
    if (n > 0 && is_wrapper(&found[0]))
        return outside_coil;
    for (size_t i = 0; i < n; i++) {
        if (!outside_coil && is_coils(&found[i]))
            continue;
        outside_coil = true;
        print_frame_line(p, &found[i], address);
    }
    if (n > 0)
        return outside_coil;
    print_frame_line(p, NULL, address);
    return true;
}

static bool is_wrapper_frame(const struct printing *p, uintptr_t address)
{
    struct coil__line found[COIL__LINES_MAX];

    return find_lines(p, address, found) > 0 && is_wrapper(&found[0]);
}

/*
 * Return the number of frames, not counting coil's frames at the outer end, such as those
 * of a server that calls its handler, or of coil.hpp, which calls a task's function.
 */
static size_t without_outer_end(const struct printing *p)
{
    size_t n = p->n;

    while (n > 0 && (is_own(call_of(p->addresses[n - 1])) ||
                     is_wrapper_frame(p, call_of(p->addresses[n - 1]))))
        n--;
    return n;
}

static void print_frames(void *arg)
{
    const struct printing *p = arg;
    size_t n = without_outer_end(p);
    bool outside_coil = false;

    coil__report_open(p->report, "frames", '[');
    for (size_t i = 0; i < n; i++)
        outside_coil = print_frame(p, call_of(p->addresses[i]), outside_coil);
    coil__report_close(p->report, ']');
}

/* A public function that waits calls at most this many nested functions of coil. */
#define HELPERS_MAX 3

static void print_waiting(void *arg)
{
    struct printing *p = arg;
    struct coil__line found[COIL__LINES_MAX];

    for (size_t i = 0; i < p->n && i <= HELPERS_MAX; i++) {
        size_t n = find_lines(p, call_of(p->addresses[i]), found);

        /*
         * If functions are inlined into each other, the outermost one decides whether the
         * code is coil's.
         */
        if (n == 0 || !is_coils(&found[n - 1]))
            continue;
        p->addresses += i + 1;
        p->n -= i + 1;
        break;
    }
    print_frames(p);
}

/*
 * True if the frame belongs to coil, judging by its address, or by its function's name in
 * debug data or in the dynamic linker's symbol table.
 */
static bool is_coils_frame(const struct printing *p, uintptr_t address)
{
    struct coil__line found[COIL__LINES_MAX];
    size_t n = find_lines(p, address, found);
    Dl_info info;

    if (is_own(address))
        return true;
    for (size_t i = 0; i < n; i++)
        if (is_coils(&found[i]))
            return true;
    return n == 0 && dladdr((void *)address, &info) != 0 && info.dli_sname != NULL &&
           strncmp(info.dli_sname, "coil_", strlen("coil_")) == 0;
}

/*
 * Print the caller of coil's outermost frame, that is, the code that called a public
 * function of coil.
 */
static void print_caller(void *arg)
{
    struct printing *p = arg;
    size_t first = 0;

    for (size_t i = 0; i < p->n; i++)
        if (is_coils_frame(p, call_of(p->addresses[i])))
            first = i + 1;
    if (first < p->n)
        p->addresses += first;
    print_innermost(p);
}

/*
 * Print the function whose source contains the call. Skip inline wrappers in system
 * headers, such as poll() with _FORTIFY_SOURCE.
 */
static void print_calling(const struct printing *p)
{
    struct coil__line found[COIL__LINES_MAX];
    uintptr_t address = call_of(p->addresses[0]);
    size_t n = find_lines(p, address, found), i = 0;

    while (i + 1 < n && found[i].file != NULL &&
           strncmp(found[i].file, "/usr/include/", strlen("/usr/include/")) == 0)
        i++;
    print_function(p->report, "called_by", n > 0 ? &found[i] : NULL, address);
}

/*
 * Print where a thread blocks or computes. If the innermost frames are in a library,
 * print the library function that was called, and its caller, but no lines inside the
 * library, which mean little to users.
 */
static void print_place(void *arg)
{
    struct printing *p = arg;
    const void *library = library_of((const void *)call_of(p->addresses[0]));
    size_t i = 0;

    while (library != NULL && i + 1 < p->n &&
           library_of((const void *)call_of(p->addresses[i + 1])) == library)
        i++;
    p->addresses += i;
    p->n -= i;
    if (library == NULL) {
        print_innermost(p);
        return;
    }
    print_function(p->report, p->key, NULL, call_of(p->addresses[0]));
    do {
        p->addresses++;
        p->n--;
    } while (p->n > 0 && is_own(call_of(p->addresses[0])));
    if (p->n == 0)
        return;
    coil__report_words(p->report, ", called by ");
    print_calling(p);
}

/* ---- on a larger stack ------------------------------------------------------------- */

static void print_with_room(void (*fn)(void *), struct printing *printing)
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

void coil__symbol_print(struct coil__report *report, const char *key, const char *pattern,
                        const void *pc)
{
    const char *place = strstr(pattern, "%s");
    void *address = (void *)pc;

    if (pc == NULL)
        return;
    coil__report_words(report, "%.*s", (int)(place - pattern), pattern);
    print_with_room(
        print_innermost,
        &(struct printing){.report = report, .addresses = &address, .n = 1, .key = key});
    coil__report_words(report, "%s", place + 2);
}

void coil__symbol_print_stack(struct coil__report *report, const char *margin,
                              void *const addresses[], size_t n)
{
    print_with_room(print_frames,
                    &(struct printing){report, margin, addresses, n, NULL, false});
}

void coil__symbol_print_waiting(struct coil__report *report, const char *margin,
                                void *const addresses[], size_t n)
{
    print_with_room(print_waiting,
                    &(struct printing){report, margin, addresses, n, NULL, false});
}

void coil__symbol_print_caller(struct coil__report *report, const char *key,
                               void *const addresses[], size_t n)
{
    print_with_room(print_caller,
                    &(struct printing){report, NULL, addresses, n, key, false});
}

void coil__symbol_print_place(struct coil__report *report, const char *key,
                              void *const addresses[], size_t n)
{
    print_with_room(print_place,
                    &(struct printing){report, NULL, addresses, n, key, false});
}
