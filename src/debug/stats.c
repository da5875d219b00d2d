/*
 * stats.c - what the loop has done so far. Little is counted for it alone: the loop
 * counts its turns anyhow, to know when to poll.
 */
#include "../task/task.h"

#include <coil/debug.h>

static size_t count_tasks(const coil_loop *loop)
{
    size_t n = 0;

    if (coil__scheduler.hooked == loop)
        COIL__LIST_EACH (link, &coil__scheduler.tasks)
            n++;
    return n;
}

void coil_stats_get(coil_stats *out)
{
    const coil_loop *loop = coil__loop_require("coil_stats_get");

    *out = (coil_stats){.turns = loop->turns + loop->turns_unpolled,
                        .polls = loop->polls,
                        .runs = loop->runs + loop->runs_unpolled,
                        .spawned =
                            coil__scheduler.hooked == loop ? coil__scheduler.spawned : 0,
                        .operations = loop->operations,
                        .operations_waited = loop->operations_waited,
                        .tasks = count_tasks(loop),
                        .timers = loop->timers.count};
}
