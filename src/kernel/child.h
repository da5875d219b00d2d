/*
 * child.h (internal) - starts, signals and reaps child processes.
 *
 * A child's handle is a close-on-exec descriptor, which is readable once the child has
 * ended. A handle always refers to the same child, even after the child was reaped and
 * another process has its pid. The caller that gets a handle must close it with close(2).
 */
#ifndef COIL_KERNEL_CHILD_H
#define COIL_KERNEL_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/types.h>

#define COIL__LIMITS 16 /* greater than any resource of prlimit(2), and at most 32 */

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
    int terminal;              /* descriptor of the child's controlling terminal, or -1 */
    pid_t process_group;       /* 0: none */
    const gid_t *extra_groups; /* this member and the next two may be NULL */
    size_t extra_group_count;
    const gid_t *group;
    const uid_t *user;
    const mode_t *umask; /* or NULL */
    struct rlimit limits[COIL__LIMITS];
    unsigned limits_set; /* a bit for each resource in `limits` */
};

/* The steps that a child performs before it executes its program. Each step may fail. */
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
 * The data that a child needs, in memory that parent and child share. The parent fills in
 * the struct before it starts the child.
 */
struct coil__child {
    struct coil__spawn what; /* envp is not NULL here */
    /* paths of the program, tried in order and terminated by NULL */
    const char *const *paths;

    enum coil__child_step step; /* output: the current step, or the step that failed */
    int error;                  /* output: the errno, or 0 */
};

/* ---- starting ---------------------------------------------------------------------- */

/*
 * Check whether this kernel has handles for child processes. Returns 0 or a negative
 * errno, such as -ENOSYS. A positive result is cached.
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

/*
 * The function that a child runs until it executes its program. `arg` is its struct
 * coil__child. Ends the process if a step fails. Does not return.
 */
int coil__child_main(void *arg);

/* ---- signals ----------------------------------------------------------------------- */

/* Send a signal to this child, like kill(2). Returns 0 or a negative errno. */
int coil__child_signal(int handle, int signo);

/*
 * Send a signal to the process group that the child leads or led. Fails with -EINVAL if
 * this kernel cannot signal a group through a handle.
 */
int coil__child_signal_group(int handle, int signo);

/* Like coil__child_signal(), but ignores failures. */
void coil__child_end(int handle, int signo);

/* ---- reaping ----------------------------------------------------------------------- */

/*
 * If the child has ended, reap it and store its status, like waitpid(2). Fails with
 * -EAGAIN if it is still running, or with -ECHILD if other code in this process has
 * reaped it.
 */
int coil__child_reap(int handle, int *status);

/*
 * Like coil__child_reap(), but leave the child as a zombie, so that no other process gets
 * its pid.
 */
int coil__child_look(int handle, int *status);

/* Like coil__child_reap(), but block the thread until the child has ended. */
int coil__child_reap_now(int handle, int *status);

/*
 * Like coil__child_reap_now(), for a thread that does nothing else. Tests that count
 * system calls (base/fault.h) do not see this one.
 */
void coil__child_reap_apart(int handle);

#endif
