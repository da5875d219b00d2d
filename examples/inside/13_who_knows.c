/*
 * 13_who_knows.c - a loop cannot know that open() blocks: the program has to say so.
 *
 * open() of a FIFO waits until the other end is opened. Meanwhile the loop and all tasks
 * wait, too: (1) A ticker does not tick. (2) Debug mode (here, or COIL_DEBUG=1 in the
 * environment) names the task that blocked the others. (3) On a thread of a lane, open()
 * blocks only that thread. coil_file_open() does the same.
 *
 * To try: make LATE "1.5". Debug mode names the task and the line while it still blocks.
 */
#include <coil.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define LATE "0.3" // seconds

static int tick(void *ticks)
{
    while (coil_sleep(COIL_MSEC(10)) == 0)
        ++*(int *)ticks;
    return -ECANCELED;
}

/* [open] */
static int open_it(void *arg)
{
    int fd = open("fifo", O_RDONLY); // blocks in the kernel

    return (void)arg, fd < 0 ? -errno : close(fd);
}

static int open_on_lane(void *arg)
{
    return coil_blocking(COIL_LANE_FILE, open_it, arg);
}
/* [end] */

static int count(const char *how, int (*open_somehow)(void *arg), const int *ticks)
{
    int rc = coil_yield(), before = *ticks;

    if (rc == 0 && mkfifo("fifo", 0600) == 0 &&
        system("(sleep " LATE "; : >fifo) &") == 0) // opens the FIFO's other end
        rc = open_somehow(NULL);
    // The next run needs a new FIFO: the writer of this FIFO may not have closed it yet.
    unlink("fifo");
    printf("%s: %s\n", how, *ticks == before ? "no other task ran" : "the ticker ticked");
    return rc;
}

static int app(void *arg)
{
    int ticks = 0;
    coil_group group;
    coil_group_enter(&group);
    int rc = coil_group_spawn(&group, tick, &ticks, NULL, NULL);
    rc = rc == 0 ? count("open() in a task", open_it, &ticks) : rc;
    coil_set_debug(true);
    rc = rc == 0 ? count("open() in debug mode", open_it, &ticks) : rc;
    rc = rc == 0 ? coil_yield() : rc; // the report is printed at the end of the step
    coil_set_debug(false);
    rc = rc == 0 ? count("open() on a lane", open_on_lane, &ticks) : rc;
    coil_group_cancel(&group, "seen");
    return (void)arg, coil_group_exit(&group, rc);
}

int main(void)
{
    char folder[] = "/tmp/who_knows.XXXXXX";
    if (mkdtemp(folder) == NULL || chdir(folder) < 0)
        return 1;
    int rc = coil_run(app, NULL, NULL);
    return rmdir(folder) < 0 || rc < 0;
}
