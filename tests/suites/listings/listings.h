/*
 * listings.h - what a context includes first: what a reader of the documents has.
 *
 * The documents take <coil.h> and these three headers of C for granted. A listing names
 * every other header that it needs; so a context includes its own further headers below
 * its listings.
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

/* Run fn(arg) as a main task, which must return 0. */
#define RUN(fn, arg) CHECK(coil_run(fn, arg, NULL) == 0)

#endif
