/*
 * process.c - child processes: pipes, signals and termination.
 *
 *              spawn              handle readable: reaped
 *   (no child) -----> RUNNING ------------------------------> ENDED
 *                      |    \                                   |
 *              destroy |     \ the loop closes                  | destroy
 *               detach |      `--> LEFT (no loop watches) ----. v
 *                      v                destroy, detach:      (freed)
 *                   ORPHAN                coil__reap_later() --^
 *                      `-- handle readable: reaped -------------^
 *
 * spawn.c starts a child. The loop watches its handle from the start, as asyncio's
 * PidfdChildWatcher does, so a child for which no task waits is reaped as well. After the
 * loop has closed, reap.c reaps the child. The pipes to a child are streams.
 *
 * Invariants
 * 1. The handle (kernel/child.h) is open while status is -EINPROGRESS. While the process
 *    is in its loop's list, either the loop watches the handle, or a timer retries to
 *    reap the child. The handle of a group leader stays open until the process is
 *    destroyed, because the group may outlive its leader.
 * 2. Only tasks of the loop wait. After the wait they read their result from the wait and
 *    do not touch the process: it may be freed before they run.
 * 3. A forked child does not touch its copy of a process: the watch belongs to the
 *    parent, and removing it here would also remove it in the parent.
 */
#include "process.h"
#include "../stream/stream.h"

#include "../base/fault.h"
#include "../kernel/child.h"
#include "../kernel/descriptors.h"
#include "../loop/leak.h"
#include "reap.h"
#include "spawn.h"
#include "../task/wait.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#define STATUS_LOST W_EXITCODE(255, 0)
#define LOOK_AGAIN_FIRST COIL_MSEC(1)
#define LOOK_AGAIN_LAST COIL_MSEC(100)

struct coil_process {
    coil_loop *loop;               /* a reference */
    struct coil__list link;        /* children.list, until the child is reaped */
    struct coil__runnable ended;   /* ready when the handle is readable */
    struct coil__timer look_again; /* replaces the watch while a tracer holds the child */
    int64_t pause_ns;              /* how long look_again was last set for */
    struct coil__list waits;       /* waiting.link */
    coil_stream *ends[3];          /* the parent's ends of pipes; NULL: none */
    pid_t pid;
    int handle;
    int status; /* -EINPROGRESS while it runs */
    int kill_signal;
    /* the owner has one; for an orphan, the loop has it until the end */
    unsigned references;
    bool leads_group;
    bool orphan;   /* destroyed or detached: freed when it has ended */
    bool detached; /* the child is not killed when the loop closes */
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

static COIL__THREAD_LOCAL struct children *this_children; /* NULL until the first spawn */

/* ---- watching ---------------------------------------------------------------------- */

static void close_ends(coil_process *p)
{
    for (int i = 0; i < 3; i++) {
        coil_stream_destroy(p->ends[i]);
        p->ends[i] = NULL;
    }
}

/* Reaps the child first, since reap() may have left a group leader as a zombie. */
static void close_handle(coil_process *p)
{
    int status;

    if (p->handle < 0)
        return;
    if (p->status >= 0)
        coil__child_reap(p->handle, &status);
    close(p->handle);
    p->handle = -1;
}

static void release(coil_process *p)
{
    if (--p->references > 0)
        return;
    close_ends(p);
    close_handle(p);
    coil_loop_release(p->loop);
    coil__free_object(p);
}

static void stop_watching(coil_process *p)
{
    if (coil__list_empty(&p->link))
        return;
    coil__loop_unwatch(p->loop, p->handle, COIL__IN, &p->ended);
    coil__timer_stop(p->loop, &p->look_again);
    coil__list_remove(&p->link);
}

static void report_lost_status(const coil_process *p)
{
    char message[96];

    snprintf(message, sizeof message,
             "Code outside coil waited for child %ld, so its exit status is unknown: "
             "coil reports 255",
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

/*
 * A group may outlive its leader. The leader's handle then still identifies the group,
 * but its pid does so only until the leader is reaped. So where the kernel cannot signal
 * a group by handle, the leader stays a zombie until the process is destroyed.
 */
static int reap(const coil_process *p, int *status)
{
    if (p->leads_group && !p->orphan && coil__child_signal_group(p->handle, 0) == -EINVAL)
        return coil__child_look(p->handle, status);
    return coil__child_reap(p->handle, status);
}

/*
 * The child is dead but a tracer is still attached: the kernel gives no status yet, the
 * handle stays readable, and no event follows when the tracer detaches. So a timer tries
 * again. Without memory for the timer, the watch stays and the loop spins.
 */
static void wait_for_tracer(coil_process *p)
{
    int64_t now = coil__loop_now(p->loop);

    p->pause_ns = p->pause_ns == 0 ? LOOK_AGAIN_FIRST : 2 * p->pause_ns;
    if (p->pause_ns > LOOK_AGAIN_LAST)
        p->pause_ns = LOOK_AGAIN_LAST;
    if (coil__timer_start(p->loop, &p->look_again, now + p->pause_ns) == 0)
        coil__loop_unwatch(p->loop, p->handle, COIL__IN, &p->ended);
}

/* The handle is readable, or a tracer held the child: try to reap it. */
static void try_to_reap(coil_process *p)
{
    int status = STATUS_LOST;
    int rc = reap(p, &status);

    if (rc == -EAGAIN) {
        wait_for_tracer(p);
        return;
    }
    stop_watching(p);
    p->status = status;
    if (!p->leads_group)
        close_handle(p);
    if (p->orphan) {
        release(p);
        return;
    }
    if (rc < 0)
        report_lost_status(p);
    wake_waiting(p, exit_code(status));
}

static void on_end(struct coil__runnable *runnable)
{
    try_to_reap(COIL__CONTAINER(runnable, coil_process, ended));
}

static void on_time(struct coil__runnable *runnable)
{
    try_to_reap(COIL__CONTAINER(runnable, coil_process, look_again.runnable));
}

/* The loop is closing: give the handle to reap.c, and release the process. */
static void leave_to_thread(coil_process *p)
{
    int handle = p->handle;

    if (!p->detached)
        coil__child_end(handle, SIGKILL);
    p->handle = -1;
    coil__reap_later(handle, !p->detached);
    release(p);
}

/* Kill all orphans before waiting for the first, so that they end concurrently. */
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
            coil__child_end(p->handle, SIGKILL);
    }
    while ((link = coil__list_pop(&orphans)) != NULL)
        leave_to_thread(COIL__CONTAINER(link, coil_process, link));
    coil__free(children);
    this_children = NULL;
    (void)loop;
}

/* Return the loop's children, created at the first call. In a forked child this_children
 * belongs to the parent, so it is replaced, not changed. */
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
    int rc = coil__loop_watch(p->loop, p->handle, COIL__IN, &p->ended);

    if (rc == 0)
        coil__list_push(&this_children->list, &p->link);
    return rc;
}

/* ---- standard descriptors ---------------------------------------------------------- */

struct stdio {
    int fd[3];    /* the child's standard descriptors */
    bool ours[3]; /* opened here: closed after the start */
};

/*
 * Move the descriptor above 2. If the program has closed 0, 1 or 2, open(2) returns these
 * numbers, and a child that should inherit a closed stdin would get that descriptor.
 * Closes `fd` if it was moved or moving failed.
 */
static int above_stdio(int fd)
{
    int higher, error;

    if (fd < 0)
        return coil__failed(-errno);
    if (fd > 2)
        return fd;
    higher = COIL__CALL(EMFILE, fcntl(fd, F_DUPFD_CLOEXEC, 3));
    error = errno;
    close(fd);
    return higher < 0 ? coil__failed(-error) : higher;
}

/* Make a pipe with both descriptors above 2; fds[ours] is non-blocking. */
static int make_pipe(int fds[2], int ours)
{
    int rc;

    if (COIL__CALL(EMFILE, pipe2(fds, O_CLOEXEC)) < 0)
        return coil__failed(-errno);
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
    rc = coil__failed(-errno);
    close(fds[0]);
    close(fds[1]);
    return rc;
}

/* Open a pipe for the child's descriptor `i`; returns the child's end. */
static int open_pipe(coil_process *p, int i)
{
    int fds[2], ours = i == 0 ? 1 : 0;
    int rc = make_pipe(fds, ours);

    if (rc < 0)
        return rc;
    rc = coil__stream_make(fds[ours], false, "coil_process_spawn", &p->ends[i]);
    if (rc == 0) {
        coil__leak_forget(&p->ends[i]->endpoint); /* the process owns it */
        return fds[!ours];
    }
    close(fds[!ours]);
    return rc;
}

/*
 * Open the same pipe or terminal again. coil__fd_reopen() opens it with O_NONBLOCK, so
 * that a FIFO does not wait for its other end. The flag is cleared afterwards.
 */
static int open_again(int fd, int flags)
{
    int again;

    flags &= O_ACCMODE | O_APPEND;
    again = coil__call_fails(EMFILE, "open") ? -1 : coil__fd_reopen(fd, flags);
    if (again >= 0)
        fcntl(again, F_SETFL, flags);
    return again;
}

/*
 * With O_NONBLOCK the child's reads of a pipe or terminal would fail with EAGAIN. The
 * flag belongs to the open file description, which other processes may share, so open the
 * file again. Returns the new descriptor, or `fd` if reopening is not needed or not
 * possible (a socket).
 */
static int open_blocking(int fd)
{
    int flags = COIL__CALL(EBADF, fcntl(fd, F_GETFL)), again;

    if (flags < 0)
        return coil__failed(-errno);
    if (!(flags & O_NONBLOCK) || !coil__fd_may_reopen(fd))
        return fd;
    again = open_again(fd, flags);
    if (again < 0)
        return errno == EMFILE || errno == ENFILE || errno == ENOMEM
                   ? coil__failed(-errno)
                   : fd;
    return above_stdio(again);
}

/*
 * coil_stream_adopt() may have made it non-blocking. A descriptor that is closed here is
 * also closed in the child.
 */
static int open_inherited(int fd)
{
    return fcntl(fd, F_GETFD) < 0 ? fd : open_blocking(fd);
}

static int open_one(coil_process *p, struct stdio *stdio, int i, int what)
{
    int fd;

    if (what == COIL_INHERIT)
        fd = open_inherited(i);
    else if (what == COIL_PIPE)
        fd = open_pipe(p, i);
    else if (what == COIL_NULL)
        fd = above_stdio(COIL__CALL(EMFILE, open("/dev/null", O_RDWR | O_CLOEXEC)));
    else if (what == COIL_STDOUT && i == 2)
        fd = stdio->fd[1];
    else
        fd = what > 0 ? open_blocking(what) : coil__failed(-EINVAL);
    if (fd < 0)
        return fd;
    stdio->fd[i] = fd;
    stdio->ours[i] = fd != what && fd != i && what != COIL_STDOUT;
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
    coil__timer_init(&p->look_again, on_time);
    p->references = 1;
    p->handle = -1;
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
    int rc = coil__spawn(&what, &p->pid, &p->handle);

    if (rc < 0) {
        p->handle = -1;
        return rc;
    }
    rc = watch(p);
    if (rc < 0) { /* rare: no memory, or a descriptor too large for select(2) */
        coil__child_end(p->handle, SIGKILL);
        coil__child_reap_now(p->handle, &p->status);
    }
    return rc;
}

int coil_process_spawn(const coil_process_opts *opts, coil_process **out)
{
    COIL__REQUIRE(opts, "options");
    COIL__REQUIRE(out, "an output pointer");
    static const struct coil__leak_kind kind = {"a process", "pid",
                                                "destroyed or detached"};
    coil_loop *loop = coil__loop_require("coil_process_spawn");
    struct stdio stdio = {.ours = {false, false, false}};
    coil_process *p;
    int rc;

    *out = NULL;
    if (!valid(opts))
        return coil__failed(-EINVAL);
    p = create(loop, opts);
    if (p == NULL)
        return coil__failed(-ENOMEM);
    rc = open_stdio(p, &stdio, opts);
    if (rc == 0)
        rc = start(p, &stdio, opts);
    close_stdio(&stdio);
    if (rc < 0) {
        release(p);
        return rc;
    }
    coil__leak_note(&kind, p, (int)p->pid, NULL);
    *out = p;
    return 0;
}

int coil_process_shell(const char *command, const coil_process_opts *opts,
                       coil_process **out)
{
    COIL__REQUIRE(out, "an output pointer");
    const char *argv[] = {"/bin/sh", "-c", command, NULL};
    coil_process_opts shell = {.argv = NULL};

    *out = NULL;
    if (command == NULL)
        return coil__failed(-EINVAL);
    if (opts != NULL)
        shell = *opts;
    shell.argv = argv;
    shell.program = NULL;
    return coil_process_spawn(&shell, out);
}

/* ---- the running child ------------------------------------------------------------- */

static void check_not_gone(const coil_process *process, const char *caller)
{
    if (COIL__UNLIKELY(process->references == 0))
        coil__misuse_gone(caller);
}

coil_stream *coil_process_stdin(const coil_process *process)
{
    COIL__REQUIRE(process, "a process");
    check_not_gone(process, __func__);
    return process->ends[0];
}

coil_stream *coil_process_stdout(const coil_process *process)
{
    COIL__REQUIRE(process, "a process");
    check_not_gone(process, __func__);
    return process->ends[1];
}

coil_stream *coil_process_stderr(const coil_process *process)
{
    COIL__REQUIRE(process, "a process");
    check_not_gone(process, __func__);
    return process->ends[2];
}

pid_t coil_process_pid(const coil_process *process)
{
    COIL__REQUIRE(process, "a process");
    check_not_gone(process, __func__);
    return process->pid;
}

int coil_process_status(const coil_process *process)
{
    COIL__REQUIRE(process, "a process");
    check_not_gone(process, __func__);
    return (int)coil__result(process->status);
}

static void require_own(const coil_process *p, const char *caller)
{
    if (COIL__UNLIKELY(p->references == 0))
        coil__misuse_gone(caller);
    if (p->loop == coil__loop_of_thread || p->loop->closing ||
        coil__loop_is_parents(p->loop))
        return;
    coil__loop_check_handler(caller);
    coil__misuse("%s: the process belongs to another loop than this thread's", caller);
}

int coil_process_wait(coil_process *process)
{
    COIL__REQUIRE(process, "a process");
    static const struct coil__wait_class class = {
        .what = "process.wait", .object = COIL__WAIT_AT(struct waiting, process)};
    struct waiting w;
    int rc;

    require_own(process, "coil_process_wait");
    if (process->orphan)
        return coil__failed(-EBADF);
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

/* True in a forked child, where the process is a child of the parent. */
static bool belongs_to_parent(const coil_process *p)
{
    return p->loop->pid != getpid();
}

int coil_process_kill(coil_process *process, int signo)
{
    COIL__REQUIRE(process, "a process");
    require_own(process, "coil_process_kill");
    if (process->status >= 0 || belongs_to_parent(process))
        return coil__failed(-ESRCH);
    return (int)coil__result(coil__child_signal(process->handle, signo));
}

int coil_process_kill_group(coil_process *process, int signo)
{
    COIL__REQUIRE(process, "a process");
    int rc, status;

    require_own(process, "coil_process_kill_group");
    if (!process->leads_group)
        return coil__failed(-EINVAL);
    if (belongs_to_parent(process))
        return coil__failed(-ESRCH);
    rc = coil__child_signal_group(process->handle, signo);
    if (rc != -EINVAL)
        return (int)coil__result(rc);
    /* If the leader runs or is a zombie, no other group can have its pid. */
    if (coil__child_look(process->handle, &status) == -ECHILD)
        return coil__failed(-ESRCH);
    if (COIL__CALL(EPERM, kill(-process->pid, signo)) < 0)
        return coil__failed(-errno);
    return 0;
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

/* Called when the owner has destroyed or detached the process. */
static void let_go(coil_process *p, bool detached)
{
    if (p->orphan)
        coil__misuse(
            "coil_process_destroy: the process was destroyed or detached before");
    coil__leak_forget(p);
    wake_waiting(p, -EBADF);
    close_ends(p);
    p->orphan = true;
    p->detached = detached;
    if (p->status >= 0)
        release(p);
    else if (coil__list_empty(&p->link)) /* LEFT */
        leave_to_thread(p);
    else if (!detached)
        coil__child_end(p->handle, p->kill_signal);
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
