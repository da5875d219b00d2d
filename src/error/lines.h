/*
 * lines.h - finds the functions, files and lines that belong to an address. Meson builds
 * lines_libdw.c, or lines_none.c without libdw.
 */
#ifndef COIL_ERROR_LINES_H
#define COIL_ERROR_LINES_H

#include "../base/base.h"

/*
 * The maximum number of functions that are stored for one address: a function, and those
 * into which it was inlined.
 */
#define COIL__LINES_MAX 8

struct coil__line {
    const char *function;
    const char *file; /* NULL: not known */
    int number;
};

/* Open the debug data of the program and of the currently loaded libraries. Returns NULL
   if no debug data can be read. */
struct coil__lines *coil__lines_open(void);

/*
 * Use a libdw session (Dwfl), for any process. The caller opens and closes the session.
 * Returns NULL without libdw.
 */
struct coil__lines *coil__lines_of(void *dwfl);

/*
 * Store the function that contains `address`. If that function was inlined, also store
 * the functions into which it was inlined, innermost first. Returns the number of
 * functions, or 0 if nothing is known. The results are valid until coil__lines_close().
 *
 * Needs about 160 KiB of stack (libdw).
 */
size_t coil__lines_find(struct coil__lines *lines, uintptr_t address,
                        struct coil__line found[COIL__LINES_MAX]);

/* `lines` may be NULL. */
void coil__lines_close(struct coil__lines *lines);

#endif
