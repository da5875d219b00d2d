/*
 * listings.h - the headers that listings may use without including them. Each context
 * includes this file first.
 *
 * A listing must include every header that it needs, except <coil.h> and these three
 * headers of the C library. A context includes its own headers after its listings, so
 * that a listing does not compile if it lacks an include.
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
