/*
 * library.c - dlopen(3) for libraries that only reports need.
 */
#include "library.h"

#include <dlfcn.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * Called by dl_iterate_phdr(3), which begins with the program itself. A dynamically
 * linked program has a PT_INTERP segment, which names the loader.
 */
static int look_for_loader(struct dl_phdr_info *program, size_t size, void *found)
{
    (void)size;
    for (int i = 0; i < program->dlpi_phnum; i++)
        if (program->dlpi_phdr[i].p_type == PT_INTERP)
            *(bool *)found = true;
    return 1;
}

void *coil__library_open(const char *name)
{
    bool has_loader = false;

    dl_iterate_phdr(look_for_loader, &has_loader);
    return has_loader ? dlopen(name, RTLD_LAZY | RTLD_LOCAL) : NULL;
}
