/*
 * processors.c - finds out how many processors this process may use.
 *
 * In a container, the affinity mask often contains all processors of the machine, but a
 * cgroup CPU quota limits how much processor time the container gets (cgroups(7), version
 * 2). Each group on the path to the root may have a quota, and the smallest quota
 * applies. If the file of a quota cannot be read, no limit applies. The quota is read only
 * once, because this takes a dozen system calls. The affinity mask is read each time: one
 * call, and programs change their own mask.
 */
#include "../processors.h"

#include "../../base/base.h"
#include "../../base/fault.h"
#include "quota.h"

#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST_PROCESSORS 8192

static unsigned affinity_count(void)
{
    cpu_set_t *set = CPU_ALLOC(MOST_PROCESSORS);
    size_t bytes = CPU_ALLOC_SIZE(MOST_PROCESSORS);
    int count = 0;

    if (set != NULL && sched_getaffinity(0, bytes, set) == 0)
        count = CPU_COUNT_S(bytes, set);
    CPU_FREE(set);
    if (count <= 0)
        count = (int)sysconf(_SC_NPROCESSORS_ONLN);
    return count > 0 ? (unsigned)count : 1;
}

unsigned coil__processors_of_quota(const char *line)
{
    unsigned long long quota, period;

    if (sscanf(line, "%llu %llu", &quota, &period) != 2 || period == 0)
        return 0;
    quota = (quota + period - 1) / period;
    return quota < 1 ? 1 : quota < MOST_PROCESSORS ? (unsigned)quota : MOST_PROCESSORS;
}

/*
 * Read the beginning of a small file as a string. Returns false if the file cannot be
 * read.
 */
static bool read_start(const char *path, char *text, size_t size)
{
    int fd = COIL__CALL(EMFILE, open(path, O_RDONLY | O_CLOEXEC));
    ssize_t n = fd >= 0 ? read(fd, text, size - 1) : -1;

    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = '\0';
    return n > 0;
}

/*
 * Return the process's control group, such as "/a/b" from the line "0::/a/b", or NULL if
 * it is unknown.
 */
static char *own_group(char *text, size_t size)
{
    char *group;

    if (!read_start("/proc/self/cgroup", text, size))
        return NULL;
    group = strstr(text, "0::/");
    if (group == NULL)
        return NULL;
    group[strcspn(group, "\n")] = '\0';
    return group + 3;
}

/* Return the smallest quota of the group and its ancestors, or UINT_MAX. */
static unsigned smallest_quota(char *group)
{
    char path[2200], line[64], *slash;
    unsigned smallest = UINT_MAX, n;

    do {
        snprintf(path, sizeof path, "/sys/fs/cgroup%s/cpu.max", group);
        n = read_start(path, line, sizeof line) ? coil__processors_of_quota(line) : 0;
        if (n != 0 && n < smallest)
            smallest = n;
        slash = strrchr(group, '/');
        if (slash != NULL)
            *slash = '\0';
    } while (slash != NULL);
    return smallest;
}

/* If the group is unknown, for example for lack of descriptors, the next call tries
   again. */
static unsigned quota_count(void)
{
    static _Atomic unsigned known; /* 0: not read yet */
    unsigned count = atomic_load_explicit(&known, memory_order_relaxed);
    char text[2048], *group;

    if (count != 0)
        return count;
    group = own_group(text, sizeof text);
    if (group == NULL)
        return UINT_MAX;
    count = smallest_quota(group);
    atomic_store_explicit(&known, count, memory_order_relaxed);
    return count;
}

unsigned coil__processor_count(void)
{
    unsigned there = affinity_count(), paid = quota_count();

    return paid < there ? paid : there;
}
