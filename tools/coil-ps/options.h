/*
 * options.h - the options of coil-ps.
 */
#ifndef COIL_PS_OPTIONS_H
#define COIL_PS_OPTIONS_H

#include "take.h"
#include "tree.h"

struct options {
    struct filter filter;
    struct how_to_take how;
    size_t tree_max;
    bool json, debuginfod, trace;
    int64_t trace_ns;
    const char *output; /* the file for the trace; NULL: standard output */
    int64_t watch_ns;   /* 0: print once */
    int pid;            /* 0: read `core` */
    const char *core;
    const char *program; /* of the core, or NULL */
    const char *save;    /* the file of a new core, or NULL */
};

/* Parse the arguments. After an invalid option, or --help, this ends the program. */
void parse_options(struct options *options, int argc, char *argv[]);

#endif
