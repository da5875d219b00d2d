/*
 * lines.h - from an address to function, file and line. One of lines_libdw.c and
 * lines_none.c is built.
 */
#ifndef COIL_ERROR_LINES_H
#define COIL_ERROR_LINES_H

#include "../base/base.h"

/* Functions that were inlined into each other and so share an address. */
#define COIL__LINES_MAX 8

struct coil__line {
    const char *function;
    const char *file; /* NULL: not known */
    int number;
};

/* Look at the libraries that are loaded now. NULL: lines are not to be had. */
struct coil__lines *coil__lines_open(void);

/*
 * The function `address` lies in and, if that was inlined, those around it; innermost
 * first. Returns how many, 0 if nothing is known. Valid until close.
 *
 * libdw needs some 160 KiB of stack here.
 */
size_t coil__lines_find(struct coil__lines *lines, uintptr_t address,
                        struct coil__line found[COIL__LINES_MAX]);

/* NULL is accepted. */
void coil__lines_close(struct coil__lines *lines);

#endif
