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
    const char *output; /* file name for the trace; NULL for standard output */
    int64_t watch_ns;   /* 0: print once */
    int pid;            /* 0: read `core` */
    const char *core;
    const char *program; /* file of the program that dumped the core, or NULL */
    const char *save;    /* file name for a new core, or NULL */
};

/* Parse the arguments. Exits after an invalid option, and after --help. */
void parse_options(struct options *options, int argc, char *argv[]);

#endif
