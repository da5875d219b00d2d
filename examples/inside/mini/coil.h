/*
 * mini/coil.h - coil in one header, to be read from top to bottom.
 *
 * A task is a function with a stack of its own. Where it must wait it enters a queue and
 * switches to the loop, which switches to the first task that is ready. This file says
 * which queues there are, and who moves tasks from them back to `ready`. Programs that
 * need no more compile on it unchanged: cc -I examples/inside/mini examples/hello.c
 *
 *     yield -> ready                 wait for bytes -> polled: the kernel, by epoll
 *     sleep -> sleepers: the clock   await a task   -> its waiters: that task, at its end
 *     any: coil_task_cancel()        exit a group   -> its exit: the last child, likewise
 *
 * Left out: futures, scopes, shields, locks, queues, generators, contexts, threads, TLS,
 * streams, files, processes; io_uring; guard pages; switches without system calls; errno
 * for each task; options, reasons, reports, checks; a heap for sleepers; a second source
 * file; two tasks on one descriptor; coil_cancel_caught(): once cancelled, no wait works.
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
#define COIL_STACK_BYTES (256 * 1024) // of addresses: the kernel gives pages when used
#define COIL_READABLE EPOLLIN
#define COIL_WRITABLE EPOLLOUT

/* ---- tasks, groups, queues --------------------------------------------------------- */

typedef struct coil_task coil_task;
typedef int (*coil_task_fn)(void *arg);
TAILQ_HEAD(coil__queue, coil_task);

typedef struct coil_group {
    coil_task *owner;            // NULL: the tasks that belong to nobody
    struct coil__queue children; // that have not ended, linked by `sibling`
    struct coil__queue exit;     // the owner, while it waits for them
    int rc;                      // of the first that failed
    bool cancelled, owner_cancelled;
} coil_group;

struct coil_task {
    coil_task_fn fn;
    void *arg;
    coil_group *group;
    struct coil__queue waiters;           // tasks that await this one
    coil_task *awaited;                   // the one that this one awaits
    struct coil__queue *queue;            // where it stands; NULL while it runs
    TAILQ_ENTRY(coil_task) link, sibling; // in `queue`, and in group->children
    int64_t until;                        // when its sleep ends; 0 if it does not sleep
    int rc;         // what its wait returns, and in the end what itself returned
    int cancelling; // how many asked it to end
    int references; // the loop's, and the spawner's
    bool ended;
    ucontext_t context;        // its registers while it does not run
    _Alignas(16) char stack[]; // and then the copy of its argument
};

static struct {
    coil_task *current;
    struct coil__queue ready, sleepers, polled;
    coil_group strays;  // the tasks of coil_spawn()
    ucontext_t context; // the loop's own registers while a task runs
    int epoll, interrupt;
    bool interrupted;
} coil__loop = {.ready = TAILQ_HEAD_INITIALIZER(coil__loop.ready),
                .sleepers = TAILQ_HEAD_INITIALIZER(coil__loop.sleepers),
                .polled = TAILQ_HEAD_INITIALIZER(coil__loop.polled)};

/* ---- waiting ----------------------------------------------------------------------- */

/* All queues are sorted by `until`. Where that is 0 for all: first come, first served. */
static void coil__move(coil_task *task, struct coil__queue *to, int64_t until, int rc)
{
    if (task->queue != NULL)
        TAILQ_REMOVE(task->queue, task, link);
    coil_task *before = TAILQ_LAST(to, coil__queue);
    while (before != NULL && before->until > until)
        before = TAILQ_PREV(before, coil__queue, link);
    if (before != NULL)
        TAILQ_INSERT_AFTER(to, before, task, link);
    else
        TAILQ_INSERT_HEAD(to, task, link);
    task->queue = to;
    task->until = until;
    task->rc = rc;
}

static void coil__wake(coil_task *task, int rc)
{
    coil__move(task, &coil__loop.ready, 0, rc);
    task->awaited = NULL;
}

/* Every wait is this one. Until the loop switches back, all frames stand as they are. */
static int coil__park(struct coil__queue *queue, int64_t until)
{
    coil_task *self = coil__loop.current;

    if (self->cancelling > 0) // refused, in the next turn: a deaf task starves nobody
        coil__wake(self, 0);
    else
        coil__move(self, queue, until, 0);
    swapcontext(&self->context, &coil__loop.context);
    return self->cancelling > 0 ? -ECANCELED : self->rc;
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
    epoll_ctl(coil__loop.epoll, EPOLL_CTL_DEL, fd, NULL); // if we were cancelled, too
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
    coil__loop.current->awaited = task; // the way down for a cancellation
    return coil__park(&task->waiters, 0);
}

/* ---- cancelling -------------------------------------------------------------------- */

/*
 * Nothing is killed: the wait returns -ECANCELED, and the function cleans up. A wait is a
 * place in a queue, and is left at once; but a task that is awaited is cancelled first.
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
    return true; // one that runs or is ready is told by its next wait
}

static void coil__group_cancel(coil_group *group)
{
    group->cancelled = true;
    for (coil_task *child = TAILQ_FIRST(&group->children); child != NULL;
         child = TAILQ_NEXT(child, sibling))
        coil_task_cancel(child, "group");
}

/* ---- the life of a task ------------------------------------------------------------ */

typedef struct coil_spawn_opts {
    size_t arg_bytes;
} coil_spawn_opts;

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
        return;     // to uc_link, which is the loop
    group->rc = rc; // the first failure: nobody needs what the others would come to
    coil__group_cancel(group);
    if (TAILQ_EMPTY(&group->exit)) // the owner is still in the body
        group->owner_cancelled = coil_task_cancel(group->owner, "group");
}

COIL_API int coil_group_spawn(coil_group *group, coil_task_fn fn, void *arg,
                              const coil_spawn_opts *opts, coil_task **out)
{
    size_t bytes = opts != NULL ? opts->arg_bytes : 0;
    coil_task *task = malloc(sizeof *task + COIL_STACK_BYTES + bytes);

    if (task == NULL || group->cancelled) {
        free(task);
        return task == NULL ? -ENOMEM : -ESHUTDOWN;
    }
    *task = (coil_task){.fn = fn, .group = group};
    task->references = out != NULL && group->owner == NULL ? 2 : 1;
    task->arg = bytes > 0 ? memcpy(task->stack + COIL_STACK_BYTES, arg, bytes) : arg;
    TAILQ_INIT(&task->waiters);
    TAILQ_INSERT_TAIL(&group->children, task, sibling);
    getcontext(&task->context);
    task->context.uc_stack = (stack_t){.ss_sp = task->stack, .ss_size = COIL_STACK_BYTES};
    task->context.uc_link = &coil__loop.context;
    makecontext(&task->context, coil__task_main, 0);
    coil__wake(task, 0); // it begins in the next turn
    if (out != NULL)
        *out = task; // a group's child is borrowed, until it has ended
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
    int held_back = 0;

    if (rc < 0)
        coil__group_cancel(group);
    while (!TAILQ_EMPTY(&group->children))
        if (coil__park(&group->exit, 0) < 0) {
            coil__group_cancel(group);
            rc = rc < 0 ? rc : -ECANCELED;
            held_back += group->owner->cancelling;
            group->owner->cancelling = 0;
        }
    group->owner->cancelling += held_back - group->owner_cancelled; // that was our own
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
        if (task->queue == &coil__loop.polled) // else it was cancelled meanwhile
            coil__wake(task, (int)events[i].events);
    }
    while ((task = TAILQ_FIRST(&coil__loop.sleepers)) && task->until <= coil_now())
        coil__wake(task, 0);
}

/* Ask the kernel, then let each task that is ready by now run to its next wait. */
static void coil__take_turn(void)
{
    coil__poll();
    coil_task *last = TAILQ_LAST(&coil__loop.ready, coil__queue);

    for (bool more = last != NULL; more;) {
        coil_task *task = coil__loop.current = TAILQ_FIRST(&coil__loop.ready);
        more = task != last; // whoever becomes ready from here on has the next turn
        TAILQ_REMOVE(&coil__loop.ready, task, link);
        task->queue = NULL;
        swapcontext(&coil__loop.context, &task->context);
        coil__loop.current = NULL;
        if (task->ended)
            coil_task_release(task);
    }
}

/* Ctrl-C makes a descriptor readable, and a task waits for that as for any other. */
static void coil__note_interrupt(int signo)
{
    signal(signo, SIG_DFL); // a second one ends the program
    eventfd_write(coil__loop.interrupt, 1);
}

static int coil__await_interrupt(void *main_task)
{
    if (coil_wait_fd(coil__loop.interrupt, COIL_READABLE) > 0)
        coil__loop.interrupted = coil_task_cancel(main_task, "Ctrl-C");
    return 0;
}

COIL_API int coil_run(coil_task_fn fn, void *arg, const void *opts)
{
    coil_task *main_task;

    (void)opts;
    coil_group_enter(&coil__loop.strays); // no task runs here: they have no owner
    int rc = coil_spawn(fn, arg, NULL, &main_task);
    if (rc < 0)
        return rc;
    coil__loop.epoll = epoll_create1(EPOLL_CLOEXEC);
    coil__loop.interrupt = eventfd(0, EFD_CLOEXEC);
    signal(SIGINT, coil__note_interrupt);
    coil_spawn(coil__await_interrupt, main_task, NULL, NULL);
    while (!main_task->ended)
        coil__take_turn();
    coil__group_cancel(&coil__loop.strays);
    while (!TAILQ_EMPTY(&coil__loop.strays.children))
        coil__take_turn();
    signal(SIGINT, SIG_DFL);
    close(coil__loop.interrupt);
    close(coil__loop.epoll);
    rc = main_task->rc;
    coil_task_release(main_task);
    return rc == -ECANCELED && coil__loop.interrupted ? -EINTR : rc;
}
