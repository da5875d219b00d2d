/*
 * lines_libdw.c - functions and lines from debug data, read by libdw (elfutils).
 *
 * libdw reads the same data as gdb: symbol tables with static functions, separate debug
 * files, inlined functions. libdw and the libraries that it needs take two megabytes of
 * memory, so they are loaded only for the first report. Without libdw, reports do not
 * show lines.
 */
#include "lines.h"

#include "library.h"

#include <dlfcn.h>
#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FUNCTIONS(F)                                                                     \
    F(dwarf_attr)                                                                        \
    F(dwarf_child)                                                                       \
    F(dwarf_cu_info)                                                                     \
    F(dwarf_diecu)                                                                       \
    F(dwarf_diename)                                                                     \
    F(dwarf_filesrc)                                                                     \
    F(dwarf_formstring)                                                                  \
    F(dwarf_formudata)                                                                   \
    F(dwarf_getsrc_die)                                                                  \
    F(dwarf_getsrcfiles)                                                                 \
    F(dwarf_haspc)                                                                       \
    F(dwarf_lineno)                                                                      \
    F(dwarf_linesrc)                                                                     \
    F(dwarf_siblingof)                                                                   \
    F(dwarf_tag)                                                                         \
    F(dwfl_addrmodule)                                                                   \
    F(dwfl_begin)                                                                        \
    F(dwfl_end)                                                                          \
    F(dwfl_linux_proc_find_elf)                                                          \
    F(dwfl_linux_proc_report)                                                            \
    F(dwfl_module_addrdie)                                                               \
    F(dwfl_module_addrname)                                                              \
    F(dwfl_module_nextcu)                                                                \
    F(dwfl_report_end)                                                                   \
    F(dwfl_standard_find_debuginfo)

/* The maximum depth to which nested functions are read. */
#define NEST_MAX 32

#define DECLARE(name) __typeof__(&name) name;
static struct {
    bool tried, loaded;
    FUNCTIONS(DECLARE)
} dw;

/* Loading fails while the process has no free descriptors or memory, so each report tries
   again. The caller holds the lock of symbol.c. */
static void load_libdw(void)
{
    void *library = coil__library_open("libdw.so.1");

    if (library == NULL)
        return;
    dw.tried = dw.loaded = true;
#define FIND(name)                                                                       \
    *(void **)&dw.name = dlsym(library, #name);                                          \
    dw.loaded &= dw.name != NULL;
    FUNCTIONS(FIND)
}

/* ---- the session ------------------------------------------------------------------- */

struct coil__lines {
    Dwfl *dwfl;
};

/*
 * Use only local files, because with servers (debuginfod) a report would wait for the
 * network.
 */
static int find_debuginfo(Dwfl_Module *module, void **data, const char *name,
                          Dwarf_Addr base, const char *file, const char *link,
                          GElf_Word crc, char **debug_file)
{
    const char *servers = getenv("DEBUGINFOD_URLS");

    if (servers != NULL && *servers != '\0')
        return -1;
    return dw.dwfl_standard_find_debuginfo(module, data, name, base, file, link, crc,
                                           debug_file);
}

static int find_elf(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base,
                    char **file, Elf **elf)
{
    return dw.dwfl_linux_proc_find_elf(module, data, name, base, file, elf);
}

static Dwfl *open_own_process(void)
{
    static const Dwfl_Callbacks callbacks = {.find_elf = find_elf,
                                             .find_debuginfo = find_debuginfo};
    Dwfl *dwfl = dw.dwfl_begin(&callbacks);

    if (dwfl == NULL)
        return NULL;
    if (dw.dwfl_linux_proc_report(dwfl, getpid()) == 0 &&
        dw.dwfl_report_end(dwfl, NULL, NULL) == 0)
        return dwfl;
    dw.dwfl_end(dwfl);
    return NULL;
}

struct coil__lines *coil__lines_open(void)
{
    if (!dw.tried)
        load_libdw();
    return dw.loaded ? (struct coil__lines *)open_own_process() : NULL;
}

struct coil__lines *coil__lines_of(void *dwfl)
{
    if (!dw.tried)
        load_libdw();
    return dw.loaded ? dwfl : NULL;
}

void coil__lines_close(struct coil__lines *lines)
{
    if (lines != NULL)
        dw.dwfl_end((Dwfl *)lines);
}

/* ---- looking up -------------------------------------------------------------------- */

/*
 * Return the compilation unit that contains `address`, and make the address relative to
 * its module. Without an index of addresses (.debug_aranges), which clang does not write,
 * search each unit.
 */
static Dwarf_Die *find_unit(Dwfl_Module *module, Dwarf_Addr *address)
{
    Dwarf_Addr bias = 0;
    Dwarf_Die *unit = dw.dwfl_module_addrdie(module, *address, &bias);

    if (unit == NULL)
        while ((unit = dw.dwfl_module_nextcu(module, unit, &bias)) != NULL)
            if (dw.dwarf_haspc(unit, *address - bias) == 1)
                break;
    *address -= bias;
    return unit;
}

/* Return the path that was passed to the compiler, without the working directory that
   some compilers prepend. */
static const char *without_working_directory(Dwarf_Die *unit, const char *file)
{
    Dwarf_Attribute value;
    const char *folder = dw.dwarf_formstring(dw.dwarf_attr(unit, DW_AT_comp_dir, &value));
    size_t length = folder != NULL ? strlen(folder) : 0;

    if (file == NULL || length == 0 || strncmp(file, folder, length) != 0 ||
        file[length] != '/')
        return file;
    return file + length + 1;
}

static struct coil__line find_line(Dwarf_Die *unit, Dwarf_Addr address)
{
    struct coil__line line = {NULL, NULL, 0};
    Dwarf_Line *source = dw.dwarf_getsrc_die(unit, address);

    if (source != NULL && dw.dwarf_lineno(source, &line.number) == 0)
        line.file = without_working_directory(unit, dw.dwarf_linesrc(source, NULL, NULL));
    return line;
}

/*
 * The functions that contain an address, outermost first: a function that was not
 * inlined, then the functions inlined into it and into each other.
 */
struct nest {
    Dwarf_Die functions[NEST_MAX];
    size_t count;
};

static bool has_functions_inside(int tag)
{
    return tag == DW_TAG_namespace || tag == DW_TAG_structure_type ||
           tag == DW_TAG_class_type;
}

/*
 * Find the child of `parent` that contains the address. Also searches namespaces and
 * classes.
 */
static bool find_child(Dwarf_Die *parent, Dwarf_Addr address, Dwarf_Die *found)
{
    Dwarf_Die child;
    int rc = dw.dwarf_child(parent, &child);

    for (; rc == 0; rc = dw.dwarf_siblingof(&child, &child)) {
        if (has_functions_inside(dw.dwarf_tag(&child)) &&
            find_child(&child, address, found))
            return true;
        if (dw.dwarf_haspc(&child, address) == 1) {
            *found = child;
            return true;
        }
    }
    return false;
}

/*
 * Find a member function of a class that is defined inside another function, such as a
 * lambda. Without optimisation, the member function's code is outside the outer
 * function's code, so all functions and blocks must be searched, which takes ten times as
 * long.
 */
static bool find_local_function(Dwarf_Die *parent, Dwarf_Addr address, Dwarf_Die *found)
{
    Dwarf_Die child;
    int rc = dw.dwarf_child(parent, &child);

    for (; rc == 0; rc = dw.dwarf_siblingof(&child, &child)) {
        int tag = dw.dwarf_tag(&child);

        if (tag == DW_TAG_subprogram && dw.dwarf_haspc(&child, address) == 1) {
            *found = child;
            return true;
        }
        if ((has_functions_inside(tag) || tag == DW_TAG_subprogram ||
             tag == DW_TAG_lexical_block) &&
            find_local_function(&child, address, found))
            return true;
    }
    return false;
}

/*
 * Find the functions that contain an address, following the nesting of the machine code.
 * dwarf_getscopes() is not used, because it searches only this unit for inlined
 * functions, which link-time optimisation and dwz(1) move to other units.
 */
static void find_nest(Dwarf_Die unit, Dwarf_Addr address, struct nest *nest)
{
    Dwarf_Die die = unit;
    bool found =
        find_child(&die, address, &die) || find_local_function(&die, address, &die);

    nest->count = 0;
    while (found && nest->count < NEST_MAX) {
        int tag = dw.dwarf_tag(&die);

        if (tag == DW_TAG_subprogram)
            nest->count = 0; /* not inlined: drop the functions around it */
        if (tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine)
            nest->functions[nest->count++] = die;
        found = find_child(&die, address, &die);
    }
}

static unsigned attribute_number(Dwarf_Die *die, unsigned attribute)
{
    Dwarf_Attribute value;
    Dwarf_Word word;

    if (dw.dwarf_attr(die, attribute, &value) == NULL ||
        dw.dwarf_formudata(&value, &word) != 0)
        return 0;
    return (unsigned)word;
}

/* Return the line from which an inlined function was called. */
static struct coil__line call_site(Dwarf_Die *inlined)
{
    struct coil__line line = {.number = (int)attribute_number(inlined, DW_AT_call_line)};
    unsigned file = attribute_number(inlined, DW_AT_call_file);
    Dwarf_Files *files;
    Dwarf_Die unit;
    size_t n;

    if (dw.dwarf_diecu(inlined, &unit, NULL, NULL) != NULL &&
        dw.dwarf_getsrcfiles(&unit, &files, &n) == 0 && file < n)
        line.file =
            without_working_directory(&unit, dw.dwarf_filesrc(files, file, NULL, NULL));
    return line;
}

/*
 * Store the functions of `nest`, innermost first. The innermost function gets `line`, and
 * each of the others gets the line of its inlined call. Returns their number.
 */
static size_t name_functions(struct nest *nest, struct coil__line line,
                             struct coil__line found[COIL__LINES_MAX])
{
    size_t count = 0;

    for (size_t i = nest->count; i > 0 && count < COIL__LINES_MAX; i--) {
        Dwarf_Die *function = &nest->functions[i - 1];

        line.function = dw.dwarf_diename(function);
        if (line.function != NULL)
            found[count++] = line;
        line = call_site(function);
    }
    return count;
}

/*
 * Return the unit itself, or, if it is a skeleton (-gsplit-dwarf), the unit in the .dwo
 * file.
 */
static Dwarf_Die whole_unit(const Dwarf_Die *unit)
{
    Dwarf_Die split;

    if (dw.dwarf_cu_info(unit->cu, NULL, NULL, NULL, &split, NULL, NULL, NULL) == 0 &&
        split.addr != NULL)
        return split;
    return *unit;
}

/* Look up the address in debug data. Returns 0 if the module has no debug data for it. */
static size_t find_in_unit(Dwfl_Module *module, Dwarf_Addr address,
                           struct coil__line *line,
                           struct coil__line found[COIL__LINES_MAX])
{
    Dwarf_Die *unit = find_unit(module, &address);
    struct nest nest;

    if (unit == NULL)
        return 0;
    *line = find_line(unit, address);
    find_nest(whole_unit(unit), address, &nest);
    return name_functions(&nest, *line, found);
}

size_t coil__lines_find(struct coil__lines *lines, uintptr_t address,
                        struct coil__line found[COIL__LINES_MAX])
{
    Dwfl_Module *module = dw.dwfl_addrmodule((Dwfl *)lines, address);
    struct coil__line line = {NULL, NULL, 0};
    size_t count;

    if (module == NULL)
        return 0;
    count = find_in_unit(module, address, &line, found);
    if (count > 0)
        return count;
    line.function = dw.dwfl_module_addrname(module, address);
    found[0] = line;
    return line.function != NULL;
}
