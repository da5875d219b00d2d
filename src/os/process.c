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
 * spawn.c starts a child. Like asyncio's PidfdChildWatcher, the loop watches the child's
 * handle from the start, so the child is reaped even if no task waits for it. After the
 * loop has closed, reap.c reaps the child. The pipes to a child are streams.
 *
 * Invariants
 * 1. The handle (kernel/child.h) is open while status is -EINPROGRESS. While the process
 *    is in its loop's list, either the loop watches the handle, or a timer tries again to
 *    reap the child. The handle of a group leader stays open until the process is
 *    destroyed, because the group may outlive its leader and still be signalled.
 * 2. Only tasks of the process's loop wait for the process. After the wait, these tasks
 *    take the result from the wait and do not use the process, which may be freed before
 *    they run.
 * 3. A forked child does not touch its copy of a process: the watch belongs to the
 *    parent, and removing it here would also remove it in the parent.
 */
#include "process.h"
#include "child_stdio.h"

#include "../base/fault.h"
#include "../kernel/child.h"
#include "../kernel/terminal.h"
#include "../loop/leak.h"
#include "reap.h"
#include "spawn.h"
#include "../task/wait.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define STATUS_LOST W_EXITCODE(255, 0)
#define LOOK_AGAIN_FIRST COIL_MSEC(1)
#define LOOK_AGAIN_LAST COIL_MSEC(100)

struct coil_process {
    coil_loop *loop;             /* a reference */
    struct coil__list link;      /* in children.list until the child is reaped */
    struct coil__runnable ended; /* ready when the handle is readable */
    /*
     * replaces the watch of the handle while a tracer prevents the child from being
     * reaped
     */
    struct coil__timer look_again;
    int64_t pause_ns;              /* the last delay of look_again */
    struct coil__list waits;       /* waiting.link */
    coil_stream *ends[COIL__ENDS]; /* see struct coil__stdio */
    pid_t pid;
    int handle;
    int status; /* -EINPROGRESS while the child runs */
    int kill_signal;
    /*
     * The owner has one reference. When the process becomes an orphan, the reference
     * passes to the loop until the child ends.
     */
    unsigned references;
    bool leads_group;
    bool orphan;   /* destroyed or detached: freed when the child ends */
    bool detached; /* the child is not killed when the loop closes */
};

/* A task that waits for the child to end. */
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
    for (int i = 0; i < COIL__ENDS; i++) {
        coil_stream_destroy(p->ends[i]);
        p->ends[i] = NULL;
    }
}

/* Close the handle, after reaping the child if reap() has left it as a zombie. */
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
 * Store the child's status and reap the child. However, a process group may outlive its
 * leader, whose pid no longer identifies the group once the leader is reaped. So if the
 * kernel cannot signal a group through a handle, leave a group leader as a zombie until
 * the process is destroyed.
 */
static int reap(const coil_process *p, int *status)
{
    if (p->leads_group && !p->orphan && coil__child_signal_group(p->handle, 0) == -EINVAL)
        return coil__child_look(p->handle, status);
    return coil__child_reap(p->handle, status);
}

/*
 * Stop watching the handle, and try again after a delay. Called when the child is dead
 * but a tracer is still attached. The kernel does not return the status yet, the handle
 * stays readable, and no event is reported when the tracer detaches. If there is no
 * memory for the timer, the watch stays, and the loop spins.
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

/*
 * Try to reap the child, because its handle is readable or the delay of wait_for_tracer()
 * has passed.
 */
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

/*
 * Called when the loop closes, or later: kill the child unless it is detached, pass its
 * handle to reap.c, and release the process.
 */
static void leave_to_reaper(coil_process *p)
{
    int handle = p->handle;

    if (!p->detached)
        coil__child_end(handle, SIGKILL);
    p->handle = -1;
    coil__reap_later(handle, !p->detached);
    release(p);
}

/*
 * Stop watching all children. Kill all orphans, except detached ones, before passing any
 * to reap.c. It waits briefly for each killed child, so the killed children should
 * already be ending.
 */
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
        leave_to_reaper(COIL__CONTAINER(link, coil_process, link));
    coil__free(children);
    this_children = NULL;
    (void)loop;
}

/*
 * Return the loop's children. The first call creates the struct. In a forked child, the
 * parent's struct is replaced without being changed.
 */
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

/* ---- starting ---------------------------------------------------------------------- */

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
    p->leads_group = opts->new_session || opts->new_group || opts->pty;
    return p;
}

static int start(coil_process *p, const struct coil__spawn *what)
{
    int rc = coil__spawn(what, &p->pid, &p->handle);

    if (rc < 0) {
        p->handle = -1;
        return rc;
    }
    rc = watch(p);
    if (rc < 0) { /* no memory, or the handle is too large for select(2) */
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
    struct coil__stdio stdio;
    struct coil__spawn what;
    coil_process *p;
    int rc = coil__spawn_read(opts, &what);

    *out = NULL;
    if (rc < 0)
        return rc;
    p = create(loop, opts);
    if (p == NULL)
        return coil__failed(-ENOMEM);
    rc = coil__stdio_open(&stdio, opts);
    memcpy(p->ends, stdio.ends, sizeof p->ends);
    memcpy(what.stdio, stdio.fd, sizeof what.stdio);
    what.terminal = stdio.terminal;
    if (rc == 0)
        rc = start(p, &what);
    coil__stdio_close(&stdio);
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

coil_stream *coil_process_terminal(const coil_process *process)
{
    COIL__REQUIRE(process, "a process");
    check_not_gone(process, __func__);
    return process->ends[COIL__TERMINAL];
}

int coil_process_resize(coil_process *process, unsigned short rows,
                        unsigned short columns)
{
    COIL__REQUIRE(process, "a process");
    check_not_gone(process, __func__);
    coil_stream *terminal = process->ends[COIL__TERMINAL];

    if (terminal == NULL)
        return coil__failed(-ENOTTY);
    if (coil_stream_fd(terminal) < 0)
        return coil__failed(-EBADF);
    return coil__terminal_resize(coil_stream_fd(terminal), rows, columns);
}

int coil_process_open_pidfd(const coil_process *process)
{
    COIL__REQUIRE(process, "a process");
    check_not_gone(process, __func__);
    int fd;

    if (process->status >= 0 || process->handle < 0)
        return coil__failed(-ESRCH);
    fd = COIL__CALL(EMFILE, fcntl(process->handle, F_DUPFD_CLOEXEC, 0));
    return fd < 0 ? coil__failed(-errno) : fd;
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

/* True in a forked child if its parent has started the process. */
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
    /*
     * The kernel cannot signal the group through the handle, so use the pid. While the
     * leader is running or a zombie, no other group can have its pid.
     */
    if (coil__child_look(process->handle, &status) == -ECHILD)
        return coil__failed(-ESRCH);
    if (COIL__CALL(EPERM, kill(-process->pid, signo)) < 0)
        return coil__failed(-errno);
    return 0;
}

/* ---- destroying -------------------------------------------------------------------- */

void coil__process_enter(coil_process *process)
{
    process->references++;
}

void coil__process_leave(coil_process *process)
{
    release(process);
}

/*
 * Called when the owner destroys or detaches the process: make it an orphan, which is
 * freed when the child ends.
 */
static void orphan_process(coil_process *p, bool detached)
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
        leave_to_reaper(p);
    else if (!detached)
        coil__child_end(p->handle, p->kill_signal);
}

void coil_process_destroy(coil_process *process)
{
    if (process == NULL)
        return;
    require_own(process, "coil_process_destroy");
    if (!belongs_to_parent(process))
        orphan_process(process, false);
}

void coil_process_detach(coil_process *process)
{
    if (process == NULL)
        return;
    require_own(process, "coil_process_detach");
    if (!belongs_to_parent(process))
        orphan_process(process, true);
}
