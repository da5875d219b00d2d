/*
 * listings.h - the headers that every listing in the documents assumes. Each context
 * includes this file first.
 *
 * The listings assume <coil.h> and three standard C headers. A listing includes every
 * other header that it needs. Therefore a context includes its own further headers only
 * below its listings.
 */
#ifndef LISTINGS_H
#define LISTINGS_H

#include <coil.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                                                 \
    do {                                                                                 \
        if (!(condition)) {                                                              \
            fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition);    \
            exit(1);                                                                     \
        }                                                                                \
    } while (0)

/* Run fn(arg) as the main task of a new loop. fn() must return 0. */
#define RUN(fn, arg) CHECK(coil_run(fn, arg, NULL) == 0)

#endif
