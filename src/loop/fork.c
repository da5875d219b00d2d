/*
 * fork.c - disables the parent's loop in a child of fork(2).
 *
 * The child shares epoll instances, rings and eventfds with its parent: if the child
 * removed a descriptor from the epoll instance, it would be removed for the parent, too.
 * Also, a child that continued the loop would run every task a second time. So a handler
 * of pthread_atfork(3) disables the loop in the child before fork(2) returns there:
 *
 *     the thread has no loop and no current task    calls that need one abort
 *     the loop's backend refuses all requests       running the loop aborts
 *     ready runnables move to a list of their own   nothing runs before the abort
 *     the child's copies of its descriptors         are closed
 *
 * The only costs are a slower fork(2) and, in functions that destroy an object, a
 * comparison to check whether its loop belongs to the parent (coil__loop_is_parents()).
 *
 * A child of vfork(2), clone(2) or _Fork(3) must exec or _exit, because the handler does
 * not run there.
 */
#include "loop.h"

#include <unistd.h>

_Atomic pid_t coil__process;

COIL__THREAD_LOCAL coil_loop *coil__loop_of_parent;

void coil__fork_misuse(const char *caller)
{
    coil__misuse(
        "%s: this is a child of fork(2), and the loop belongs to the parent; a child "
        "may exec, _exit, or start a loop of its own with coil_run()",
        caller);
}

/* ---- the backend of an inherited loop ---------------------------------------------- */

static int refuse_attach(struct coil__backend *backend, int fd)
{
    (void)backend, (void)fd;
    coil__fork_misuse("a call that opens a stream");
}

static void forget(struct coil__backend *backend, int fd)
{
    (void)backend, (void)fd;
}

static ssize_t refuse_submit(struct coil__backend *backend, struct coil__op *op)
{
    (void)backend, (void)op;
    coil__fork_misuse("a call that does I/O");
}

static void refuse_cancel(struct coil__backend *backend, struct coil__op *op)
{
    (void)backend, (void)op;
}

static int refuse_watch(struct coil__backend *backend, int fd, struct coil__descriptor *d,
                        enum coil__direction direction, bool anew)
{
    (void)backend, (void)fd, (void)anew;
    if (d->watchers[direction] != NULL)
        coil__fork_misuse("coil_add_reader");
    return 0;
}

static int refuse_poll(struct coil__backend *backend, int64_t timeout_ns)
{
    (void)backend, (void)timeout_ns;
    coil__fork_misuse("continuing the event loop");
}

static const struct coil__backend_class parents_class = {
    .name = "parent's",
    .attach = refuse_attach,
    .detach = forget,
    .submit = refuse_submit,
    .attempt = refuse_submit,
    .cancel = refuse_cancel,
    .watch = refuse_watch,
    .poll = refuse_poll,
    .pollable = NULL,
};

static struct coil__backend parents_backend = {.class = &parents_class};

/* ---- the handler of pthread_atfork() ----------------------------------------------- */

/*
 * Move all ready runnables to a list that is never run, from which their owners can still
 * remove them.
 */
static void put_aside(coil_loop *loop)
{
    coil__list_splice(&loop->fork.put_aside, &loop->batch);
    coil__list_splice(&loop->fork.put_aside, &loop->ready);
    coil__list_splice(&loop->fork.put_aside, &loop->idle);
}

static void give_up_loop(coil_loop *loop)
{
    const struct coil__task_layer *tasks = coil__task_layer;

    if (tasks != NULL)
        tasks->forked();
    put_aside(loop);
    loop->polls_every_turn = true;
    if (loop->backend->class->forked != NULL)
        loop->backend->class->forked(loop->backend);
    loop->fork.backend = loop->backend; /* the child never frees the backend */
    loop->backend = &parents_backend;
    coil__wakeup_forked(loop);
    coil__slow_forked(loop);
    coil__trace_forked(loop);
    coil__loop_of_parent = loop;
    coil__loop_set_of_thread(NULL);
}

/* Must be async-signal-safe, because the parent may have had other threads. */
static void disable_loop_in_child(void)
{
    coil__process = getpid();
    coil__loops_forget();
    coil__deadlock_forked();
    coil__stall_forked();
    if (coil__loop_in_kernel != NULL) /* a signal handler called fork(2) */
        coil__loop_leave_kernel();
    if (coil__loop_of_thread != NULL)
        give_up_loop(coil__loop_of_thread);
}

static void watch_forks(void)
{
    pthread_atfork(NULL, NULL, disable_loop_in_child);
}

void coil__fork_watch(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, watch_forks);
    coil__process = getpid(); /* the fork handler does not run after clone(2) */
}

coil_loop *coil__loop_require_parents(const char *caller)
{
    if (coil__loop_of_parent == NULL)
        coil__loop_missing(caller);
    return coil__loop_of_parent;
}
