/*
 * ps_claims.h - checks that every snapshot of coil-ps must pass, whatever the memory
 * contains.
 */
#ifndef FUZZ_PS_CLAIMS_H
#define FUZZ_PS_CLAIMS_H

#include "fuzz.h"

#include "../tools/coil-ps/snapshot.h"

#include <time.h>

#define SECONDS_MAX 10 /* limit of processor time; usually, a few milliseconds suffice */

static inline double cpu_seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static inline void claim_snapshot(const struct snapshot *snapshot)
{
    for (size_t i = 0; i < snapshot->edge_count; i++)
        CLAIM((snapshot->edges[i] & ~EDGE_IS_MEMBER) < snapshot->task_count);
    for (size_t i = 0; i < snapshot->task_count; i++) {
        const struct task *t = &snapshot->tasks[i];

        CLAIM(t->edges + (size_t)t->edge_count <= snapshot->edge_count ||
              t->edge_count == 0);
        CLAIM(t->state != TASK_WAITS || t->what != NULL);
        CLAIM(memchr(t->name, '\0', sizeof t->name) != NULL);
    }
}

/* A callback for snapshot_options.on_stack, which reads the stacks. */
static inline uint32_t read_stack(void *arg, const struct task *task,
                                  const struct coroutine *coroutines, size_t count,
                                  const struct copies *copies)
{
    uint64_t word, sum = 0;

    (void)arg, (void)task;
    for (size_t i = 0; i < count; i++)
        if (copies_read(copies, coroutines[i].sp, &word, sizeof word))
            sum += word;
    return (uint32_t)(sum % 1000);
}

#endif
