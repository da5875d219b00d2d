/*
 * freeze.c - briefly stops threads of another process, with ptrace(2).
 *
 * PTRACE_INTERRUPT stops a thread without sending the process a signal. If this program
 * dies, the kernel lets the threads continue. Another event may be reported first:
 *
 *     a signal is about to be delivered    it is delivered when the thread continues
 *     the process is stopped by SIGSTOP    it stays stopped
 *     the thread has ended                 it is left out
 */
#include "freeze.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/time.h>
#include <sys/wait.h>

#define STOP_SECONDS 2 /* time limit: a thread in an uninterruptible call does not stop */

/* ---- ids --------------------------------------------------------------------------- */

int frozen_id_inside(int pid, int id)
{
    char path[64], line[256];
    int inside = id;
    FILE *file;

    snprintf(path, sizeof path, "/proc/%d/task/%d/status", pid, id);
    file = fopen(path, "re");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, "NSpid:", 6) == 0) {
            const char *last = strrchr(line, '\t');

            inside = last != NULL ? atoi(last + 1) : id;
            break;
        }
    if (file != NULL)
        fclose(file);
    return inside;
}

/* Call fn() for each thread of the process, with both of its IDs. */
static void for_each_thread(int pid, void (*fn)(void *arg, int inside, int id), void *arg)
{
    const struct dirent *entry;
    char path[64];
    DIR *folder;

    snprintf(path, sizeof path, "/proc/%d/task", pid);
    folder = opendir(path);
    while (folder != NULL && (entry = readdir(folder)) != NULL) {
        int id = atoi(entry->d_name);

        if (id > 0)
            fn(arg, frozen_id_inside(pid, id), id);
    }
    if (folder != NULL)
        closedir(folder);
}

struct list {
    struct frozen *threads;
    size_t count;
};

static void add_thread(void *arg, int inside, int id)
{
    struct list *list = arg;
    struct frozen *larger =
        realloc(list->threads, (list->count + 1) * sizeof *list->threads);

    if (larger == NULL)
        return;
    list->threads = larger;
    list->threads[list->count++] = (struct frozen){inside, id, 0};
}

size_t frozen_list(int pid, struct frozen **threads)
{
    struct list list = {NULL, 0};

    for_each_thread(pid, add_thread, &list);
    *threads = list.threads;
    return list.count;
}

static void set_id(void *arg, int inside, int id)
{
    const struct list *list = arg;

    for (size_t i = 0; i < list->count; i++)
        if (list->threads[i].thread == inside && list->threads[i].id == 0) {
            list->threads[i].id = id;
            return; /* the ID of a duplicate stays 0 */
        }
}

size_t frozen_find(int pid, struct frozen *threads, size_t count)
{
    struct list list = {threads, count};
    size_t n = 0;

    for (size_t i = 0; i < count; i++)
        threads[i].id = threads[i].signal = 0;
    for_each_thread(pid, set_id, &list);
    for (size_t i = 0; i < count; i++)
        if (threads[i].id != 0)
            threads[n++] = threads[i];
    return n;
}

/* ---- stopping ---------------------------------------------------------------------- */

static volatile sig_atomic_t is_late;

static void be_late(int signal)
{
    (void)signal;
    is_late = 1;
}

/*
 * Turn a timer on or off that interrupts waitpid() after STOP_SECONDS. The timer repeats
 * its signal, because the first one may arrive just before waitpid() begins.
 */
static void limit_time(bool on)
{
    const struct sigaction action = {.sa_handler = on ? be_late : SIG_DFL};
    const struct itimerval timer = {.it_interval = {.tv_usec = on ? 100000 : 0},
                                    .it_value = {.tv_sec = on ? STOP_SECONDS : 0}};

    if (on)
        sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &timer, NULL);
    if (!on)
        sigaction(SIGALRM, &action, NULL);
    is_late = 0;
}

/* Wait until the thread stops. On failure, returns false with errno set. */
static bool wait_for_stop(struct frozen *thread)
{
    int status;
    pid_t id;

    do
        id = waitpid(thread->id, &status, __WALL);
    while (id < 0 && errno == EINTR && !is_late);
    if (id < 0 && errno == EINTR)
        errno = ETIMEDOUT;
    if (id < 0)
        return false;
    if (!WIFSTOPPED(status)) {
        errno = ESRCH; /* the thread has ended */
        return false;
    }
    /*
     * If there is no ptrace event, the thread has stopped because it is about to receive
     * a signal.
     */
    thread->signal = status >> 16 == 0 ? WSTOPSIG(status) : 0;
    return true;
}

static bool stop(struct frozen *thread)
{
    return ptrace(PTRACE_SEIZE, thread->id, NULL, NULL) == 0 &&
           ptrace(PTRACE_INTERRUPT, thread->id, NULL, NULL) == 0 && wait_for_stop(thread);
}

void thaw(const struct frozen *threads, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (threads[i].id != 0)
            ptrace(PTRACE_DETACH, threads[i].id, NULL,
                   (void *)(uintptr_t)threads[i].signal);
}

bool freeze(struct frozen *threads, size_t count)
{
    size_t i = 0;
    int error;

    limit_time(true);
    for (; i < count; i++) {
        if (stop(&threads[i]))
            continue;
        if (errno != ESRCH)
            break;
        threads[i].id = 0;
    }
    error = errno;
    limit_time(false);
    if (i == count)
        return true;
    thaw(threads, i);
    errno = error;
    return false;
}
