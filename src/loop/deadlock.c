/*
 * deadlock.c - tasks wait for what can never happen.
 *
 * The loop can be woken by a descriptor, a timer, a post. Where the first two are not
 * there, a post could only come from another thread. Which threads there are the kernel
 * knows; those of coil's own that wait for work will never post. If one is left, we wait
 * for ever, as told. One of coil's that is busy with something (it was abandoned, or is
 * about to look for more work) may post, so we look again.
 *
 * The kernel's own workers, which do for a ring what would block (io_uring), count among
 * the process's threads too; they post nothing.
 *
 * To ask the kernel takes longer than a poll, so a loop that is only for posts must not
 * do it each time: it is asked when nothing has happened for a tenth of a second.
 */
#include "loop.h"

#include "../base/fault.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
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

static bool is_kernel_worker(int tasks_fd, const char *thread)
{
    char path[64], name[8] = "";
    int fd;

    snprintf(path, sizeof path, "%.40s/comm", thread);
    fd = openat(tasks_fd, path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    if (read(fd, name, sizeof name - 1) < 0)
        name[0] = '\0';
    close(fd);
    return strncmp(name, "iou-", 4) == 0;
}

static unsigned count_kernel_workers(void)
{
    DIR *tasks = opendir("/proc/self/task");
    struct dirent *entry;
    unsigned n = 0;

    if (tasks == NULL)
        return 0;
    while ((entry = readdir(tasks)) != NULL)
        n += entry->d_name[0] != '.' && is_kernel_worker(dirfd(tasks), entry->d_name);
    closedir(tasks);
    return n;
}

static bool others_may_post(unsigned own)
{
    unsigned threads = count_threads();

    return threads > own && threads - count_kernel_workers() > own;
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
    if (others_may_post(own))
        return COIL_NEVER;
    if (coil__pool_idle < own - 1)
        return LOOK_AGAIN;
    /* Whatever was posted by a thread that is gone has been posted by now. */
    if (!coil__wakeup_pending(loop) && coil__task_layer->stuck(loop))
        *rc = -EDEADLK;
    return COIL_NEVER;
}
