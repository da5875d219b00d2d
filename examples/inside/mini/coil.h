/*
 * mini/coil.h - coil in one header, to be read from top to bottom.
 *
 * A task is a function with a stack of its own. When it must wait, it enters a queue and
 * switches to the loop, which switches to the first task that is ready. Programs that
 * use nothing else compile with it unchanged: cc -I examples/inside/mini examples/hello.c
 *
 *     yield -> ready                         wait for bytes -> polled, woken by epoll
 *     sleep -> sleepers, woken by the clock  await a task -> its waiters, until its end
 *     exit a group -> its exit, woken by the last child
 *
 * coil_task_cancel() wakes a task from any queue; after that every wait fails. Left out:
 * futures, scopes, shields, locks, streams, files, generators, contexts, threads, guard
 * pages, an errno for each task, reports, checks, two tasks on one descriptor.
 */
#pragma once

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/queue.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#define COIL_API __attribute__((unused)) static
#define COIL_SUSPENDS COIL_API // other tasks may run during the call
#define COIL_MSEC(n) ((int64_t)(n)*1000000)
#define COIL_SEC(n) ((int64_t)(n)*1000000000)
#define COIL_STACK_BYTES (256 * 1024) // address space: the kernel adds pages on first use
#define COIL_READABLE EPOLLIN
#define COIL_WRITABLE EPOLLOUT

/* ---- tasks, groups, queues --------------------------------------------------------- */

typedef struct coil_task coil_task;
typedef int (*coil_task_fn)(void *arg);
typedef struct coil_spawn_opts {
    size_t arg_bytes;
} coil_spawn_opts;
TAILQ_HEAD(coil__queue, coil_task);

typedef struct coil_group {
    coil_task *owner;            // NULL: the group of tasks outside groups
    struct coil__queue children; // children that have not ended, linked by `sibling`
    struct coil__queue exit;     // holds the owner while it waits for the children
    int rc;                      // the result of the first child that failed
    bool cancelled, owner_cancelled;
} coil_group;

struct coil_task {
    coil_task_fn fn;
    void *arg;
    coil_group *group;
    struct coil__queue waiters;           // tasks that await this task
    coil_task *awaited;                   // the task that this task awaits
    struct coil__queue *queue;            // the queue that holds it; NULL while it runs
    TAILQ_ENTRY(coil_task) link, sibling; // for `queue`, and for group->children
    int64_t until;                        // when its sleep ends; 0 if it does not sleep
    int rc;         // the result of its wait, or once it has ended, its own result
    int cancelling; // number of cancellation requests
    int references; // held by the loop and by the spawner
    bool ended;
    ucontext_t context;        // the registers of a task that is not running
    _Alignas(16) char stack[]; // followed by the copy of its argument
};

static struct {
    coil_task *current;
    struct coil__queue ready, sleepers, polled;
    coil_group strays;  // tasks spawned with coil_spawn()
    ucontext_t context; // the loop's own registers while a task runs
    int epoll, interrupt;
    bool interrupted;
} coil__loop = {.ready = TAILQ_HEAD_INITIALIZER(coil__loop.ready),
                .sleepers = TAILQ_HEAD_INITIALIZER(coil__loop.sleepers),
                .polled = TAILQ_HEAD_INITIALIZER(coil__loop.polled)};

/* ---- waiting ----------------------------------------------------------------------- */

static void coil__leave(coil_task *task)
{
    if (task->queue != NULL)
        TAILQ_REMOVE(task->queue, task, link);
    task->queue = NULL;
}

/* Queues are sorted by `until`. If it is 0 for all tasks, they are FIFO. */
static void coil__enter(coil_task *task, struct coil__queue *queue, int64_t until)
{
    coil_task *before = TAILQ_LAST(queue, coil__queue);
    while (before != NULL && before->until > until)
        before = TAILQ_PREV(before, coil__queue, link);
    if (before != NULL)
        TAILQ_INSERT_AFTER(queue, before, task, link);
    else
        TAILQ_INSERT_HEAD(queue, task, link);
    task->queue = queue;
    task->until = until;
}

static void coil__wake(coil_task *task, int rc)
{
    coil__leave(task);
    coil__enter(task, &coil__loop.ready, 0);
    task->rc = rc;
}

/* Each wait calls this. No task frame is touched until the loop switches back. */
static int coil__suspend(struct coil__queue *queue, int64_t until)
{
    coil_task *self = coil__loop.current;
    self->rc = 0;
    coil__enter(self, queue, until);
    swapcontext(&self->context, &coil__loop.context);
    return self->rc;
}

/* Wait until woken or cancelled. If already cancelled, the wait ends in the next turn. */
static int coil__park(struct coil__queue *queue, int64_t until)
{
    coil_task *self = coil__loop.current;
    bool refused = self->cancelling > 0;
    int rc = coil__suspend(refused ? &coil__loop.ready : queue, refused ? 0 : until);
    return self->cancelling > 0 ? -ECANCELED : rc;
}

COIL_SUSPENDS int coil_yield(void)
{
    return coil__park(&coil__loop.ready, 0);
}

COIL_API int64_t coil_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return COIL_SEC(now.tv_sec) + now.tv_nsec;
}

COIL_SUSPENDS int coil_sleep(int64_t ns)
{
    return ns <= 0 ? coil_yield() : coil__park(&coil__loop.sleepers, coil_now() + ns);
}

COIL_SUSPENDS int coil_wait_fd(int fd, unsigned events)
{
    struct epoll_event event = {.events = events, .data.ptr = coil__loop.current};
    if (epoll_ctl(coil__loop.epoll, EPOLL_CTL_ADD, fd, &event) < 0)
        return errno == EEXIST ? -EBUSY : -errno;
    int rc = coil__park(&coil__loop.polled, 0);
    epoll_ctl(coil__loop.epoll, EPOLL_CTL_DEL, fd, NULL); // even if cancelled
    return rc;
}

COIL_API void coil_task_release(coil_task *task)
{
    if (task != NULL && --task->references == 0)
        free(task);
}

COIL_SUSPENDS int coil_task_await(coil_task *task)
{
    if (task->ended)
        return task->rc;
    coil__loop.current->awaited = task; // so that a cancellation finds the awaited task
    int rc = coil__park(&task->waiters, 0);
    coil__loop.current->awaited = NULL;
    return rc;
}

/* ---- cancelling -------------------------------------------------------------------- */

/*
 * A task is not killed: its wait returns -ECANCELED, and its function cleans up. If it
 * awaits another task, the wait of the awaited task is cancelled instead.
 */
COIL_API bool coil_task_cancel(coil_task *task, const char *reason)
{
    (void)reason;
    if (task->ended)
        return false;
    for (; task->awaited != NULL; task = task->awaited)
        task->cancelling++;
    task->cancelling++;
    if (task->queue != NULL && task->queue != &coil__loop.ready)
        coil__wake(task, 0);
    return true; // if it runs or is ready, its next wait fails
}

static void coil__group_cancel(coil_group *group)
{
    group->cancelled = true;
    for (coil_task *child = TAILQ_FIRST(&group->children); child != NULL;
         child = TAILQ_NEXT(child, sibling))
        coil_task_cancel(child, "group");
}

/* ---- the life of a task ------------------------------------------------------------ */

static void coil__task_main(void)
{
    coil_task *self = coil__loop.current;
    coil_group *group = self->group;
    int rc = self->cancelling > 0 ? -ECANCELED : self->fn(self->arg);
    self->rc = rc;
    self->ended = true;
    while (!TAILQ_EMPTY(&self->waiters))
        coil__wake(TAILQ_FIRST(&self->waiters), rc);
    TAILQ_REMOVE(&group->children, self, sibling);
    if (TAILQ_EMPTY(&group->children) && !TAILQ_EMPTY(&group->exit))
        coil__wake(group->owner, 0);
    if (rc >= 0 || rc == -ECANCELED || group->rc < 0 || group->owner == NULL)
        return;     // switches to uc_link, the loop's context
    group->rc = rc; // only the first failure is stored
    coil__group_cancel(group);
    group->owner_cancelled = coil_task_cancel(group->owner, "group");
}

COIL_API int coil_group_spawn(coil_group *group, coil_task_fn fn, void *arg,
                              const coil_spawn_opts *opts, coil_task **out)
{
    size_t bytes = opts != NULL ? opts->arg_bytes : 0;
    coil_task *task =
        group->cancelled ? NULL : malloc(sizeof *task + COIL_STACK_BYTES + bytes);
    if (task == NULL)
        return group->cancelled ? -ESHUTDOWN : -ENOMEM;
    *task = (coil_task){.fn = fn, .group = group};
    task->references = out != NULL && group->owner == NULL ? 2 : 1;
    task->arg = bytes > 0 ? memcpy(task->stack + COIL_STACK_BYTES, arg, bytes) : arg;
    TAILQ_INIT(&task->waiters);
    TAILQ_INSERT_TAIL(&group->children, task, sibling);
    getcontext(&task->context);
    task->context.uc_stack = (stack_t){.ss_sp = task->stack, .ss_size = COIL_STACK_BYTES};
    task->context.uc_link = &coil__loop.context;
    makecontext(&task->context, coil__task_main, 0);
    coil__wake(task, 0); // the task begins in the next turn
    if (out != NULL)
        *out = task; // valid until the child ends
    return 0;
}

COIL_API int coil_spawn(coil_task_fn fn, void *arg, const coil_spawn_opts *opts,
                        coil_task **out)
{
    return coil_group_spawn(&coil__loop.strays, fn, arg, opts, out);
}

COIL_API void coil_group_enter(coil_group *group)
{
    *group = (coil_group){.owner = coil__loop.current};
    TAILQ_INIT(&group->children);
    TAILQ_INIT(&group->exit);
}

/* Children may use the owner's frame, so even a cancelled owner waits for them. */
COIL_SUSPENDS int coil_group_exit(coil_group *group, int rc)
{
    coil_task *owner = group->owner;
    while (!TAILQ_EMPTY(&group->children)) {
        if (rc < 0 || owner->cancelling > 0)
            coil__group_cancel(group);
        coil__suspend(&group->exit, 0); // until no child is left, or cancelled
        if (owner->cancelling > 0 && rc >= 0)
            rc = -ECANCELED;
    }
    owner->cancelling -= group->owner_cancelled; // withdraw the group's own request
    return group->rc < 0 ? group->rc : rc;
}

/* ---- the loop ---------------------------------------------------------------------- */

static void coil__poll(void)
{
    struct epoll_event events[64];
    coil_task *task = TAILQ_FIRST(&coil__loop.sleepers);
    int64_t ns = task != NULL ? task->until - coil_now() : COIL_SEC(3600);

    if (!TAILQ_EMPTY(&coil__loop.ready) || ns < 0)
        ns = 0;
    int ms = ns < COIL_SEC(3600) ? (int)(ns / COIL_MSEC(1)) + (ns > 0) : 3600000;
    int n = epoll_wait(coil__loop.epoll, events, 64, ms);
    for (int i = 0; i < n; i++) {
        task = events[i].data.ptr;
        if (task->queue == &coil__loop.polled) // false if it was cancelled meanwhile
            coil__wake(task, (int)events[i].events);
    }
    while ((task = TAILQ_FIRST(&coil__loop.sleepers)) && task->until <= coil_now())
        coil__wake(task, 0);
}

/* Poll the kernel, then let each task that is ready run to its next wait. */
static void coil__take_turn(void)
{
    coil__poll();
    coil_task *last = TAILQ_LAST(&coil__loop.ready, coil__queue);
    for (bool more = last != NULL; more;) {
        coil_task *task = coil__loop.current = TAILQ_FIRST(&coil__loop.ready);
        more = task != last; // tasks that become ready now wait for the next turn
        coil__leave(task);
        swapcontext(&coil__loop.context, &task->context);
        coil__loop.current = NULL;
        if (task->ended)
            coil_task_release(task);
    }
}

/* Ctrl-C makes a descriptor readable, and a task waits for that descriptor. */
static void coil__note_interrupt(int signo)
{
    signal(signo, SIG_DFL); // a second Ctrl-C ends the program
    eventfd_write(coil__loop.interrupt, 1);
}

static int coil__await_interrupt(void *main_task)
{
    if (coil_wait_fd(coil__loop.interrupt, COIL_READABLE) > 0)
        coil__loop.interrupted = coil_task_cancel(*(coil_task **)main_task, "Ctrl-C");
    return 0;
}

COIL_API int coil_run(coil_task_fn fn, void *arg, const void *opts)
{
    (void)opts;
    coil_task *main_task = NULL;
    coil__loop.epoll = epoll_create1(EPOLL_CLOEXEC);
    coil__loop.interrupt = eventfd(0, EFD_CLOEXEC);
    int rc = coil__loop.epoll < 0 || coil__loop.interrupt < 0 ? -errno : 0;
    coil_group_enter(&coil__loop.strays); // without an owner: no task runs yet
    signal(SIGINT, coil__note_interrupt);
    if (rc == 0)
        rc = coil_spawn(coil__await_interrupt, &main_task, NULL, NULL);
    if (rc == 0)
        rc = coil_spawn(fn, arg, NULL, &main_task);
    while (rc == 0 && !main_task->ended)
        coil__take_turn();
    coil__group_cancel(&coil__loop.strays);
    while (!TAILQ_EMPTY(&coil__loop.strays.children))
        coil__take_turn();
    signal(SIGINT, SIG_DFL);
    close(coil__loop.interrupt);
    close(coil__loop.epoll);
    rc = rc == 0 ? main_task->rc : rc;
    coil_task_release(main_task);
    return rc == -ECANCELED && coil__loop.interrupted ? -EINTR : rc;
}
