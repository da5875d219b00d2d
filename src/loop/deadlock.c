/*
 * deadlock.c - tasks wait for what can never happen.
 *
 * The loop can be woken by a descriptor, a timer, a post. Where the first two are not
 * there, a post could only come from another thread. Which threads there are the kernel
 * knows; those of coil's own that wait for work will never post. If one is left, we wait
 * for ever, as told. One of coil's that is busy with something (it was abandoned, or is
 * about to look for more work) may post, so we look again.
 *
 * To ask the kernel takes longer than a poll, so a loop that is only for posts must not
 * do it each time: it is asked when nothing has happened for a tenth of a second.
 */
#include "loop.h"

#include "../base/fault.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LOOK_AGAIN COIL_MSEC(100)

_Atomic unsigned coil__pool_threads, coil__pool_idle;

/*
 * The 20th field of proc(5)'s stat; the second is the only one that may have spaces, and
 * is in parentheses. UINT_MAX if it cannot be known.
 */
static unsigned count_threads(void)
{
    char line[1024], *p;
    int fd = COIL__CALL(EMFILE, open("/proc/self/stat", O_RDONLY | O_CLOEXEC));
    ssize_t n = fd >= 0 ? read(fd, line, sizeof line - 1) : -1;

    if (fd >= 0)
        close(fd);
    line[n > 0 ? n : 0] = '\0';
    p = strrchr(line, ')');
    for (int field = 2; field < 20 && p != NULL; field++)
        p = strchr(p + 1, ' ');
    return p != NULL ? (unsigned)strtoul(p, NULL, 10) : UINT_MAX;
}

int64_t coil__loop_longest_poll(coil_loop *loop, int *rc)
{
    unsigned own = 1 + coil__pool_threads;

    if (loop->backend->in_use > 0 || loop->outside_work > 0 || coil__task_layer == NULL)
        return COIL_NEVER;
    if (loop->runs_when_idle != loop->runs) {
        loop->runs_when_idle = loop->runs;
        return LOOK_AGAIN;
    }
    if (count_threads() > own)
        return COIL_NEVER;
    if (coil__pool_idle < own - 1)
        return LOOK_AGAIN;
    /* Whatever was posted by a thread that is gone has been posted by now. */
    if (!coil__wakeup_pending(loop) && coil__task_layer->stuck(loop))
        *rc = -EDEADLK;
    return COIL_NEVER;
}
