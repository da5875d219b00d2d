/*
 * coil/process.h - other programs: start one, talk to it, wait for its end.
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
 * coil refers to a child by a pidfd (Linux 5.4). So it needs no SIGCHLD handler and
 * disturbs none, and a signal never reaches another process that got the same PID. A
 * child is reaped as soon as it has ended, waited for or not. All functions here are
 * called on the thread of the loop that spawned the child. (asyncio: subprocess)
 */
#ifndef COIL_PROCESS_H
#define COIL_PROCESS_H

#include <coil/stream.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct coil_process coil_process;

/* ---- starting ---------------------------------------------------------------------- */

/* What a standard descriptor of the child is to be, if not a descriptor above 0. */
#define COIL_INHERIT 0   /* the program's own */
#define COIL_PIPE (-1)   /* a pipe; the other end is coil_process_stdin() and so on */
#define COIL_STDOUT (-2) /* for err: what out is */
#define COIL_NULL (-3)   /* /dev/null */

/* Zero is the default of everything but argv. */
typedef struct coil_process_opts {
    const char *const *argv; /* with NULL at the end; at least argv[0] */
    const char *program;     /* what to run; NULL: argv[0] */
    const char *const *envp; /* NULL: the program's environment */
    const char *cwd;         /* NULL: the program's directory */
    int in, out, err;        /* as above; descriptors remain the caller's */
    /* Further descriptors for the child, under their own numbers. Nothing else is
       inherited. */
    const int *pass_fds;
    size_t pass_fd_count;
    bool new_session;    /* setsid(2) */
    bool new_group;      /* setpgid(2): Ctrl-C at the terminal does not reach it */
    pid_t process_group; /* another child's new_group, to be joined; 0: none */
    /*
     * Who it is, NULL: who the program is. Set in this order: supplementary groups (an
     * empty list drops all of them), group, user, each for good. A program of root's that
     * becomes somebody else gives all three.
     */
    const gid_t *extra_groups;
    size_t extra_group_count;
    const gid_t *group;
    const uid_t *user;
    const mode_t *umask; /* umask(2); NULL: the program's */
    int kill_signal;     /* what coil_process_destroy() sends; 0: SIGKILL */
} coil_process_opts;

/*
 * Start a program. *out is the caller's, to be destroyed. (asyncio:
 * create_subprocess_exec)
 *
 * A program without '/' is looked for in the PATH of envp, or of the program where that
 * is NULL; with one it counts from `cwd`, if that is set. No shell is asked, not even for
 * a script without "#!" (-ENOEXEC). The child's pipes block as programs expect; a pipe or
 * terminal that is inherited or given as a descriptor and is non-blocking is opened anew
 * for it. So the program may have adopted its own stdin, and one child's
 * coil_stream_fd(coil_process_stdout(p)) may be another's `in`. The child's signal mask is
 * empty; signals that the program ignores remain ignored (nohup(1)), but SIGPIPE and
 * SIGXFSZ, as Python has it.
 *
 * The loop stands still until the child runs the program, some hundred microseconds,
 * however much memory the parent has: vfork(2). One that becomes another user or group
 * has a copy of its own, fork(2), as nobody may get at ours.
 *
 * Fails as execve(2), with -ENOENT, -EACCES, -E2BIG and so on, then nothing has been
 * started, and coil_last_error() says whether it was the program, the directory or
 * who it was to be (-EPERM); with -EINVAL, -EBADF for a descriptor, -EMFILE, -EAGAIN,
 * -ENOMEM; -ENOSYS before Linux 5.4. Does not suspend.
 */
COIL_API int coil_process_spawn(const coil_process_opts *opts, coil_process **out);

/*
 * Start `sh -c command`. opts->argv and program are not looked at; `opts` may be NULL. A
 * destroyed shell does not take along what it started: see coil_process_kill_group().
 * (asyncio: create_subprocess_shell)
 */
COIL_API int coil_process_shell(const char *command, const coil_process_opts *opts,
                                coil_process **out);

/* ---- the child --------------------------------------------------------------------- */

/* Our ends of its pipes, borrowed; NULL where there is no pipe. Close them with
   coil_stream_close(), never destroy them. */
COIL_API coil_stream *coil_process_stdin(const coil_process *process);
COIL_API coil_stream *coil_process_stdout(const coil_process *process);
COIL_API coil_stream *coil_process_stderr(const coil_process *process);

/* Its process id, as fork(2) returned it; also after its end. */
COIL_API pid_t coil_process_pid(const coil_process *process);

/*
 * Wait until it has ended; any number of tasks may, again and again. Returns its exit
 * status, 0 to 255, or 128 plus the signal that ended it, as shells say it. What lies in
 * its pipes can still be read, and is not waited for. (asyncio: wait, whose returncode is
 * -N for signal N)
 *
 * If other code has taken the child's status, by waitpid(-1) or by ignoring SIGCHLD, the
 * result is 255, and that is reported to the exception handler, as asyncio does.
 *
 * Fails with -ECANCELED, which leaves the child alone; -EBADF where it is destroyed
 * meanwhile.
 */
COIL_SUSPENDS int coil_process_wait(coil_process *process);

/* The status as waitpid(2) gives it, for WIFSIGNALED() and so on; -EINPROGRESS while it
   runs, as far as the loop knows. (asyncio: returncode) */
COIL_API int coil_process_status(const coil_process *process);

/*
 * Send it a signal; 0 asks whether one could. -ESRCH once it is known to have ended;
 * -EINVAL, -EPERM as kill(2). (asyncio: send_signal, terminate, kill)
 */
COIL_API int coil_process_kill(coil_process *process, int signo);

/*
 * Send a signal to its process group: to it and its descendants that did not leave the
 * group, also when it has ended itself. For one with new_group or new_session, else
 * -EINVAL. -ESRCH when the group has no process left; -EPERM as kill(2).
 *
 * The signal never reaches another group that got the same number. Before Linux 6.9 the
 * kernel guarantees that only while the leader is not reaped: there the leader is a
 * zombie from its end until the coil_process is destroyed, and counts as a process of the
 * group.
 */
COIL_API int coil_process_kill_group(coil_process *process, int signo);

/* ---- talking to it ----------------------------------------------------------------- */

/* What it wrote; begin with {0}. There is a '\0' behind the last byte, which does not
   count. data may be NULL where nothing came. */
typedef struct coil_output {
    char *data;
    size_t size, capacity;
} coil_output;

/* Free what was collected. NULL and zeroes are accepted. */
COIL_API void coil_output_finish(coil_output *output);

/*
 * Write the n bytes of `input` to its stdin and close that, read its stdout and stderr to
 * their ends, all at a time, then wait for it. Returns as coil_process_wait(). (asyncio:
 * communicate)
 *
 * What is not a pipe, or is closed, is left out; NULL for an output throws it away. A
 * child that closes its stdin early is no failure. A pipe has its end when all who
 * inherited it are gone: a child that leaves a daemon behind needs a scope with a
 * deadline around this, and coil_process_wait() does not.
 *
 * Fails with -EMSGSIZE where an output has more than `limit` bytes (0: no limit): the
 * first are in it, and the pipe is closed; with -ECANCELED, -ENOMEM, or as coil_read().
 * What was read until then is in the outputs in any case, the child runs on, and the call
 * may be made again, which appends: coil_stream_write_transferred() of its stdin says how
 * much of this call's input is gone, so the next one is given the rest. No other call may
 * be in its streams: -EBUSY.
 */
COIL_SUSPENDS int coil_process_communicate(coil_process *process, const void *input,
                                           size_t n, coil_output *out, coil_output *err,
                                           size_t limit);

/* ---- the end ----------------------------------------------------------------------- */

/*
 * Close its pipes and free it; NULL is accepted. If it still runs it is sent
 * opts.kill_signal, and reaped once it has ended, without being waited for here; at the
 * loop's end it is killed in any case. Tasks that wait for it get -EBADF.
 */
COIL_API void coil_process_destroy(coil_process *process);

/*
 * The same, but it lives on. It is still reaped, also after the loop's end as long as the
 * program runs. NULL is accepted.
 */
COIL_API void coil_process_detach(coil_process *process);

#ifdef __cplusplus
}
#endif

#endif
