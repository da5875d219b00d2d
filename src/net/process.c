/*
 * process.c - other programs: their pipes, their end.
 *
 *              spawn              pidfd readable: reaped
 *   (no child) -----> RUNNING ------------------------------> ENDED
 *                      |    \                                   |
 *              destroy |     \ the loop closes                  | destroy
 *               detach |      `--> LEFT (no loop watches) ----. v
 *                      v                destroy, detach:      (freed)
 *                   ORPHAN                coil__reap_later() --^
 *                      `-- pidfd readable: reaped -------------^
 *
 * It stands in net since its pipes are streams; what starts and reaps a child is in os.
 * The pidfd is watched from the beginning, as asyncio's PidfdChildWatcher does, so that a
 * child that nobody waits for is no zombie for long.
 *
 * Invariants
 * 1. pidfd is open while status is -EINPROGRESS, and then its number names this child and
 *    no other. It is watched as long as the process is in its loop's list.
 * 2. Only tasks of the loop wait, and they do not look at the process when they go on:
 *    their result is in the wait. So it may be freed between the two.
 * 3. After a fork the child's copy is not touched: to forget a watch would forget the
 *    parent's.
 */
#include "process.h"
#include "stream.h"

#include "../base/fault.h"
#include "../os/reap.h"
#include "../os/spawn.h"
#include "../task/wait.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define STATUS_LOST W_EXITCODE(255, 0)

struct coil_process {
    coil_loop *loop;        /* a reference */
    struct coil__list link; /* children.list, while it is watched */
    struct coil__runnable ended;
    struct coil__list waits; /* waiting.link */
    coil_stream *ends[3];
    pid_t pid;
    int pidfd;
    int status; /* -EINPROGRESS while it runs */
    int kill_signal;
    unsigned references; /* one is its owner's, and then the loop's, to its end */
    bool leads_group;
    bool orphan;   /* destroyed or detached: freed when it has ended */
    bool detached; /* and it may live on */
};

/* A task that waits for the end. */
struct waiting {
    struct coil__wait wait;
    struct coil__list link;
    const coil_process *process;
};

/* The processes that a loop watches. */
struct children {
    coil_loop *loop;
    struct coil__close_hook hook;
    struct coil__list list; /* coil_process.link */
};

static COIL__THREAD_LOCAL struct children *this_children; /* NULL until the first */

/* ---- watching ---------------------------------------------------------------------- */

static void close_ends(coil_process *p)
{
    for (int i = 0; i < 3; i++) {
        coil_stream_destroy(p->ends[i]);
        p->ends[i] = NULL;
    }
}

static void release(coil_process *p)
{
    if (--p->references > 0)
        return;
    close_ends(p);
    if (p->pidfd >= 0)
        close(p->pidfd);
    coil_loop_release(p->loop);
    coil__free(p);
}

static void stop_watching(coil_process *p)
{
    if (coil__list_empty(&p->link))
        return;
    p->loop->backend->class->watch(p->loop->backend, p->pidfd, COIL__IN, NULL);
    coil__list_remove(&p->ended.link);
    coil__list_remove(&p->link);
}

static void report_lost_status(const coil_process *p)
{
    char message[96];

    snprintf(message, sizeof message,
             "The exit status of child %ld was taken by somebody else: it counts as 255",
             (long)p->pid);
    coil_call_exception_handler(&(coil_exception){.message = message, .rc = -ECHILD});
}

static int exit_code(int status)
{
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static void wake_waiting(coil_process *p, int rc)
{
    struct coil__list *link;

    while ((link = coil__list_pop(&p->waits)) != NULL)
        coil__wait_complete(&COIL__CONTAINER(link, struct waiting, link)->wait, rc);
}

static void on_end(struct coil__runnable *runnable)
{
    coil_process *p = COIL__CONTAINER(runnable, coil_process, ended);
    int status = STATUS_LOST;
    int rc = coil__reap(p->pidfd, &status);

    if (rc == -EAGAIN)
        return; /* a tracer has not let go of it */
    stop_watching(p);
    close(p->pidfd);
    p->pidfd = -1;
    p->status = status;
    if (p->orphan) {
        release(p);
        return;
    }
    if (rc < 0)
        report_lost_status(p);
    wake_waiting(p, exit_code(status));
}

/* No loop looks after it any more. */
static void leave_to_thread(coil_process *p)
{
    int pidfd = p->pidfd;

    if (!p->detached)
        syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0);
    p->pidfd = -1;
    coil__reap_later(pidfd, !p->detached);
    release(p);
}

/* All are told before one is waited for. */
static void on_loop_closing(coil_loop *loop)
{
    struct children *children = this_children;
    struct coil__list orphans, *link;

    coil__list_init(&orphans);
    while (!coil__list_empty(&children->list)) {
        coil_process *p = COIL__CONTAINER(children->list.next, coil_process, link);

        stop_watching(p);
        if (p->orphan)
            coil__list_push(&orphans, &p->link);
        if (p->orphan && !p->detached)
            syscall(SYS_pidfd_send_signal, p->pidfd, SIGKILL, NULL, 0);
    }
    while ((link = coil__list_pop(&orphans)) != NULL)
        leave_to_thread(COIL__CONTAINER(link, coil_process, link));
    coil__free(children);
    this_children = NULL;
    (void)loop;
}

/* The loop's; a forked child's first loop finds its parent's, and leaves it alone. */
static struct children *find_children(coil_loop *loop)
{
    struct children *children = this_children;

    if (children != NULL && children->loop == loop)
        return children;
    children = coil__alloc(sizeof *children);
    if (children == NULL)
        return NULL;
    children->loop = loop;
    children->hook.closing = on_loop_closing;
    coil__list_init(&children->list);
    coil__loop_add_close_hook(loop, &children->hook);
    this_children = children;
    return children;
}

static int watch(coil_process *p)
{
    struct coil__backend *backend = p->loop->backend;
    int rc = backend->class->watch(backend, p->pidfd, COIL__IN, &p->ended);

    if (rc == 0)
        coil__list_push(&this_children->list, &p->link);
    return rc;
}

/* ---- standard descriptors ---------------------------------------------------------- */

/* What the child gets, and which of it is closed here afterwards. */
struct stdio {
    int fd[3];
    bool ours[3];
};

/* Where the program has closed 0, 1 or 2, what it opens gets these numbers; but a child
   that inherits a closed stdin is to have none. Takes the descriptor. */
static int above_stdio(int fd)
{
    int higher, error;

    if (fd < 0)
        return -errno;
    if (fd > 2)
        return fd;
    higher = COIL__CALL(EMFILE, fcntl(fd, F_DUPFD_CLOEXEC, 3));
    error = errno;
    close(fd);
    return higher < 0 ? -error : higher;
}

static int open_null(void)
{
    return above_stdio(COIL__CALL(EMFILE, open("/dev/null", O_RDWR | O_CLOEXEC)));
}

/* Both ends of a pipe, above 2; that which is ours does not block. */
static int make_pipe(int fds[2], int ours)
{
    int rc;

    if (COIL__CALL(EMFILE, pipe2(fds, O_CLOEXEC)) < 0)
        return -errno;
    for (int k = 0; k < 2; k++) {
        fds[k] = above_stdio(fds[k]);
        if (fds[k] < 0) {
            rc = fds[k];
            close(fds[!k]);
            return rc;
        }
    }
    if (COIL__CALL(EPERM, fcntl(fds[ours], F_SETFL, O_NONBLOCK)) == 0)
        return 0;
    rc = -errno;
    close(fds[0]);
    close(fds[1]);
    return rc;
}

/* A pipe for the child's descriptor `i`; returns the child's end. */
static int open_pipe(coil_process *p, int i)
{
    int fds[2], ours = i == 0 ? 1 : 0;
    int rc = make_pipe(fds, ours);

    if (rc < 0)
        return rc;
    rc = coil__stream_make(fds[ours], false, "coil_process_spawn", &p->ends[i]);
    if (rc == 0)
        return fds[!ours];
    close(fds[!ours]);
    return rc;
}

/* The same pipe or terminal, opened once more; without waiting for another end. */
static int open_again(int fd, int flags)
{
    char path[40];
    int again;

    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    flags &= O_ACCMODE | O_APPEND;
    again = COIL__CALL(EMFILE, open(path, flags | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    if (again >= 0)
        fcntl(again, F_SETFL, flags);
    return again;
}

/*
 * A pipe or terminal that does not block would fail the child's reads with EAGAIN. The
 * flag belongs to what was opened, not to the descriptor: so open it once more. Returns
 * the new one, or `fd` where that is not needed or not possible (a socket).
 */
static int open_blocking(int fd)
{
    int flags = COIL__CALL(EBADF, fcntl(fd, F_GETFL)), again;

    if (flags < 0)
        return -errno;
    if (!(flags & O_NONBLOCK) || !coil__stream_may_reopen(fd))
        return fd;
    again = open_again(fd, flags);
    if (again < 0)
        return errno == EMFILE || errno == ENFILE || errno == ENOMEM ? -errno : fd;
    return above_stdio(again);
}

static int open_one(coil_process *p, struct stdio *stdio, int i, int what)
{
    int fd;

    if (what == COIL_INHERIT)
        fd = i;
    else if (what == COIL_PIPE)
        fd = open_pipe(p, i);
    else if (what == COIL_NULL)
        fd = open_null();
    else if (what == COIL_STDOUT && i == 2)
        fd = stdio->fd[1];
    else
        fd = what > 0 ? open_blocking(what) : -EINVAL;
    if (fd < 0)
        return fd;
    stdio->fd[i] = fd;
    stdio->ours[i] = fd != what && what != COIL_INHERIT && what != COIL_STDOUT;
    return 0;
}

static int open_stdio(coil_process *p, struct stdio *stdio, const coil_process_opts *opts)
{
    int rc = open_one(p, stdio, 0, opts->in);

    if (rc == 0)
        rc = open_one(p, stdio, 1, opts->out);
    if (rc == 0)
        rc = open_one(p, stdio, 2, opts->err);
    return rc;
}

static void close_stdio(const struct stdio *stdio)
{
    for (int i = 0; i < 3; i++)
        if (stdio->ours[i])
            close(stdio->fd[i]);
}

/* ---- starting ---------------------------------------------------------------------- */

static bool valid(const coil_process_opts *opts)
{
    if (opts->argv == NULL || opts->argv[0] == NULL ||
        (opts->pass_fds == NULL && opts->pass_fd_count > 0) ||
        (opts->extra_groups == NULL && opts->extra_group_count > 0) ||
        opts->process_group < 0 || opts->kill_signal < 0 || opts->kill_signal >= NSIG)
        return false;
    if (opts->process_group > 0 && (opts->new_session || opts->new_group))
        return false;
    for (size_t i = 0; i < opts->pass_fd_count; i++)
        if (opts->pass_fds[i] < 0)
            return false;
    return true;
}

static coil_process *create(coil_loop *loop, const coil_process_opts *opts)
{
    coil_process *p;

    if (find_children(loop) == NULL)
        return NULL;
    p = coil__alloc_zeroed(sizeof *p);
    if (p == NULL)
        return NULL;
    p->loop = coil_loop_retain(loop);
    coil__list_init(&p->link);
    coil__list_init(&p->waits);
    coil__runnable_init(&p->ended, on_end);
    p->references = 1;
    p->pidfd = -1;
    p->status = -EINPROGRESS;
    p->kill_signal = opts->kill_signal != 0 ? opts->kill_signal : SIGKILL;
    p->leads_group = opts->new_session || opts->new_group;
    return p;
}

static int start(coil_process *p, const struct stdio *stdio,
                 const coil_process_opts *opts)
{
    struct coil__spawn what = {
        .argv = opts->argv,
        .program = opts->program != NULL ? opts->program : opts->argv[0],
        .envp = opts->envp,
        .cwd = opts->cwd,
        .stdio = {stdio->fd[0], stdio->fd[1], stdio->fd[2]},
        .pass_fds = opts->pass_fds,
        .pass_fd_count = opts->pass_fd_count,
        .new_session = opts->new_session,
        .new_group = opts->new_group,
        .process_group = opts->process_group,
        .extra_groups = opts->extra_groups,
        .extra_group_count = opts->extra_group_count,
        .group = opts->group,
        .user = opts->user,
        .umask = opts->umask,
    };
    int rc = coil__spawn(&what, &p->pid, &p->pidfd);

    if (rc < 0) {
        p->pidfd = -1;
        return rc;
    }
    rc = watch(p);
    if (rc < 0) { /* rare: select(2) and a great number, memory */
        syscall(SYS_pidfd_send_signal, p->pidfd, SIGKILL, NULL, 0);
        coil__reap_now(p->pidfd, &p->status);
    }
    return rc;
}

int coil_process_spawn(const coil_process_opts *opts, coil_process **out)
{
    coil_loop *loop = coil__loop_require("coil_process_spawn");
    struct stdio stdio = {.ours = {false, false, false}};
    coil_process *p;
    int rc;

    if (!valid(opts))
        return -EINVAL;
    p = create(loop, opts);
    if (p == NULL)
        return -ENOMEM;
    rc = open_stdio(p, &stdio, opts);
    if (rc == 0)
        rc = start(p, &stdio, opts);
    close_stdio(&stdio);
    if (rc < 0)
        release(p);
    else
        *out = p;
    return rc;
}

int coil_process_shell(const char *command, const coil_process_opts *opts,
                       coil_process **out)
{
    const char *argv[] = {"/bin/sh", "-c", command, NULL};
    coil_process_opts shell = {.argv = NULL};

    if (command == NULL)
        return -EINVAL;
    if (opts != NULL)
        shell = *opts;
    shell.argv = argv;
    shell.program = NULL;
    return coil_process_spawn(&shell, out);
}

/* ---- the child --------------------------------------------------------------------- */

coil_stream *coil_process_stdin(const coil_process *process)
{
    return process->ends[0];
}

coil_stream *coil_process_stdout(const coil_process *process)
{
    return process->ends[1];
}

coil_stream *coil_process_stderr(const coil_process *process)
{
    return process->ends[2];
}

pid_t coil_process_pid(const coil_process *process)
{
    return process->pid;
}

int coil_process_status(const coil_process *process)
{
    return process->status;
}

static void describe(const struct coil__wait *wait, struct coil__waited *out)
{
    out->object = COIL__CONTAINER(wait, const struct waiting, wait)->process;
}

static void require_own(const coil_process *p, const char *caller)
{
    if (p->loop != coil__loop_of_thread && !p->loop->closing)
        coil__misuse("%s: the process belongs to another loop than this thread's",
                     caller);
}

int coil_process_wait(coil_process *process)
{
    static const struct coil__wait_class class = {.what = "process.wait",
                                                  .describe = describe};
    struct waiting w;
    int rc;

    require_own(process, "coil_process_wait");
    if (process->orphan)
        return -EBADF;
    if (process->status >= 0)
        return exit_code(process->status);
    coil__wait_init(&w.wait, &class);
    w.process = process;
    coil__list_init(&w.link);
    coil__list_push(&process->waits, &w.link);
    rc = coil__wait_park(&w.wait);
    coil__list_remove(&w.link);
    return rc;
}

/* In a forked child, which has no children yet. */
static bool belongs_to_parent(const coil_process *p)
{
    return p->loop->pid != getpid();
}

int coil_process_kill(coil_process *process, int signo)
{
    require_own(process, "coil_process_kill");
    if (process->status >= 0 || belongs_to_parent(process))
        return -ESRCH;
    if (COIL__CALL(EPERM,
                   syscall(SYS_pidfd_send_signal, process->pidfd, signo, NULL, 0)) < 0)
        return -errno;
    return 0;
}

int coil_process_kill_group(coil_process *process, int signo)
{
    require_own(process, "coil_process_kill_group");
    if (!process->leads_group)
        return -EINVAL;
    /* Not reaped, its number is not another's. */
    if (process->status >= 0 || belongs_to_parent(process))
        return -ESRCH;
    return COIL__CALL(EPERM, kill(-process->pid, signo)) < 0 ? -errno : 0;
}

/* ---- the end ----------------------------------------------------------------------- */

void coil__process_enter(coil_process *process)
{
    process->references++;
}

void coil__process_leave(coil_process *process)
{
    release(process);
}

/* The owner has done with it. */
static void let_go(coil_process *p, bool detached)
{
    wake_waiting(p, -EBADF);
    close_ends(p);
    p->orphan = true;
    p->detached = detached;
    if (p->status >= 0)
        release(p);
    else if (p->loop->closing)
        leave_to_thread(p);
    else if (!detached)
        syscall(SYS_pidfd_send_signal, p->pidfd, p->kill_signal, NULL, 0);
}

void coil_process_destroy(coil_process *process)
{
    if (process == NULL)
        return;
    require_own(process, "coil_process_destroy");
    if (!belongs_to_parent(process))
        let_go(process, false);
}

void coil_process_detach(coil_process *process)
{
    if (process == NULL)
        return;
    require_own(process, "coil_process_detach");
    if (!belongs_to_parent(process))
        let_go(process, true);
}
