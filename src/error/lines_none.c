/*
 * lines_none.c - replaces lines_libdw.c in a build without libdw: finds no lines.
 */
#include "lines.h"

struct coil__lines *coil__lines_open(void)
{
    return NULL;
}

struct coil__lines *coil__lines_of(void *dwfl)
{
    (void)dwfl;
    return NULL;
}

size_t coil__lines_find(struct coil__lines *lines, uintptr_t address,
                        struct coil__line found[COIL__LINES_MAX])
{
    (void)lines;
    (void)address;
    (void)found;
    return 0;
}

void coil__lines_close(struct coil__lines *lines)
{
    (void)lines;
}
