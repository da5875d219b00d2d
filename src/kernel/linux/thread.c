/*
 * thread.c - threads' ids, and their state, read from /proc. (proc(5))
 */
#include "../thread.h"

#include "../../base/base.h"
#include "../../base/fault.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#if defined __GLIBC__ && __has_include(<sys/single_threaded.h>)
#define COIL__HAVE_SINGLE_THREADED 1
#include <sys/single_threaded.h>
#endif
#include <sys/syscall.h>
#include <unistd.h>

pid_t coil__thread_id(void)
{
    return (pid_t)syscall(SYS_gettid);
}

pid_t coil__thread_id_in(pid_t pid)
{
#if COIL__HAVE_SINGLE_THREADED
    if (__libc_single_threaded)
        return pid;
#endif
    (void)pid;
    return coil__thread_id();
}

bool coil__thread_is_main(void)
{
    return coil__thread_id() == getpid();
}

void coil__thread_set_name(const char *name)
{
    pthread_setname_np(pthread_self(), name);
}

int64_t coil__thread_timer_slack(void)
{
    int slack = prctl(PR_GET_TIMERSLACK);

    return slack > 0 ? slack : 0;
}

bool coil__thread_signal(pid_t id, int signo)
{
    return syscall(SYS_tgkill, getpid(), id, signo) == 0;
}

/* ---- waiting for a word of memory: futex(2) ---------------------------------------- */

/*
 * FUTEX_PRIVATE_FLAG is not used, because libstdc++ waits for the same words without it.
 */
void coil__thread_wait_while(_Atomic uint32_t *word, uint32_t value)
{
    syscall(SYS_futex, word, FUTEX_WAIT, value, NULL);
}

void coil__thread_wake_all(_Atomic uint32_t *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX);
}

/*
 * The futex bit set by which is_own_wait() recognises a wait in coil__thread_wait_own().
 * FUTEX_WAKE ends waits with any bit set.
 */
#define OWN_BITS 0x434f494cu

/*
 * Repeat the wait until the word has changed, because a late wake-up for an earlier wait
 * must not end this one. The time-out is absolute, so that repeating the wait does not
 * prolong it.
 */
void coil__thread_wait_own(_Atomic uint32_t *word, uint32_t value, int64_t until)
{
    struct timespec when = {.tv_sec = until / COIL_SEC(1),
                            .tv_nsec = until % COIL_SEC(1)};
    const struct timespec *limit = until != COIL_NEVER ? &when : NULL;
    long rc;

    do
        rc = syscall(SYS_futex, word, FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG, value,
                     limit, NULL, OWN_BITS);
    while (rc == 0 && atomic_load(word) == value);
}

void coil__thread_wake_own(_Atomic uint32_t *word)
{
    int saved = errno;

    syscall(SYS_futex, word, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1);
    errno = saved;
}

/* ---- where a thread sleeps --------------------------------------------------------- */

/*
 * Read the beginning of a /proc file about the thread as text, which is "" if the file
 * cannot be read.
 */
static void read_about(pid_t id, const char *name, char *text, size_t room)
{
    char path[64];
    ssize_t n = -1;
    int fd;

    snprintf(path, sizeof path, "/proc/self/task/%d/%s", (int)id, name);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        n = read(fd, text, room - 1);
        close(fd);
    }
    text[n > 0 ? n : 0] = '\0';
}

/*
 * Read the last two fields of the thread's /proc file `syscall`, which contains only
 * "running" if the thread is not sleeping.
 */
bool coil__thread_sleeps_at(pid_t id, uintptr_t *sp, uintptr_t *pc)
{
    char line[256], *end;

    read_about(id, "syscall", line, sizeof line);
    if (strncmp(line, "running", strlen("running")) == 0)
        return false;
    end = strrchr(line, ' ');
    if (end == NULL)
        return false;
    *pc = strtoul(end, NULL, 16);
    *end = '\0';
    end = strrchr(line, ' ');
    *sp = end != NULL ? strtoul(end, NULL, 16) : 0;
    return *sp != 0 && *pc != 0;
}

static bool count_sleeps(pid_t id, unsigned long *sleeps)
{
    static const char key[] = "\nvoluntary_ctxt_switches:";
    char status[4096];
    const char *found;

    read_about(id, "status", status, sizeof status);
    found = strstr(status, key);
    *sleeps = found != NULL ? strtoul(found + strlen(key), NULL, 10) : 0;
    return found != NULL;
}

/* The arguments with which a thread has called futex(2). */
struct futex_call {
    unsigned operation; /* without FUTEX_CLOCK_REALTIME */
    bool has_limit;
    unsigned bits;
};

/*
 * Read the arguments of the thread's call to futex(2). Returns false if the thread is not
 * sleeping in futex(2).
 */
static bool read_futex_call(pid_t id, struct futex_call *call)
{
    unsigned long operation, time, bits;
    char line[256];
    long number;

    read_about(id, "syscall", line, sizeof line);
    if (sscanf(line, "%ld %*x %lx %*x %lx %*x %lx", &number, &operation, &time, &bits) !=
            4 ||
        number != SYS_futex)
        return false;
    call->operation = (unsigned)operation & ~(unsigned)FUTEX_CLOCK_REALTIME;
    call->has_limit = time != 0;
    call->bits = (unsigned)bits;
    return true;
}

/* True if the call was made by coil__thread_wait_own(). */
static bool is_own_wait(const struct futex_call *call)
{
    return call->operation == FUTEX_WAIT_BITSET_PRIVATE && call->bits == OWN_BITS;
}

bool coil__thread_waits_for_lock(pid_t id, unsigned long *sleeps)
{
    struct futex_call call;

    return read_futex_call(id, &call) && !is_own_wait(&call) && count_sleeps(id, sleeps);
}

/* ---- the number of threads --------------------------------------------------------- */

/*
 * Return the number of threads, the 20th field of the file `stat`, or UINT_MAX if the
 * file cannot be read. Only the second field, in parentheses, may contain spaces.
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

/*
 * Return the number of this process's io_uring(7) worker threads, which the kernel
 * creates for calls that would block.
 */
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

bool coil__thread_count_exceeds(unsigned n)
{
    unsigned threads = count_threads();

    return threads > n && threads - count_kernel_workers() > n;
}

static bool runs(const char *thread)
{
    char line[512];
    const char *end;

    read_about((pid_t)strtol(thread, NULL, 10), "stat", line, sizeof line);
    end = strrchr(line, ')');
    return end != NULL && end[1] == ' ' && end[2] == 'R';
}

bool coil__thread_others_run(void)
{
    DIR *tasks = opendir("/proc/self/task");
    struct dirent *entry;
    bool found = false;

    if (tasks == NULL)
        return false;
    while (!found && (entry = readdir(tasks)) != NULL)
        found = entry->d_name[0] != '.' &&
                strtol(entry->d_name, NULL, 10) != coil__thread_id() &&
                runs(entry->d_name);
    closedir(tasks);
    return found;
}

/* True if the thread is in a wait that only a thread of this process can end. */
static bool waits_for_threads(pid_t id)
{
    struct futex_call call;

    return read_futex_call(id, &call) && !call.has_limit && !is_own_wait(&call) &&
           (call.operation == FUTEX_WAIT_PRIVATE ||
            call.operation == FUTEX_WAIT_BITSET_PRIVATE);
}

bool coil__thread_others_wait_for_locks(unsigned long *sleeps)
{
    DIR *tasks = opendir("/proc/self/task");
    struct dirent *entry;
    bool all = tasks != NULL;
    unsigned long one;
    pid_t id;

    *sleeps = 0;
    while (all && (entry = readdir(tasks)) != NULL) {
        id = (pid_t)strtol(entry->d_name, NULL, 10);
        if (entry->d_name[0] == '.' || id == coil__thread_id())
            continue;
        all = waits_for_threads(id) && count_sleeps(id, &one);
        *sleeps += all ? one : 0;
    }
    if (tasks != NULL)
        closedir(tasks);
    return all;
}
