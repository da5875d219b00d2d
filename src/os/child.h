/*
 * child.h - what a child does between its birth and the program that it is to run.
 */
#ifndef COIL_OS_CHILD_H
#define COIL_OS_CHILD_H

#include "../base/base.h"
#include "spawn.h"

/* Where it failed. */
enum coil__child_step {
    COIL__CHILD_STDIO,
    COIL__CHILD_SESSION,
    COIL__CHILD_CWD,
    COIL__CHILD_IDENTITY,
    COIL__CHILD_PASS_FDS,
    COIL__CHILD_CLOSE_OTHERS,
    COIL__CHILD_EXEC
};

/* Everything it needs, made by the parent, in memory that both see. */
struct coil__child {
    struct coil__spawn what;  /* as asked for, but that envp is not NULL */
    const char *const *paths; /* of the program: to be tried in turn; NULL at the end */

    enum coil__child_step step; /* out: what it is at, or failed at */
    int error;                  /* out: the errno, or 0 */
};

/* The child's whole life, for clone(2): `arg` is its struct coil__child. */
int coil__child_main(void *arg);

#endif
