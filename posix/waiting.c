/*
 * waiting.c - how an interposed function waits.
 */
#include "waiting.h"

#include <coil/loop.h>
#include <coil/poll.h>
#include <coil/scope.h>

#include <limits.h>

#define FIRST_NAP COIL_USEC(100)
#define LONGEST_NAP COIL_MSEC(20)
#define CALLS_IN_A_ROW 64

/* ---- may it? ------------------------------------------------------------------------
 */

/*
 * A forked child has the parent's loop, and its task seems to run. It may have a loop of
 * its own later. A child of vfork(2) is seen by its number: no handler runs there.
 */
static THREAD_LOCAL const coil_loop *parents_loop;
static pid_t process;

static void note_fork(void)
{
    parents_loop = coil_loop_current();
    process = getpid();
}

__attribute__((constructor)) static void note_process(void)
{
    process = getpid();
    pthread_atfork(NULL, NULL, note_fork);
}

bool posix__may_wait(void)
{
    stack_t stack;

    return coil_loop_current() != parents_loop && getpid() == process &&
           (sigaltstack(NULL, &stack) < 0 || !(stack.ss_flags & SS_ONSTACK));
}

void posix__fairly(void)
{
    static THREAD_LOCAL unsigned calls;

    if (++calls % CALLS_IN_A_ROW == 0 && posix__may_wait())
        coil_yield();
}

/* ---- time ---------------------------------------------------------------------------
 */

int64_t posix__nanoseconds(const struct timespec *t)
{
    if (t->tv_sec >= COIL_NEVER / COIL_SEC(1))
        return COIL_NEVER;
    return COIL_SEC(t->tv_sec) + t->tv_nsec;
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

int64_t posix__deadline(const struct timespec *span)
{
    return span != NULL ? coil_in(posix__nanoseconds(span)) : COIL_NEVER;
}

/* ---- waiting ------------------------------------------------------------------------
 */

static int or_errno(int rc)
{
    if (rc >= 0)
        return rc;
    errno = -rc;
    return -1;
}

static int poll_blocking(struct pollfd *fds, nfds_t n, int64_t timeout_ns)
{
    struct timespec span = {.tv_sec = timeout_ns / COIL_SEC(1),
                            .tv_nsec = timeout_ns % COIL_SEC(1)};

    return NEXT(ppoll)(fds, n, timeout_ns != COIL_NEVER ? &span : NULL, NULL);
}

int posix__poll(struct pollfd *fds, nfds_t n, int64_t timeout_ns)
{
    if (!posix__may_wait())
        return poll_blocking(fds, n, timeout_ns);
    return or_errno(coil_poll(fds, n, timeout_ns));
}

int posix__sleep(int64_t span_ns)
{
    if (!posix__may_wait())
        return poll_blocking(NULL, 0, span_ns);
    return or_errno(coil_sleep(span_ns));
}

int posix__nap(int64_t *length_ns, int64_t deadline)
{
    int64_t left = posix__left(deadline);

    *length_ns = *length_ns == 0 ? FIRST_NAP : *length_ns * 2;
    if (*length_ns > LONGEST_NAP)
        *length_ns = LONGEST_NAP;
    return posix__sleep(*length_ns < left ? *length_ns : left);
}

void posix__nap_anyhow(int64_t *length_ns)
{
    int saved = errno;
    coil_scope scope;

    if (posix__may_wait() && coil_scope_enter_shielded(&scope, COIL_NEVER) == 0) {
        posix__nap(length_ns, COIL_NEVER);
        coil_scope_exit(&scope, 0);
    } else {
        posix__nap(length_ns, COIL_NEVER);
    }
    errno = saved;
}

/* ---- for a descriptor ----------------------------------------------------------------
 */

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

static void begin(struct posix__waiting *w)
{
    if (!w->begun)
        w->deadline = posix__socket_deadline(w->fd, w->events & POLLOUT ? SO_SNDTIMEO
                                                                        : SO_RCVTIMEO);
    w->begun = true;
}

int posix__await(struct posix__waiting *w)
{
    struct pollfd fd = {.fd = w->fd, .events = w->events};
    int count;

    begin(w);
    count = posix__poll(&fd, 1, posix__left(w->deadline));
    w->revents = fd.revents;
    return count;
}

/*
 * What is ready although the attempt has failed will not tell when it makes sense to try:
 * a datagram socket whose buffer has room, but not that of whom it sends to. Nap then.
 */
static bool is_ready_in_vain(struct posix__waiting *w)
{
    struct pollfd fd = {.fd = w->fd, .events = w->events};

    w->vain = NEXT(poll)(&fd, 1, 0) > 0 ? w->vain + 1 : 0;
    return w->vain > 1;
}

static int nap_in_vain(struct posix__waiting *w)
{
    begin(w);
    if (posix__left(w->deadline) == 0)
        return 0;
    return posix__nap(&w->nap, w->deadline) < 0 ? -1 : 1;
}

bool posix__again(struct posix__waiting *w)
{
    int saved = errno, rc;

    if (errno != EAGAIN || !posix__blocks(w->fd))
        return false;
    rc = is_ready_in_vain(w) ? nap_in_vain(w) : posix__await(w);
    if (rc < 0)
        return false;
    errno = saved;
    return rc > 0;
}
