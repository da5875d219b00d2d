/*
 * child.h (internal) - child processes: starts programs, sends signals, and reaps.
 *
 * A child's handle is a close-on-exec descriptor, which is readable once the child has
 * ended. A handle refers to its child only, even after the child was reaped and another
 * process has its pid. The caller that gets a handle must close it with close(2).
 */
#ifndef COIL_KERNEL_CHILD_H
#define COIL_KERNEL_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/types.h>

#define COIL__LIMITS 16 /* more than any resource of prlimit(2), less than 32 */

/* The options of a child. */
struct coil__spawn {
    const char *const *argv; /* at least argv[0] */
    const char *program;     /* a name without '/' is searched for in PATH */
    const char *const *envp; /* NULL: the parent's environment */
    const char *cwd;         /* or NULL */
    int stdio[3];            /* descriptors that become 0, 1 and 2 in the child */
    const int *pass_fds;
    size_t pass_fd_count;
    bool new_session, new_group;
    int terminal;              /* the descriptor of its controlling terminal, or -1 */
    pid_t process_group;       /* 0: none */
    const gid_t *extra_groups; /* this member and the next two may be NULL */
    size_t extra_group_count;
    const gid_t *group;
    const uid_t *user;
    const mode_t *umask; /* or NULL */
    struct rlimit limits[COIL__LIMITS];
    unsigned limits_set; /* a bit for each resource in `limits` */
};

/* The steps of a child before it executes its program. Each step may fail. */
enum coil__child_step {
    COIL__CHILD_STDIO,
    COIL__CHILD_SESSION,
    COIL__CHILD_CWD,
    COIL__CHILD_CLOSE_OTHERS,
    COIL__CHILD_PASS_FDS,
    COIL__CHILD_LIMITS,
    COIL__CHILD_IDENTITY,
    COIL__CHILD_EXEC
};

/*
 * The data of a child, in memory that parent and child share. The parent fills it in
 * before the child starts.
 */
struct coil__child {
    struct coil__spawn what; /* envp is not NULL here */
    /* the program's possible paths, tried in order; NULL ends the list */
    const char *const *paths;

    enum coil__child_step step; /* output: the current step, or the step that failed */
    int error;                  /* output: the errno, or 0 */
};

/* ---- starting ---------------------------------------------------------------------- */

/*
 * Check whether this kernel has handles for child processes. Returns 0 or a negative
 * errno, such as -ENOSYS. A success is remembered, so later calls are fast.
 */
int coil__child_handles(void);

/*
 * Start a child, and block the thread until the child runs its program. Until then the
 * child shares the parent's memory if `shares_memory` is true, and runs on a stack of 16
 * KiB that ends at `stack_end`, a multiple of 16. Returns 0, or a negative errno if the
 * child could not be started. If the child was started but one of its steps has failed,
 * child->error is not 0.
 */
int coil__child_start(struct coil__child *child, char *stack_end, bool shares_memory,
                      pid_t *pid, int *handle);

/* The child's code up to exec. `arg` is its struct coil__child. Ends the process if a
   step fails. Does not return. */
int coil__child_main(void *arg);

/* ---- signals ----------------------------------------------------------------------- */

/* Send a signal to this child, like kill(2). Returns 0 or a negative errno. */
int coil__child_signal(int handle, int signo);

/*
 * Send a signal to the process group that the child leads or led. Fails with -EINVAL if
 * this kernel does not support it.
 */
int coil__child_signal_group(int handle, int signo);

/*
 * Like coil__child_signal(), for callers that could not handle a failure. Failures are
 * ignored.
 */
void coil__child_end(int handle, int signo);

/* ---- reaping ----------------------------------------------------------------------- */

/*
 * If the child has ended, reap it and store its status, like waitpid(2). Fails with
 * -EAGAIN if it is still running, and with -ECHILD if other code of this process has
 * reaped it.
 */
int coil__child_reap(int handle, int *status);

/*
 * Like coil__child_reap(), but do not reap the child: it remains a zombie, so no other
 * process gets its pid.
 */
int coil__child_look(int handle, int *status);

/* Like coil__child_reap(), but block the thread until the child has ended. */
int coil__child_reap_now(int handle, int *status);

/*
 * Like coil__child_reap_now(), for a thread that only reaps. Its system calls are hidden
 * from tests that count calls (base/fault.h).
 */
void coil__child_reap_apart(int handle);

#endif
