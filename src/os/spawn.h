/*
 * spawn.h - start a program, by descriptors and names.
 */
#ifndef COIL_OS_SPAWN_H
#define COIL_OS_SPAWN_H

#include <coil/base.h>

struct coil__spawn {
    const char *const *argv; /* at least argv[0] */
    const char *program;     /* searched for in PATH if it has no '/' */
    const char *const *envp; /* NULL: the program's own */
    const char *cwd;         /* or NULL */
    int stdio[3];            /* descriptors that become its 0, 1, 2 */
    const int *pass_fds;
    size_t pass_fd_count;
    bool new_session, new_group;
    pid_t process_group;       /* 0: none */
    const gid_t *extra_groups; /* these three may be NULL */
    size_t extra_group_count;
    const gid_t *group;
    const uid_t *user;
    const mode_t *umask; /* or NULL */
};

/*
 * Start it; the thread stands still until it runs its program. Returns 0, or a negative
 * errno: then there is no child, and the task's last error says what failed.
 */
int coil__spawn(const struct coil__spawn *what, pid_t *pid, int *pidfd);

#endif
