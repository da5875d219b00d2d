/*
 * allocator.c - find the program's own malloc(), if a library defines one.
 *
 * An allocator such as jemalloc locks mutexes, and sometimes yields or sleeps, inside
 * malloc(). If such a wait suspended the task, other tasks of the thread could enter the
 * allocator while the first call is unfinished. Suspending a task also allocates memory.
 * Therefore calls by the library that defines malloc() block the thread, like libcoil's
 * own calls.
 *
 * There are two exceptions. A library that defines both malloc() and read() is either the
 * C library, whose locks do not go through this library, or AddressSanitizer, whose
 * read() calls this library's read() for the program. If the program itself contains the
 * allocator, the allocator's calls cannot be distinguished from the program's.
 */
#include "interpose.h"

#include <coil/posix.h>

#include <dlfcn.h>
#include <link.h>

/*
 * Return the library's function with this name. Returns NULL if there is none, or if only
 * a dependency of the library defines one.
 */
static void *defined_in(const struct link_map *library, const char *name)
{
    void *handle = dlopen(library->l_name, RTLD_LAZY | RTLD_NOLOAD), *function;
    struct link_map *where = NULL;
    Dl_info info;

    if (handle == NULL)
        return NULL;
    function = dlsym(handle, name);
    dlclose(handle);
    if (function == NULL ||
        dladdr1(function, &info, (void **)&where, RTLD_DL_LINKMAP) == 0)
        return NULL;
    return where == library ? function : NULL;
}

/*
 * Return the malloc() of the first library that defines one, in the search order of the
 * dynamic linker. The program itself, whose name is empty, is skipped.
 */
static void *first_malloc(void)
{
    for (const struct link_map *l = _r_debug.r_map; l != NULL; l = l->l_next) {
        void *function = l->l_name[0] != '\0' ? defined_in(l, "malloc") : NULL;

        if (function != NULL)
            return defined_in(l, "read") == NULL ? function : NULL;
    }
    return NULL;
}

void posix__find_allocator(void)
{
    void *function = first_malloc();

    if (function != NULL)
        coil_posix_exclude(function);
}
