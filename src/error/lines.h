/*
 * lines.h - the functions, files and lines of an address. Meson builds lines_libdw.c, or
 * lines_none.c without libdw.
 */
#ifndef COIL_ERROR_LINES_H
#define COIL_ERROR_LINES_H

#include "../base/base.h"

/* The most functions that can contain an address, by inlining. */
#define COIL__LINES_MAX 8

struct coil__line {
    const char *function;
    const char *file; /* NULL: not known */
    int number;
};

/* Begin to look up addresses in the program and the libraries loaded now. NULL if no
   debug data can be read. */
struct coil__lines *coil__lines_open(void);

/*
 * Store the function that `address` is in; if that was inlined, also the ones around it,
 * innermost first. Returns how many: 0 if nothing is known. Valid until close.
 *
 * Needs some 160 KiB of stack (libdw).
 */
size_t coil__lines_find(struct coil__lines *lines, uintptr_t address,
                        struct coil__line found[COIL__LINES_MAX]);

/* NULL is accepted. */
void coil__lines_close(struct coil__lines *lines);

#endif
