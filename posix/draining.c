/*
 * draining.c - tcdrain(3), tcsendbreak(3), and tcsetattr(3) when it waits for output.
 *
 * The kernel does not report when all output has been sent. Therefore a thread of the
 * waiting lane (posix__waiting_lane()) makes the call, with a duplicate of the
 * descriptor. If the task is cancelled, it abandons the call, which the thread completes.
 *
 * If a background process makes such a call, the kernel stops the process (SIGTTOU). The
 * lane's threads block this signal, so in a background process the task's own thread
 * makes the call.
 */
#include "waiting.h"

#include <stdlib.h>
#include <termios.h>

struct drain {
    int fd, duration, rc, error;
    bool sends_break;
};

static void discard(void *arg)
{
    struct drain *d = arg;

    NEXT(close)(d->fd);
    free(d);
}

static int drain_blocking(void *arg)
{
    struct drain *d = arg;

    d->rc = d->sends_break ? NEXT(tcsendbreak)(d->fd, d->duration) : NEXT(tcdrain)(d->fd);
    d->error = errno;
    return 0;
}

static struct drain *create_drain(int fd, bool sends_break, int duration)
{
    struct drain *d = malloc(sizeof *d);

    if (d == NULL)
        return NULL;
    *d = (struct drain){.fd = NEXT(fcntl)(fd, F_DUPFD_CLOEXEC, 0),
                        .sends_break = sends_break,
                        .duration = duration};
    if (d->fd >= 0)
        return d;
    free(d);
    return NULL;
}

static bool is_in_background(int fd)
{
    pid_t foreground = tcgetpgrp(fd);

    return foreground > 0 && foreground != getpgrp();
}

/*
 * Make the call on a thread of the lane, and set *rc to its result. Returns false if no
 * thread is available.
 */
static bool drain_on_lane(coil_lane lane, struct drain *d, int *rc)
{
    int saved = errno;
    int done = posix__blocking_abandonable(lane, drain_blocking, d, discard);

    errno = saved;
    if (done == -ECANCELED) { /* discard() was called, or will be called */
        errno = ECANCELED;
        *rc = -1;
        return true;
    }
    *rc = d->rc;
    if (done == 0 && d->rc < 0)
        errno = d->error;
    discard(d);
    return done == 0;
}

/*
 * Make the call on a thread, set *rc to its result, and return true. Returns false if the
 * caller must make the call itself.
 */
static bool drain_in_task(int fd, bool sends_break, int duration, int *rc)
{
    int saved = errno;
    struct drain *d = NULL;
    coil_lane lane;

    if (posix__may_wait() && isatty(fd) && !is_in_background(fd) &&
        posix__waiting_lane(&lane))
        d = create_drain(fd, sends_break, duration);
    errno = saved;
    return d != NULL && drain_on_lane(lane, d, rc);
}

INTERPOSE int tcdrain(int fd)
{
    int rc;

    return IN_TASK() && drain_in_task(fd, false, 0, &rc) ? rc : NEXT(tcdrain)(fd);
}

INTERPOSE int tcsendbreak(int fd, int duration)
{
    int rc;

    return IN_TASK() && drain_in_task(fd, true, duration, &rc)
               ? rc
               : NEXT(tcsendbreak)(fd, duration);
}

/* First wait until the output is sent, so that the C library's function need not wait. */
INTERPOSE int tcsetattr(int fd, int when, const struct termios *settings)
{
    int rc;

    if ((when == TCSADRAIN || when == TCSAFLUSH) && IN_TASK() &&
        drain_in_task(fd, false, 0, &rc) && rc < 0)
        return -1;
    return NEXT(tcsetattr)(fd, when, settings);
}
