/*
 * coil/process.h - start other programs, communicate with them, and wait for them to end.
 *
 *     const char *argv[] = {"sort", "-n", NULL};
 *     coil_output sorted = {0};
 *     coil_process *p;
 *     rc = coil_process_spawn(&(coil_process_opts){.argv = argv, .in = COIL_PIPE,
 *                                                  .out = COIL_PIPE}, &p);
 *     if (rc < 0)
 *         return rc;
 *     rc = coil_process_communicate(p, numbers, strlen(numbers), &sorted, NULL, 0);
 *     if (rc == 0)
 *         fwrite(sorted.data, 1, sorted.size, stdout);
 *     coil_output_finish(&sorted);
 *     coil_process_destroy(p);
 *
 * coil refers to a child with a pidfd (Linux 5.4). So coil neither needs a SIGCHLD
 * handler nor interferes with one, and never sends a signal to another process that was
 * given the same PID. A child is reaped as soon as it has ended, even if no task waits
 * for it. Call all functions here on the thread of the loop that spawned the child.
 * (asyncio: subprocess)
 */
#ifndef COIL_PROCESS_H
#define COIL_PROCESS_H

#include <coil/stream.h>

#include <sys/resource.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct coil_process coil_process;

/* ---- starting ---------------------------------------------------------------------- */

/*
 * Values for a standard descriptor of the child. A value above 0 is a descriptor of the
 * program. With COIL_INHERIT, a close-on-exec descriptor is closed in the child.
 */
#define COIL_INHERIT 0   /* inherit the program's descriptor */
#define COIL_PIPE (-1)   /* a pipe: see coil_process_stdin() for the other end */
#define COIL_STDOUT (-2) /* for err only: use the same file as out */
#define COIL_NULL (-3)   /* /dev/null */

/*
 * A resource limit for the child (setrlimit(2)): RLIMIT_AS, RLIMIT_CPU, RLIMIT_NOFILE,
 * ... from <sys/resource.h>. RLIM_INFINITY means no limit. (Python: resource.setrlimit)
 */
typedef struct coil_process_limit {
    int resource;
    rlim_t soft, hard;
} coil_process_limit;

/* Members that are zero select the defaults; argv is required. */
typedef struct coil_process_opts {
    const char *const *argv; /* NULL-terminated; argv[0] is required */
    const char *program;     /* the file to run; NULL means argv[0] */
    const char *const *envp; /* NULL means the program's environment */
    const char *cwd;         /* NULL means the program's directory */
    int in, out, err;        /* see above; the caller still owns its descriptors */
    /*
     * Other descriptors that the child inherits, under the same numbers. All remaining
     * descriptors are closed in the child.
     */
    const int *pass_fds;
    size_t pass_fd_count;
    bool new_session; /* setsid(2) */
    bool new_group;   /* setpgid(2): Ctrl-C does not reach the child */
    /*
     * Process group that the child joins; 0: none. Cannot be combined with new_group,
     * new_session or pty.
     */
    pid_t process_group;
    /*
     * The child's identity. A member that is NULL is inherited from the program. coil
     * sets the identity in this order: supplementary groups (an empty list drops all of
     * them), group, user. The child cannot regain the old identity. A program that runs
     * as root and starts a child as another user should set all three members.
     */
    const gid_t *extra_groups;
    size_t extra_group_count;
    const gid_t *group;
    const uid_t *user;
    const mode_t *umask; /* NULL means the program's umask(2) */
    int kill_signal;     /* sent by coil_process_destroy(); 0 means SIGKILL */
    /*
     * Resource limits to set; the child inherits all others. Raising a hard limit needs
     * privileges.
     */
    const coil_process_limit *limits;
    size_t limit_count;
    /*
     * Give the child a pseudo-terminal; coil_process_terminal() returns the other end.
     * The child gets a new session, with this terminal as its controlling terminal. The
     * terminal replaces the standard descriptors for which COIL_INHERIT is given. Its
     * window has 24 rows and 80 columns unless pty_rows and pty_columns are set. When
     * coil_process_detach() closes the other end, the child gets SIGHUP.
     */
    bool pty;
    unsigned short pty_rows, pty_columns;
} coil_process_opts;

/*
 * Start a program. The caller destroys *out. Does not suspend. (asyncio:
 * create_subprocess_exec)
 *
 * A program name without '/' is searched for in the PATH of envp, or of the program if
 * envp is NULL. A relative name with '/' is resolved in `cwd`, if that is set. No shell
 * is used, so a script without "#!" fails with -ENOEXEC.
 *
 * The child's pipes are blocking, as most programs expect. If the child inherits or is
 * given a pipe or terminal that is non-blocking, coil reopens it for the child. So the
 * child may inherit the program's stdin even if a stream has adopted it. To connect two
 * children, pass coil_stream_fd(coil_process_stdout(p)) as the second child's `in`.
 *
 * The child's signal mask is empty. Signals that the program ignores are also ignored by
 * the child (nohup(1)), except SIGPIPE and SIGXFSZ, as in Python.
 *
 * The loop is blocked until the child has executed the program. Starting a child takes a
 * few hundred microseconds with vfork(2), regardless of the parent's memory. A child with
 * another user or group is created with fork(2), so that it does not share memory with
 * the parent.
 *
 * Fails like execve(2), with -ENOENT, -EACCES, -E2BIG and so on, if the program was not
 * started. The message of coil_last_error() says whether the program, the directory, the
 * limits or the identity (-EPERM) caused the failure. Also fails with -EINVAL, -EBADF for
 * a descriptor, -EMFILE, -EAGAIN, -ENOMEM, or, before Linux 5.4, with -ENOSYS.
 */
COIL_API COIL_CHECKED int coil_process_spawn(const coil_process_opts *opts,
                                             coil_process **out);

/*
 * Start `sh -c command`. (asyncio: create_subprocess_shell)
 *
 * opts->argv and opts->program are ignored; `opts` may be NULL. Destroying the
 * coil_process ends the shell, but not the programs that the shell started: see
 * coil_process_kill_group().
 */
COIL_API COIL_CHECKED int coil_process_shell(const char *command,
                                             const coil_process_opts *opts,
                                             coil_process **out);

/* ---- the child --------------------------------------------------------------------- */

/*
 * Return the program's end of a pipe to the child, borrowed; NULL without a pipe. The
 * stream may be closed with coil_stream_close(), but must not be destroyed.
 */
COIL_API coil_stream *coil_process_stdin(const coil_process *process);
COIL_API coil_stream *coil_process_stdout(const coil_process *process);
COIL_API coil_stream *coil_process_stderr(const coil_process *process);

/*
 * Return the program's end of the child's terminal, borrowed; NULL without opts.pty.
 * (Python: pty.openpty, pty.fork)
 *
 * Data that the program writes is the child's input, and data that the child writes can
 * be read here. The terminal echoes input and supports line editing, unless the child
 * changes these settings; the bytes 3 and 4 are Ctrl-C and Ctrl-D. A '\n' that the child
 * writes arrives as "\r\n". Once the last process has closed the terminal, or the child
 * (the session's leader) has ended, a read returns 0, and a write fails with -EPIPE.
 */
COIL_API coil_stream *coil_process_terminal(const coil_process *process);

/*
 * Set the size of the terminal's window. The terminal's foreground processes get SIGWINCH
 * if the size changes. Fails with -ENOTTY without opts.pty, or with -EBADF if the stream
 * is closed.
 */
COIL_API int coil_process_resize(coil_process *process, unsigned short rows,
                                 unsigned short columns);

/* Return the child's process ID. The ID is available even after the child's end. */
COIL_API pid_t coil_process_pid(const coil_process *process);

/*
 * Return a new pidfd of the child (pidfd_open(2)), which the caller closes. The pidfd
 * becomes readable when the child ends, and may be sent to another process. Fails with
 * -ESRCH once the loop has noticed the child's end, or with -EMFILE.
 */
COIL_API COIL_CHECKED int coil_process_open_pidfd(const coil_process *process);

/*
 * Wait until the child has ended. Any number of tasks may wait, any number of times.
 * (asyncio: wait, whose returncode is -N for signal N)
 *
 * Returns the exit status, 0 to 255, or 128 plus the number of the signal that ended the
 * child, as shells do. Data that is left in the child's pipes can still be read
 * afterwards.
 *
 * If the child's status was lost, because other code called waitpid(-1) or ignored
 * SIGCHLD, the result is 255, and the problem is reported to the exception handler, as in
 * asyncio.
 *
 * Fails with -ECANCELED, which does not affect the child, or with -EBADF if the
 * coil_process is destroyed during the wait.
 */
COIL_SUSPENDS int coil_process_wait(coil_process *process);

/*
 * Return the status in the form of waitpid(2), for WIFSIGNALED() and so on. Returns
 * -EINPROGRESS until the loop has noticed the child's end. (asyncio: returncode)
 */
COIL_API int coil_process_status(const coil_process *process);

/*
 * Send a signal to the child; signal 0 only checks whether a signal can be sent. Fails
 * with -ESRCH once the loop has noticed the child's end, or like kill(2) with -EINVAL or
 * -EPERM. (asyncio: send_signal, terminate, kill)
 */
COIL_API int coil_process_kill(coil_process *process, int signo);

/*
 * Send a signal to the child's process group, even after the child has ended. The group
 * contains the child and those of its descendants that did not leave the group.
 *
 * Fails with -EINVAL if the child was started without new_group and new_session. Fails
 * with -ESRCH if no process is left in the group, or like kill(2) with -EPERM.
 *
 * The signal never reaches another group that was given the same number. Before Linux 6.9
 * the kernel guarantees this only until the leader is reaped. So on older kernels a
 * leader that has ended remains a zombie, which counts as a process of the group, until
 * the coil_process is destroyed.
 */
COIL_API int coil_process_kill_group(coil_process *process, int signo);

/* ---- input and output of the child ------------------------------------------------- */

/*
 * Output of a child; initialise it with {0}. A '\0' follows the last byte, but is not
 * included in `size`. `data` may be NULL if the output is empty.
 */
typedef struct coil_output {
    char *data;
    size_t size, capacity;
} coil_output;

/* Free the data, like coil_free(), and set all members to zero. NULL is accepted. */
COIL_API void coil_output_finish(coil_output *output);

/*
 * Write the n bytes of `input` to the child's stdin and close it, read its stdout and
 * stderr to the end, and then wait for the child. All three transfers run concurrently.
 * Returns the result of coil_process_wait(). (asyncio: communicate)
 *
 * A terminal counts as the child's stdin and stdout: `input` is written to it, and `out`
 * receives its output. The terminal stays open after the input, so end the input with
 * Ctrl-D, "\4". Standard streams that are not pipes, or are closed, are skipped. If an
 * output is NULL, its data is discarded. If the child closes its stdin early, the call
 * does not fail. The end of a pipe is reached only when all processes that inherited it
 * have closed it. So if the child may leave a daemon behind, call this function in a
 * scope with a deadline; coil_process_wait() does not need a deadline.
 *
 * Fails with -EMSGSIZE if an output exceeds `limit` bytes (0: no limit): the output then
 * contains the first `limit` bytes, and the pipe is closed. A terminal stays open, and
 * the next read returns the bytes after the limit. Also fails with -ECANCELED or -ENOMEM,
 * or like coil_read(). In each case the outputs contain the data that was read before the
 * failure, and the child continues.
 *
 * After a failure the call may be repeated with the rest of the input, in which case it
 * appends to the outputs. To find out how much of the input was written, call
 * coil_stream_write_transferred() on the child's stdin. Fails with -EBUSY if another call
 * is in progress on one of the child's streams.
 */
COIL_SUSPENDS int coil_process_communicate(coil_process *process, const void *input,
                                           size_t n, coil_output *out, coil_output *err,
                                           size_t limit);

/* ---- releasing a child ------------------------------------------------------------- */

/*
 * Close the child's pipes and free the object; NULL is accepted.
 *
 * If the child is running, the call sends opts.kill_signal to it and does not wait; the
 * child is reaped when it has ended. If the child is still running when the loop closes,
 * it is killed with SIGKILL. Tasks that are waiting for the child get -EBADF.
 */
COIL_API void coil_process_destroy(coil_process *process);

/*
 * Close the child's pipes and free the object, but let the child continue. As long as the
 * program runs, the child is reaped when it ends, even after the loop has closed. NULL is
 * accepted.
 */
COIL_API void coil_process_detach(coil_process *process);

#ifdef __cplusplus
}
#endif

#endif
