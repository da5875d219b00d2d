/*
 * allocator.c - the program's own malloc(), if a library brings one.
 *
 * An allocator such as jemalloc locks mutexes, and now and then yields or sleeps, inside
 * malloc(). If that suspended the task, the thread's other tasks would enter an allocator
 * that is in the middle of a call; and waiting itself allocates. So calls that come from
 * the library which defines malloc() block the thread, as libcoil's own do.
 *
 * A library that defines read() as well is the C library, whose locks do not go through
 * this library, or AddressSanitizer, whose read() calls this library's for the program.
 * If the program itself contains the allocator, its calls cannot be distinguished from
 * the program's.
 */
#include "interpose.h"

#include <dlfcn.h>
#include <link.h>

uintptr_t posix__allocator, posix__allocator_bytes;

/* The function, if the library itself defines it and not one that it needs; or NULL. */
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
 * The malloc() of the first library that has one, in the order in which the dynamic
 * linker searches them. The program itself, whose name is empty, is skipped.
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
