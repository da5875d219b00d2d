/*
 * waiting.c - how an interposed function waits: see waiting.h.
 */
#include "waiting.h"

#include <coil/executor.h>
#include <coil/poll.h>
#include <coil/scope.h>
#include <coil/task.h>

#include <limits.h>

#define FIRST_NAP COIL_USEC(100)
#define LONGEST_NAP COIL_MSEC(20)
#define CALLS_IN_A_ROW 64

/*
 * Once this many calls of a cancelled task have failed, its further sleeps, or its
 * further waits of any kind, are shielded.
 */
#define PAUSES_REFUSED 100
#define WAITS_REFUSED 1000

/* ---- may the call suspend? --------------------------------------------------------- */

/*
 * In a child of fork(2) no task runs, because libcoil's fork handler removes the loop. A
 * child of vfork(2) or clone(2) does not run the handler, so a task still seems to run
 * there. Such a child is recognised by its process ID.
 *
 * Usually the check needs no system call. If the code runs on the task's stack, it is
 * neither in a clone(2) child with a separate stack nor in a signal handler on an
 * alternate stack. The code may be in a child that runs on its parent's stack, but only
 * if `posix__may_be_child` was set since the last check. vfork(), _Fork() and syscall()
 * set this flag; if the child shares the parent's memory, it is also set in the parent.
 */
THREAD_LOCAL bool posix__may_be_child;
static pid_t process;
static THREAD_LOCAL unsigned napping; /* number of tasks in posix__nap() */

static void note_fork(void)
{
    process = getpid();
    napping = 0;
}

__attribute__((constructor)) static void note_process(void)
{
    process = getpid();
    pthread_atfork(NULL, NULL, note_fork);
}

static bool is_child_or_on_signal_stack(void)
{
    stack_t stack;

    return getpid() != process ||
           (sigaltstack(NULL, &stack) == 0 && stack.ss_flags & SS_ONSTACK);
}

bool posix__may_wait(void)
{
    if (posix__may_be_child || !coil_on_task_stack()) {
        if (is_child_or_on_signal_stack())
            return false;
        posix__may_be_child = false;
    }
    coil_watch_locks();
    return true;
}

/* ---- time -------------------------------------------------------------------------- */

int64_t posix__nanoseconds(const struct timespec *t)
{
    if (t->tv_sec < 0)
        return 0;
    if (t->tv_sec >= COIL_NEVER / COIL_SEC(1))
        return COIL_NEVER;
    return COIL_SEC(t->tv_sec) + t->tv_nsec;
}

struct timespec posix__timespec(int64_t ns)
{
    return (struct timespec){.tv_sec = ns / COIL_SEC(1), .tv_nsec = ns % COIL_SEC(1)};
}

bool posix__is_time(const struct timespec *t)
{
    return t->tv_nsec >= 0 && t->tv_nsec < COIL_SEC(1);
}

bool posix__is_span(const struct timespec *t)
{
    return t == NULL || (t->tv_sec >= 0 && posix__is_time(t));
}

int64_t posix__clock(clockid_t clock)
{
    struct timespec t;

    return clock_gettime(clock, &t) == 0 ? posix__nanoseconds(&t) : 0;
}

int64_t posix__left(int64_t deadline)
{
    int64_t now;

    if (deadline == COIL_NEVER)
        return COIL_NEVER;
    now = coil_now();
    return deadline > now ? deadline - now : 0;
}

bool posix__is_clock_of_locks(clockid_t clock)
{
    return clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC;
}

int64_t posix__left_until(const struct posix__until *until)
{
    int64_t left;

    if (until->time == NULL)
        return COIL_NEVER;
    left = posix__nanoseconds(until->time) - posix__clock(until->clock);
    return left > 0 ? left : 0;
}

int64_t posix__deadline(const struct timespec *span)
{
    return span != NULL ? coil_in(posix__nanoseconds(span)) : COIL_NEVER;
}

/* ---- waiting ----------------------------------------------------------------------- */

/* Convert a result of coil to the POSIX convention: -1 and errno. */
static int to_errno(int rc)
{
    if (rc >= 0)
        return rc;
    errno = -rc;
    return -1;
}

static int poll_blocking(struct pollfd *fds, nfds_t n, int64_t timeout_ns)
{
    struct timespec span = posix__timespec(timeout_ns);

    return NEXT(ppoll)(fds, n, timeout_ns != COIL_NEVER ? &span : NULL, NULL);
}

static bool hold_after(unsigned refusals, coil_scope *scope)
{
    return (coil_cancel_held() || coil_cancel_refusals() >= refusals) &&
           coil_scope_enter_shielded(scope, COIL_NEVER) == 0;
}

bool posix__hold_cancel(coil_scope *scope)
{
    return hold_after(WAITS_REFUSED, scope);
}

bool posix__hold_pause(coil_scope *scope)
{
    return hold_after(PAUSES_REFUSED, scope);
}

void posix__release_cancel(coil_scope *scope, bool held)
{
    if (held)
        coil_scope_exit(scope, 0);
}

void posix__yield(void)
{
    coil_scope scope;
    bool held = posix__hold_cancel(&scope);

    coil_yield();
    posix__release_cancel(&scope, held);
}

void posix__fairly(void)
{
    static THREAD_LOCAL unsigned calls;

    if (++calls % CALLS_IN_A_ROW == 0 && posix__may_wait())
        posix__yield();
}

int posix__poll(struct pollfd *fds, nfds_t n, int64_t timeout_ns)
{
    coil_scope scope;
    bool held;
    int rc;

    if (!posix__may_wait())
        return poll_blocking(fds, n, timeout_ns);
    held = posix__hold_cancel(&scope);
    rc = coil_poll(fds, n, timeout_ns);
    posix__release_cancel(&scope, held);
    return to_errno(rc);
}

int posix__sleep(int64_t span_ns)
{
    coil_scope scope;
    bool held;
    int rc;

    if (!posix__may_wait())
        return poll_blocking(NULL, 0, span_ns);
    held = posix__hold_cancel(&scope);
    rc = coil_sleep(span_ns);
    posix__release_cancel(&scope, held);
    return to_errno(rc);
}

int posix__pause(int64_t span_ns)
{
    coil_scope scope;
    bool held = posix__may_wait() && posix__hold_pause(&scope);
    int rc = posix__sleep(span_ns);

    posix__release_cancel(&scope, held);
    return rc;
}

int posix__blocking(coil_lane lane, int (*fn)(void *arg), void *arg)
{
    coil_scope scope;
    bool held = posix__hold_cancel(&scope);
    int rc = coil_blocking(lane, fn, arg);

    posix__release_cancel(&scope, held);
    return rc;
}

int posix__blocking_abandonable(coil_lane lane, int (*fn)(void *arg), void *arg,
                                void (*discard)(void *arg))
{
    coil_scope scope;
    bool held = posix__hold_cancel(&scope);
    int rc = coil_blocking_abandonable(lane, fn, arg, discard);

    posix__release_cancel(&scope, held);
    return rc;
}

int posix__blocking_shielded(coil_lane lane, int (*fn)(void *arg), void *arg)
{
    int saved = errno;
    coil_scope shield;
    int rc = coil_scope_enter_shielded(&shield, COIL_NEVER);

    if (rc < 0)
        return rc;
    rc = coil_blocking(lane, fn, arg);
    coil_scope_exit(&shield, 0);
    errno = saved;
    return rc;
}

/* The limit of a nap grows with the number of napping tasks, so that all tasks together
 * wake up at most about 1,000 times a second. */
int posix__nap(int64_t *length_ns, int64_t deadline)
{
    int64_t left = posix__left(deadline), all = napping * COIL_MSEC(1);
    int64_t longest = all > LONGEST_NAP ? all : LONGEST_NAP;
    int rc;

    *length_ns = *length_ns == 0 ? FIRST_NAP : *length_ns * 2;
    if (*length_ns > longest)
        *length_ns = longest;
    napping++;
    rc = posix__sleep(*length_ns < left ? *length_ns : left);
    napping--;
    return rc;
}

void posix__nap_shielded(int64_t *length_ns, int64_t deadline)
{
    int saved = errno;
    coil_scope shield;
    bool shielded =
        posix__may_wait() && coil_scope_enter_shielded(&shield, COIL_NEVER) == 0;

    posix__nap(length_ns, deadline);
    if (shielded)
        coil_scope_exit(&shield, 0);
    errno = saved;
}

/* ---- the waiting lane -------------------------------------------------------------- */

/*
 * The largest number of threads that a lane may have. Jobs of this lane may wait forever,
 * so a new job should never have to wait for a free thread.
 */
#define WAITING_THREADS 1024

static coil_lane waiting_lane;
static bool has_waiting_lane;

static void *create_lane(void *unused)
{
    has_waiting_lane =
        coil_executor_create("coil-posix", WAITING_THREADS, &waiting_lane) == 0;
    return unused;
}

/* Create the lane on a thread without a loop. In debug mode, a loop reports lanes that
 * were created on its thread and not destroyed, but this lane belongs to the process. */
static void create_waiting_lane(void)
{
    pthread_t thread;

    if (pthread_create(&thread, NULL, create_lane, NULL) == 0)
        NEXT(pthread_join)(thread, NULL);
    else
        create_lane(NULL);
}

bool posix__waiting_lane(coil_lane *lane)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    NEXT(pthread_once)(&once, create_waiting_lane);
    *lane = waiting_lane;
    return has_waiting_lane;
}

/* ---- for a descriptor -------------------------------------------------------------- */

bool posix__blocks(int fd)
{
    int saved = errno;
    int flags = NEXT(fcntl)(fd, F_GETFL);

    errno = saved;
    return flags < 0 || !(flags & O_NONBLOCK);
}

int64_t posix__socket_deadline(int fd, int option)
{
    struct timeval t = {0, 0};
    socklen_t length = sizeof t;
    int saved = errno;

    if (getsockopt(fd, SOL_SOCKET, option, &t, &length) < 0)
        t = (struct timeval){0, 0};
    errno = saved;
    if (t.tv_sec == 0 && t.tv_usec == 0)
        return COIL_NEVER;
    return coil_in(COIL_SEC(t.tv_sec) + COIL_USEC(t.tv_usec));
}

/* Set the deadline at the first wait of the call. */
static void begin_waiting(struct posix__waiting *w)
{
    if (!w->begun)
        w->deadline = posix__socket_deadline(w->fd, w->events & POLLOUT ? SO_SNDTIMEO
                                                                        : SO_RCVTIMEO);
    w->begun = true;
}

int posix__await(struct posix__waiting *w)
{
    struct pollfd fd = {.fd = w->fd, .events = w->events};

    begin_waiting(w);
    return posix__poll(&fd, 1, posix__left(w->deadline));
}

/* Wait after EAGAIN, like posix__await(). */
static int await_retry(struct posix__waiting *w)
{
    coil_scope scope;
    bool held;
    int rc;

    if (!posix__may_wait())
        return posix__await(w);
    begin_waiting(w);
    held = posix__hold_cancel(&scope);
    rc = coil_poll_retry(w->fd, w->events, posix__left(w->deadline));
    posix__release_cancel(&scope, held);
    return to_errno(rc);
}

bool posix__polls(int fd, short events)
{
    struct pollfd now = {.fd = fd, .events = events};
    int saved = errno;
    bool found = NEXT(poll)(&now, 1, 0) > 0 && (now.revents & events) != 0;

    errno = saved;
    return found;
}

/*
 * True if poll() reports the descriptor as ready, but two attempts in a row have failed
 * with EAGAIN. Called after the first wait. An example is a local datagram socket that
 * has space to send while its receiver is full. Polling again would spin, so the caller
 * naps.
 */
static bool fails_although_ready(struct posix__waiting *w)
{
    short events = (short)(w->events | POLLERR | POLLHUP | POLLNVAL);

    w->ready_failures = posix__polls(w->fd, events) ? w->ready_failures + 1 : 0;
    return w->ready_failures > 1;
}

/* Returns like posix__await(). */
static int nap_although_ready(struct posix__waiting *w)
{
    begin_waiting(w);
    if (posix__left(w->deadline) == 0)
        return 0;
    return posix__nap(&w->nap, w->deadline) < 0 ? -1 : 1;
}

bool posix__again(struct posix__waiting *w)
{
    int saved = errno, rc;

    if (errno != EAGAIN || !posix__blocks(w->fd))
        return false;
    rc = w->begun && fails_although_ready(w) ? nap_although_ready(w) : await_retry(w);
    if (rc < 0)
        return false;
    errno = saved;
    return rc > 0;
}
