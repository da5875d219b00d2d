/*
 * children.c - wait(2), waitpid(2) and their relatives, and system(3).
 *
 * A pidfd becomes readable when its process ends, so a wait for the end of one process
 * polls a pidfd. No descriptor exists for other waits: for any of several children, or
 * for a child to stop or continue. For these, wait4() is called with WNOHANG at growing
 * intervals.
 *
 * If this process traces a child (ptrace(2)), the child is reported when it stops,
 * whatever the options are, but its pidfd does not become readable. Tracing may begin
 * during the wait. The poll therefore has a time-out, which starts at 1 ms and doubles.
 * After about two minutes, the poll has no time-out. While the child is traced, as shown
 * by /proc, the time-out is 100 ms.
 */
#include "waiting.h"

#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#define FIRST_TIME_OUT COIL_MSEC(1)
#define TRACED_TIME_OUT COIL_MSEC(100)
#define LAST_TIME_OUT COIL_SEC(120) /* above this limit, wait without a time-out */

/* A wait for children, between two attempts of wait4(). */
struct child_wait {
    pid_t pid; /* -1: any of several children */
    int pidfd; /* -1: none, so the task naps instead */
    int64_t nap, time_out;
};

static void begin_child_wait(struct child_wait *w, pid_t pid, bool for_end)
{
    int saved = errno;

    *w = (struct child_wait){.pid = pid, .pidfd = -1};
#ifdef SYS_pidfd_open
    if (pid > 0 && for_end)
        w->pidfd = (int)syscall(SYS_pidfd_open, pid, 0); /* close-on-exec */
#endif
    errno = saved;
}

static bool is_traced(pid_t pid)
{
    static const char key[] = "\nTracerPid:\t";
    char text[512]; /* enough for the file up to the TracerPid line */
    const char *tracer;
    ssize_t n = -1;
    int fd;

    snprintf(text, sizeof text, "/proc/%d/status", (int)pid);
    fd = NEXT(open)(text, O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        n = NEXT(read)(fd, text, sizeof text - 1);
        NEXT(close)(fd);
    }
    text[n > 0 ? n : 0] = '\0';
    tracer = strstr(text, key);
    return tracer != NULL && tracer[sizeof key - 1] != '0';
}

/* Return how long to wait for the child's end before the next attempt. */
static int64_t next_time_out(struct child_wait *w)
{
    w->time_out = w->time_out == 0 ? FIRST_TIME_OUT : 2 * w->time_out;
    if (w->time_out > TRACED_TIME_OUT && is_traced(w->pid))
        w->time_out = TRACED_TIME_OUT;
    return w->time_out <= LAST_TIME_OUT ? w->time_out : COIL_NEVER;
}

/* Suspend the task until the next attempt. Returns 0 or -1. */
static int await_child(struct child_wait *w)
{
    struct pollfd ended = {.fd = w->pidfd, .events = POLLIN};
    int rc;

    if (w->pidfd < 0)
        return posix__nap(&w->nap, COIL_NEVER);
    rc = posix__poll(&ended, 1, next_time_out(w));
    if (rc <= 0)
        return rc;
    /*
     * The process has ended, and its pidfd stays readable. If the attempt still fails,
     * nap between further attempts instead of spinning.
     */
    NEXT(close)(w->pidfd);
    w->pidfd = -1;
    return 0;
}

static void end_child_wait(struct child_wait *w)
{
    int saved = errno;

    if (w->pidfd >= 0)
        NEXT(close)(w->pidfd);
    errno = saved;
}

static pid_t wait_in_task(pid_t pid, int *status, int options, struct rusage *usage)
{
    pid_t got = NEXT(wait4)(pid, status, options | WNOHANG, usage);
    struct child_wait w;

    if (got != 0)
        return got;
    begin_child_wait(&w, pid, !(options & (WUNTRACED | WCONTINUED)));
    while (got == 0) {
        if (await_child(&w) < 0)
            got = -1;
        else
            got = NEXT(wait4)(pid, status, options | WNOHANG, usage);
    }
    end_child_wait(&w);
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

/*
 * Call waitid(2) with WNOHANG. If no child has changed its state, waitid() also returns
 * 0, but sets si_pid to 0.
 */
static int try_waitid(idtype_t type, id_t id, siginfo_t *info, int options)
{
    info->si_pid = 0;
    return NEXT(waitid)(type, id, info, options | WNOHANG);
}

INTERPOSE int waitid(idtype_t type, id_t id, siginfo_t *info, int options)
{
    siginfo_t unused;
    struct child_wait w;
    int rc;

    if (!IN_TASK() || options & WNOHANG)
        return NEXT(waitid)(type, id, info, options);
    if (info == NULL)
        info = &unused;
    rc = try_waitid(type, id, info, options);
    if (rc < 0 || info->si_pid != 0)
        return rc;
    begin_child_wait(&w, type == P_PID ? (pid_t)id : -1,
                     !(options & (WSTOPPED | WCONTINUED)));
    do {
        rc = await_child(&w);
        if (rc == 0)
            rc = try_waitid(type, id, info, options);
    } while (rc == 0 && info->si_pid == 0);
    end_child_wait(&w);
    return rc;
}

/* ---- children on this thread's stack ----------------------------------------------- */

void *posix__vfork_of_c_library(void);

/* Return the C library's vfork(). The assembly code of vfork() calls this once. */
void *posix__vfork_of_c_library(void)
{
    return (void *)NEXT(vfork);
}

/* _Fork() is fork() without the handlers of pthread_atfork(3). */
INTERPOSE pid_t _Fork(void)
{
    posix__may_be_child = true;
    return NEXT(_Fork)();
}

/* ---- system() ---------------------------------------------------------------------- */

struct command {
    const char *text;
    sigset_t mask; /* the task's */
    int status, error;
};

/* The child inherits the signal mask of the thread that starts it. The lane's threads
 * block nearly all signals, so the thread uses the task's mask during the call. */
static int run_command(void *arg)
{
    struct command *c = arg;
    sigset_t of_lane;

    pthread_sigmask(SIG_SETMASK, &c->mask, &of_lane);
    c->status = NEXT(system)(c->text);
    c->error = errno;
    pthread_sigmask(SIG_SETMASK, &of_lane, NULL);
    return 0;
}

/*
 * The C library's system() both starts the child and waits for it, so it runs on a thread
 * of the waiting lane (posix__waiting_lane()). Without a lane the call fails with EAGAIN,
 * as if the child could not be started.
 */
INTERPOSE int system(const char *text)
{
    struct command c = {.text = text};
    coil_lane lane;
    int rc;

    if (!IN_TASK() || text == NULL || !posix__may_wait())
        return NEXT(system)(text);
    pthread_sigmask(SIG_SETMASK, NULL, &c.mask);
    rc = posix__waiting_lane(&lane) ? posix__blocking(lane, run_command, &c) : -EAGAIN;
    errno = rc < 0 ? -rc : c.error;
    return rc < 0 ? -1 : c.status;
}

/* ---- wordexp() --------------------------------------------------------------------- */

struct expansion {
    const char *text;
    wordexp_t *words;
    int flags, rc;
    sigset_t mask; /* the task's mask, which the command inherits */
};

static int expand_blocking(void *arg)
{
    struct expansion *e = arg;
    sigset_t of_lane;

    pthread_sigmask(SIG_SETMASK, &e->mask, &of_lane);
    e->rc = NEXT(wordexp)(e->text, e->words, e->flags);
    pthread_sigmask(SIG_SETMASK, &of_lane, NULL);
    return 0;
}

static bool may_run_command(const char *text, int flags)
{
    return !(flags & WRDE_NOCMD) &&
           (strchr(text, '`') != NULL || strstr(text, "$(") != NULL);
}

/*
 * wordexp(3) defines no error code for a cancellation. Without a lane or a thread, the
 * call blocks.
 */
INTERPOSE int wordexp(const char *restrict text, wordexp_t *restrict words, int flags)
{
    struct expansion e = {.text = text, .words = words, .flags = flags};
    coil_lane lane;

    if (!IN_TASK() || !may_run_command(text, flags) || !posix__may_wait() ||
        !posix__waiting_lane(&lane))
        return NEXT(wordexp)(text, words, flags);
    pthread_sigmask(SIG_SETMASK, NULL, &e.mask);
    if (posix__blocking_shielded(lane, expand_blocking, &e) < 0)
        return NEXT(wordexp)(text, words, flags);
    return e.rc;
}
