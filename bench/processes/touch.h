/*
 * touch.h - allocates and touches memory, and reads the clock.
 */
#ifndef BENCH_PROCESSES_TOUCH_H
#define BENCH_PROCESSES_TOUCH_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

/* Touch memory in pages of 4 KiB, like the heap of a long-running program. */
static inline void touch(size_t mib)
{
    void *memory;

    if (mib == 0)
        return;
    memory =
        mmap(NULL, mib << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        perror("mmap");
        exit(1);
    }
    madvise(memory, mib << 20, MADV_NOHUGEPAGE);
    memset(memory, 1, mib << 20);
}

static inline double now_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

#endif
