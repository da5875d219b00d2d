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

#include <dlfcn.h>
#include <link.h>

uintptr_t posix__allocator, posix__allocator_bytes;

/* Return the function if the library itself defines it, or NULL if it does not, even if
 * one of its dependencies does. */
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

static int note_if_it_holds(struct dl_phdr_info *object, size_t bytes, void *function)
{
    uintptr_t begin = UINTPTR_MAX, end = 0;

    (void)bytes;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];
        uintptr_t at = object->dlpi_addr + part->p_vaddr;

        if (part->p_type != PT_LOAD)
            continue;
        begin = at < begin ? at : begin;
        end = at + part->p_memsz > end ? at + part->p_memsz : end;
    }
    if ((uintptr_t)function < begin || (uintptr_t)function >= end)
        return 0;
    posix__allocator = begin;
    posix__allocator_bytes = end - begin;
    return 1;
}

void posix__find_allocator(void)
{
    void *function = first_malloc();

    if (function != NULL)
        dl_iterate_phdr(note_if_it_holds, function);
}
