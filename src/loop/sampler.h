/*
 * sampler.h - in debug mode, samples the stack of a loop that is blocked in a step.
 */
#ifndef COIL_LOOP_SAMPLER_H
#define COIL_LOOP_SAMPLER_H

#include "../error/report.h"
#include "loop.h"

#define COIL__SAMPLE_MAX 32

/*
 * The return addresses on the stack, innermost first. `count` is 0 if there is no sample.
 */
struct coil__sample {
    void *frames[COIL__SAMPLE_MAX];
    size_t count;
};

/* Start a thread that watches the calling thread. Returns NULL on failure. */
struct coil__sampler *coil__sampler_start(void);

/* End the sampler's thread. This function and the next two accept NULL. */
void coil__sampler_stop(struct coil__sampler *sampler);

/*
 * Called before a step that should take less than `limit` nanoseconds. `task` is the name
 * of the task, or "" if the step does not belong to a task.
 */
void coil__sampler_begin(struct coil__sampler *sampler, const char *task,
                         const void *spawned_at, int64_t began, int64_t limit);

/* Called after the step: store its sample in *sample. */
void coil__sampler_end(struct coil__sampler *sampler, struct coil__sample *sample);

/*
 * Sample a thread of this process that is sleeping in a system call. If the thread is not
 * sleeping, the sample is empty. May be called on any thread.
 */
void coil__sample_sleeper(pid_t thread, struct coil__sample *sample);

/*
 * Print ", in usleep in libc.so.6, called by block at a.c:3", or nothing if there is no
 * sample.
 */
void coil__sample_print(struct coil__report *report, const struct coil__sample *sample);

#endif
