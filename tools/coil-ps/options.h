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
    int pid;            /* or 0: */
    const char *core;
    const char *program; /* of the core, or NULL */
    const char *save;    /* the file of a new core, or NULL */
};

/* Parse the arguments. Ends the program after a wrong option, or after its help. */
void parse_options(struct options *options, int argc, char *argv[]);

#endif
