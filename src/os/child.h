/*
 * child.h - what a child does between its birth and the program that it is to run.
 */
#ifndef COIL_OS_CHILD_H
#define COIL_OS_CHILD_H

#include "../base/base.h"

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
    const char *const *paths; /* of the program: to be tried in turn; NULL at the end */
    const char *const *argv, *const *envp;
    const char *cwd; /* or NULL */
    int stdio[3];    /* descriptors that become its 0, 1, 2 */
    const int *pass_fds;
    size_t pass_fd_count;
    bool new_session, new_group;
    pid_t process_group;       /* 0: none */
    const gid_t *extra_groups; /* these three may be NULL */
    size_t extra_group_count;
    const gid_t *group;
    const uid_t *user;
    const mode_t *umask; /* or NULL */

    enum coil__child_step step; /* out: what it is at, or failed at */
    int error;                  /* out: the errno, or 0 */
};

/* The child's whole life, for clone(2): `arg` is its struct coil__child. */
int coil__child_main(void *arg);

#endif
