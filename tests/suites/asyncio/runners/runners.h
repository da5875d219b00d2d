/*
 * runners.h - functions that run a loop with a virtual clock.
 */
#ifndef TESTS_ASYNCIO_RUNNERS_H
#define TESTS_ASYNCIO_RUNNERS_H

#include "../scenario.h"

static const coil_run_opts virtual_opts = {.loop = {.virtual_clock = true}};

/* Like coil_run(), but with a virtual clock. */
static inline int run(coil_task_fn fn, void *arg)
{
    return coil_run(fn, arg, &virtual_opts);
}

static inline int create_runner(coil_runner **out)
{
    return coil_runner_create(&virtual_opts, out);
}

#endif
