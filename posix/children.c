/*
 * children.c - waiting for processes.
 *
 * One that is named is waited for by a pidfd, which is readable when it has ended. For
 * any of several, and for one that stops or goes on, nobody tells: one asks again, at
 * growing intervals.
 */
#include "waiting.h"

#include <coil/executor.h>

#include <sys/resource.h>
#include <sys/syscall.h>

/* Waiting for one process, or -1. */
struct waiting_for {
    pid_t pid;
    int pidfd;
    int64_t nap;
};

static void begin(struct waiting_for *w, pid_t pid, bool to_its_end)
{
    int saved = errno;

    *w = (struct waiting_for){.pid = pid, .pidfd = -1};
#ifdef SYS_pidfd_open
    if (pid > 0 && to_its_end)
        w->pidfd = (int)syscall(SYS_pidfd_open, pid, 0); /* close-on-exec */
#endif
    errno = saved;
}

static int wait_a_little(struct waiting_for *w)
{
    struct pollfd ended = {.fd = w->pidfd, .events = POLLIN};

    if (w->pidfd < 0)
        return posix__nap(&w->nap, COIL_NEVER);
    if (posix__poll(&ended, 1, COIL_NEVER) < 0)
        return -1;
    /* It has ended: should that not be to our taste, do not ask without end. */
    NEXT(close)(w->pidfd);
    w->pidfd = -1;
    return 0;
}

static void finish(struct waiting_for *w)
{
    int saved = errno;

    if (w->pidfd >= 0)
        NEXT(close)(w->pidfd);
    errno = saved;
}

static pid_t wait_in_task(pid_t pid, int *status, int options, struct rusage *usage)
{
    pid_t got = NEXT(wait4)(pid, status, options | WNOHANG, usage);
    struct waiting_for w;

    if (got != 0)
        return got;
    begin(&w, pid, !(options & (WUNTRACED | WCONTINUED)));
    while (got == 0) {
        if (wait_a_little(&w) < 0)
            got = -1;
        else
            got = NEXT(wait4)(pid, status, options | WNOHANG, usage);
    }
    finish(&w);
    return got;
}

INTERPOSE pid_t wait4(pid_t pid, int *status, int options, struct rusage *usage)
{
    if (!IN_TASK() || options & WNOHANG)
        return NEXT(wait4)(pid, status, options, usage);
    return wait_in_task(pid, status, options, usage);
}

INTERPOSE pid_t wait3(int *status, int options, struct rusage *usage)
{
    if (!IN_TASK() || options & WNOHANG)
        return NEXT(wait3)(status, options, usage);
    return wait_in_task(-1, status, options, usage);
}

INTERPOSE pid_t waitpid(pid_t pid, int *status, int options)
{
    if (!IN_TASK() || options & WNOHANG)
        return NEXT(waitpid)(pid, status, options);
    return wait_in_task(pid, status, options, NULL);
}

INTERPOSE pid_t wait(int *status)
{
    if (!IN_TASK())
        return NEXT(wait)(status);
    return wait_in_task(-1, status, 0, NULL);
}

/* waitid(2) says by the pid in `info` whether there was one. */
static int ask(idtype_t type, id_t id, siginfo_t *info, int options)
{
    info->si_pid = 0;
    return NEXT(waitid)(type, id, info, options | WNOHANG);
}

INTERPOSE int waitid(idtype_t type, id_t id, siginfo_t *info, int options)
{
    siginfo_t unused;
    struct waiting_for w;
    int rc;

    if (!IN_TASK() || options & WNOHANG)
        return NEXT(waitid)(type, id, info, options);
    if (info == NULL)
        info = &unused;
    rc = ask(type, id, info, options);
    if (rc < 0 || info->si_pid != 0)
        return rc;
    begin(&w, type == P_PID ? (pid_t)id : -1, !(options & (WSTOPPED | WCONTINUED)));
    do {
        rc = wait_a_little(&w);
        if (rc == 0)
            rc = ask(type, id, info, options);
    } while (rc == 0 && info->si_pid == 0);
    finish(&w);
    return rc;
}

/* ---- system
 * ----------------------------------------------------------------------------- */

struct command {
    const char *text;
    int status, error;
};

static int run_command(void *arg)
{
    struct command *c = arg;

    c->status = NEXT(system)(c->text);
    c->error = errno;
    return 0;
}

/* It starts and awaits within the C library: on a thread. */
INTERPOSE int system(const char *text)
{
    struct command c = {.text = text};
    int rc;

    if (!IN_TASK() || text == NULL || !posix__may_wait())
        return NEXT(system)(text);
    rc = coil_blocking(COIL_LANE_FILE, run_command, &c);
    errno = rc < 0 ? -rc : c.error;
    return rc < 0 ? -1 : c.status;
}
