/*
 * unwind.c - finds the functions on the stacks of tasks, with libdw.
 *
 * libdw walks the stacks of threads. So this file presents each coroutine as a thread
 * with only two registers: the program counter, which is the address where the coroutine
 * resumes, and the saved stack pointer. The call frame information provides all other
 * registers. Memory is read from the copies of the task's stacks.
 *
 * libdw opens the files of modules by name, which fails if the process is in another
 * mount namespace, or if the file was deleted. So find_elf() opens the files through
 * /proc/PID/map_files.
 */
#include "unwind.h"

#include "module.h"

#include "../../src/error/lines.h"
#include "../../src/error/symbol.h"

#include <elfutils/libdwfl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FRAMES_MAX 64
#define MACHINERY_DEPTH 8

#if defined __x86_64__
#define STACK_POINTER 7
#elif defined __aarch64__
#define STACK_POINTER 31
#endif

struct looked_up {
    uint64_t address;
    size_t count;
    struct coil__line lines[COIL__LINES_MAX];
};

struct unwinding {
    Dwfl *dwfl;
    const struct table *table;
    struct image *image;
    int pid; /* 0: a core */
    Elf *core;
    int core_fd;
    struct coil__lines *lines;
    struct coil__symbol_source source;
    /* the walk */
    const struct copies *copies;
    const struct coroutine *coroutine;
    uint64_t addresses[FRAMES_MAX];
    size_t count, depth;
    /* hash tables: stacks by their return addresses, and lines by address */
    uint32_t *index;
    size_t index_size, stack_room;
    struct looked_up *cache;
    size_t cache_size, cache_count;
};

/* ---- the files of modules ---------------------------------------------------------- */

/*
 * Return the end of the mapping that begins at `start`. The name of its file in
 * /proc/PID/map_files consists of both addresses.
 */
static uint64_t end_of_mapping(int pid, uint64_t start)
{
    char path[64], line[4400];
    unsigned long long begin, end;
    uint64_t found = 0;
    FILE *maps;

    snprintf(path, sizeof path, "/proc/%d/maps", pid);
    maps = fopen(path, "re");
    while (maps != NULL && found == 0 && fgets(line, sizeof line, maps) != NULL)
        if (sscanf(line, "%llx-%llx", &begin, &end) == 2 && begin == start)
            found = end;
    if (maps != NULL)
        fclose(maps);
    return found;
}

static bool is_program(int pid, const char *name)
{
    char path[64], target[4400];
    ssize_t n;

    snprintf(path, sizeof path, "/proc/%d/exe", pid);
    n = readlink(path, target, sizeof target - 1);
    if (n <= 0)
        return false;
    target[n] = '\0';
    return strncmp(target, name, strlen(name)) == 0;
}

/*
 * Open the file of a module of the process. Try /proc/PID/map_files first, because it
 * also works across mount namespaces.
 */
static int open_module(const struct unwinding *u, const char *name, uint64_t start)
{
    char path[4500];
    struct module_note note;
    const struct module_note *id = module_find_id(u->image, start, &note) ? &note : NULL;
    uint64_t end = end_of_mapping(u->pid, start);
    int fd = -1;

    if (end != 0) {
        snprintf(path, sizeof path, "/proc/%d/map_files/%llx-%llx", u->pid,
                 (unsigned long long)start, (unsigned long long)end);
        fd = module_open_with_id(path, id);
    }
    if (fd < 0) {
        snprintf(path, sizeof path, "/proc/%d/root%s", u->pid, name);
        fd = module_open_with_id(path, id);
    }
    if (fd < 0 && is_program(u->pid, name)) {
        snprintf(path, sizeof path, "/proc/%d/exe", u->pid);
        fd = module_open_with_id(path, id);
    }
    return fd;
}

static int find_elf(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base,
                    char **file, Elf **elf)
{
    const struct unwinding *u = *data;
    Dwarf_Addr start;
    int fd;

    dwfl_module_info(module, NULL, &start, NULL, NULL, NULL, NULL, NULL);
    if (u->image->open_module != NULL)
        fd = u->image->open_module(u->image, start);
    else if (name[0] == '/')
        fd = open_module(u, name, start);
    else
        return dwfl_linux_proc_find_elf(module, data, name, base, file, elf);
    if (fd >= 0)
        *file = strdup(name);
    return fd;
}

/*
 * Find debug information. Only local files are searched, unless the user requests
 * debuginfod, which is slow.
 */
static int find_debuginfo(Dwfl_Module *module, void **data, const char *name,
                          Dwarf_Addr base, const char *file, const char *link,
                          GElf_Word crc, char **debug_file)
{
    return dwfl_standard_find_debuginfo(module, data, name, base, file, link, crc,
                                        debug_file);
}

static int set_data(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base,
                    void *arg)
{
    (void)module, (void)name, (void)base;
    *data = arg;
    return DWARF_CB_OK;
}

/* ---- the walk ---------------------------------------------------------------------- */

static pid_t next_thread(Dwfl *dwfl, void *arg, void **thread)
{
    (void)dwfl;
    if (*thread != NULL)
        return 0;
    *thread = arg;
    return 1;
}

static bool get_thread(Dwfl *dwfl, pid_t tid, void *arg, void **thread)
{
    (void)dwfl, (void)tid;
    *thread = arg;
    return true;
}

static bool read_memory(Dwfl *dwfl, Dwarf_Addr address, Dwarf_Word *result, void *arg)
{
    const struct unwinding *u = arg;

    (void)dwfl;
    return copies_read(u->copies, address, result, sizeof *result);
}

/* Set the registers of a stopped thread. */
static bool set_thread_registers(Dwfl_Thread *thread, const struct unwinding *u)
{
    const struct registers *registers = u->copies->registers;

    dwfl_thread_state_register_pc(thread, registers->pc);
    return dwfl_thread_state_registers(thread, 0, registers->count, registers->words);
}

static bool set_registers(Dwfl_Thread *thread, void *arg)
{
    const struct unwinding *u = arg;
    const Dwarf_Word sp = u->coroutine->sp;

    if (u->coroutine->runs)
        return set_thread_registers(thread, u);
    dwfl_thread_state_register_pc(thread, u->table->resume);
    return dwfl_thread_state_registers(thread, STACK_POINTER, 1, &sp);
}

static const Dwfl_Thread_Callbacks thread_callbacks = {.next_thread = next_thread,
                                                       .get_thread = get_thread,
                                                       .memory_read = read_memory,
                                                       .set_initial_registers =
                                                           set_registers};

/*
 * Record a frame. Skip the innermost frame of a suspended coroutine, which is coil's
 * switch.
 */
static int add_frame(Dwfl_Frame *frame, void *arg)
{
    struct unwinding *u = arg;
    Dwarf_Addr pc;
    bool is_activation;

    if (!dwfl_frame_pc(frame, &pc, &is_activation) || pc == 0)
        return DWARF_CB_ABORT;
    u->depth++;
    if (!u->coroutine->runs && u->depth == 1)
        return DWARF_CB_OK;
    if (is_activation)
        pc++; /* printing subtracts 1, as for a return address */
    if (u->count < FRAMES_MAX)
        u->addresses[u->count++] = pc;
    return u->count < FRAMES_MAX ? DWARF_CB_OK : DWARF_CB_ABORT;
}

/* ---- coil's own code --------------------------------------------------------------- */

static bool is_own(const struct coil__symbol_source *source, uintptr_t address)
{
    const struct unwinding *u = source->arg;
    Dwfl_Module *module = dwfl_addrmodule(u->dwfl, address);
    const char *name = module != NULL ? dwfl_module_info(module, NULL, NULL, NULL, NULL,
                                                         NULL, NULL, NULL)
                                      : NULL;
    const char *base = name != NULL ? strrchr(name, '/') : NULL;

    if (base != NULL && strncmp(base, "/libcoil.so", strlen("/libcoil.so")) == 0)
        return true;
    return table_is_own(u->table, address);
}

/* ---- stacks that are equal --------------------------------------------------------- */

static size_t hash_addresses(const uint64_t *addresses, size_t count, size_t size)
{
    uint64_t h = count;

    for (size_t i = 0; i < count; i++)
        h = (h ^ addresses[i]) * UINT64_C(0x9e3779b97f4a7c15);
    return (size_t)(h >> 20) & (size - 1);
}

static bool index_stacks(struct unwinder *unwinder)
{
    struct unwinding *u = unwinder->private;
    size_t size = u->index_size == 0 ? 1024 : u->index_size * 2;

    free(u->index);
    u->index = malloc(size * sizeof *u->index);
    if (u->index == NULL)
        return false;
    u->index_size = size;
    memset(u->index, 0xff, size * sizeof *u->index);
    for (uint32_t i = 0; i < unwinder->stack_count; i++) {
        const struct stack *s = &unwinder->stacks[i];
        size_t at = hash_addresses(s->addresses, s->count, size);

        while (u->index[at] != NONE)
            at = (at + 1) & (size - 1);
        u->index[at] = i;
    }
    return true;
}

static uint32_t add_stack(struct unwinder *unwinder)
{
    struct unwinding *u = unwinder->private;
    struct stack *s;
    size_t at;

    if ((unwinder->stack_count + 1) * 2 > u->index_size && !index_stacks(unwinder))
        return NONE;
    at = hash_addresses(u->addresses, u->count, u->index_size);
    for (; u->index[at] != NONE; at = (at + 1) & (u->index_size - 1)) {
        s = &unwinder->stacks[u->index[at]];
        if (s->count == u->count &&
            memcmp(s->addresses, u->addresses, u->count * sizeof *s->addresses) == 0)
            return u->index[at];
    }
    if (unwinder->stack_count == u->stack_room) {
        size_t room = u->stack_room == 0 ? 64 : u->stack_room * 2;

        s = realloc(unwinder->stacks, room * sizeof *s);
        if (s == NULL)
            return NONE;
        unwinder->stacks = s;
        u->stack_room = room;
    }
    s = &unwinder->stacks[unwinder->stack_count];
    *s = (struct stack){.addresses = malloc((u->count + 1) * sizeof *s->addresses),
                        .count = (uint32_t)u->count};
    if (s->addresses == NULL)
        return NONE;
    memcpy(s->addresses, u->addresses, u->count * sizeof *s->addresses);
    u->index[at] = unwinder->stack_count;
    return unwinder->stack_count++;
}

/* ---- the ends of a coroutine's frames ---------------------------------------------- */

/* Remove the outermost frames: coil's functions that called the task's function. */
static void drop_outer_end(struct unwinding *u, size_t first)
{
    while (u->count > first && is_own(&u->source, u->addresses[u->count - 1] - 1))
        u->count--;
}

static bool is_switch(const struct unwinding *u, uint64_t address)
{
    Dwfl_Module *module = dwfl_addrmodule(u->dwfl, address);
    const char *name = module != NULL ? dwfl_module_addrname(module, address) : NULL;

    return name != NULL && (strncmp(name, "coil__coro_", strlen("coil__coro_")) == 0 ||
                            strncmp(name, "coil__switch", strlen("coil__switch")) == 0);
}

/*
 * Remove the innermost frames of a coroutine that has resumed a generator: the functions
 * of coil's switch.
 */
static void drop_switch(struct unwinding *u, size_t first)
{
    size_t n = 0;

    for (size_t i = first; i < u->count && i < first + MACHINERY_DEPTH; i++)
        if (is_switch(u, u->addresses[i] - 1))
            n = i + 1 - first;
    memmove(u->addresses + first, u->addresses + first + n,
            (u->count - first - n) * sizeof u->addresses[0]);
    u->count -= n;
}

uint32_t unwinder_stack(void *arg, const struct task *task,
                        const struct coroutine *coroutines, size_t count,
                        const struct copies *copies)
{
    struct unwinder *unwinder = arg;
    struct unwinding *u = unwinder->private;

    (void)task;
    u->copies = copies;
    u->count = 0;
    for (size_t i = 0; i < count && u->count < FRAMES_MAX; i++) {
        size_t first = u->count;

        u->coroutine = &coroutines[i];
        u->depth = 0;
        dwfl_getthread_frames(u->dwfl, 1, add_frame, u);
        if (u->count < FRAMES_MAX)
            drop_outer_end(u, first);
        if (i > 0)
            drop_switch(u, first);
    }
    return add_stack(unwinder);
}

/* ---- symbols ----------------------------------------------------------------------- */

static bool grow_cache(struct unwinding *u)
{
    size_t size = u->cache_size == 0 ? 1024 : u->cache_size * 2;
    struct looked_up *larger = calloc(size, sizeof *larger);

    if (larger == NULL)
        return false;
    for (size_t i = 0; i < u->cache_size; i++) {
        size_t at = hash_addresses(&u->cache[i].address, 1, size);

        if (u->cache[i].address == 0)
            continue;
        while (larger[at].address != 0)
            at = (at + 1) & (size - 1);
        larger[at] = u->cache[i];
    }
    free(u->cache);
    u->cache = larger;
    u->cache_size = size;
    return true;
}

static size_t find_lines(const struct coil__symbol_source *source, uintptr_t address,
                         struct coil__line found[COIL__LINES_MAX])
{
    struct unwinding *u = source->arg;
    uint64_t key = address;
    struct looked_up *entry;
    size_t at;

    if (u->lines == NULL || address == 0)
        return 0;
    if (u->cache_count * 2 >= u->cache_size && !grow_cache(u))
        return coil__lines_find(u->lines, address, found);
    at = hash_addresses(&key, 1, u->cache_size);
    while (u->cache[at].address != 0 && u->cache[at].address != key)
        at = (at + 1) & (u->cache_size - 1);
    entry = &u->cache[at];
    if (entry->address == 0) {
        entry->address = key;
        entry->count = coil__lines_find(u->lines, address, entry->lines);
        u->cache_count++;
    }
    memcpy(found, entry->lines, entry->count * sizeof *found);
    return entry->count;
}

static const char *find_module(const struct coil__symbol_source *source,
                               uintptr_t address, const char **function,
                               uintptr_t *offset)
{
    const struct unwinding *u = source->arg;
    Dwfl_Module *module = dwfl_addrmodule(u->dwfl, address);
    Dwarf_Addr start = 0, bias = 0;
    const char *name;

    if (module == NULL)
        return NULL;
    name = dwfl_module_info(module, NULL, &start, NULL, NULL, NULL, NULL, NULL);
    *function = dwfl_module_addrname(module, address);
    if (dwfl_module_getelf(module, &bias) != NULL)
        start = bias;
    *offset = address - (uintptr_t)start;
    return name;
}

bool unwinder_has_function(struct unwinder *unwinder, uint32_t stack, const char *name)
{
    struct unwinding *u = unwinder->private;
    struct coil__line found[COIL__LINES_MAX];

    for (uint32_t i = 0; stack != NONE && i < unwinder->stacks[stack].count; i++) {
        size_t n =
            find_lines(&u->source, unwinder->stacks[stack].addresses[i] - 1, found);

        for (size_t k = 0; k < n; k++)
            if (strcmp(found[k].function, name) == 0)
                return true;
    }
    return false;
}

/* ---- opening ----------------------------------------------------------------------- */

static char *debuginfo_path = NULL;
static const Dwfl_Callbacks callbacks = {.find_elf = find_elf,
                                         .find_debuginfo = find_debuginfo,
                                         .debuginfo_path = &debuginfo_path};

static bool finish_report(struct unwinding *u)
{
    return dwfl_report_end(u->dwfl, NULL, NULL) == 0 &&
           dwfl_getmodules(u->dwfl, set_data, u, 0) == 0;
}

static bool report_process(struct unwinding *u)
{
    return dwfl_linux_proc_report(u->dwfl, u->pid) == 0 && finish_report(u) &&
           dwfl_attach_state(u->dwfl, NULL, u->pid, &thread_callbacks, u);
}

/* Report the modules in the core's list of files to libdw. */
static bool report_core(struct unwinding *u, const char *core)
{
    const struct image *image = u->image;
    bool ok = true;

    elf_version(EV_CURRENT);
    dwfl_report_begin(u->dwfl);
    for (size_t i = 0; ok && i < image->mapping_count; i++) {
        const struct mapping *first = &image->mappings[i];

        if (first->offset != 0)
            continue;
        while (i + 1 < image->mapping_count &&
               image->mappings[i + 1].start == first->start)
            i++;
        ok = dwfl_report_module(u->dwfl, first->path, first->start,
                                image->mappings[i].end) != NULL;
    }
    u->core_fd = module_open(core);
    u->core = elf_begin(u->core_fd, ELF_C_READ_MMAP, NULL);
    return ok && u->core != NULL && finish_report(u) &&
           dwfl_attach_state(u->dwfl, u->core, 1, &thread_callbacks, u);
}

void unwinder_use_table(struct unwinder *unwinder, const struct table *table)
{
    unwinder->private->table = table;
}

bool unwinder_open(struct unwinder *unwinder, struct image *image, int pid,
                   const char *core, char *why, size_t size)
{
    struct unwinding *u = calloc(1, sizeof *u);

    *unwinder = (struct unwinder){.private = u};
    if (u == NULL) {
        snprintf(why, size, "no memory");
        return false;
    }
    u->image = image;
    u->pid = pid;
    u->core_fd = -1;
    u->dwfl = dwfl_begin(&callbacks);
    if (u->dwfl == NULL || !(core != NULL ? report_core(u, core) : report_process(u))) {
        snprintf(why, size, "libdw cannot read the modules: %s", dwfl_errmsg(-1));
        return false;
    }
    u->source = (struct coil__symbol_source){
        .lines = find_lines, .is_own = is_own, .module = find_module, .arg = u};
    u->lines = coil__lines_of(u->dwfl);
    coil__symbols_use(&u->source);
    return true;
}

void unwinder_close(struct unwinder *unwinder)
{
    struct unwinding *u = unwinder->private;

    if (u == NULL)
        return;
    coil__symbols_use(NULL);
    for (uint32_t i = 0; i < unwinder->stack_count; i++)
        free(unwinder->stacks[i].addresses);
    free(unwinder->stacks);
    free(u->index);
    free(u->cache);
    if (u->dwfl != NULL)
        dwfl_end(u->dwfl);
    if (u->core != NULL)
        elf_end(u->core);
    if (u->core_fd >= 0)
        close(u->core_fd);
    free(u);
}
