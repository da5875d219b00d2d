/*
 * stats.c - the loop's statistics. Most of the counters exist for other reasons, too: for
 * example, the loop counts turns to decide when to poll.
 */
#include "../coro/light.h"
#include "../task/task.h"

#include <coil/debug.h>

static size_t count_tasks(const coil_loop *loop)
{
    size_t n = 0;

    if (coil__scheduler.hooked == loop)
        COIL__LIST_EACH (link, &coil__scheduler.tasks)
            n += coil__future_pending(&COIL__CONTAINER(link, coil_task, link)->future);
    return n;
}

void coil_stats_get(coil_stats *out)
{
    COIL__REQUIRE(out, "an output pointer");
    const coil_loop *loop = coil__loop_require("coil_stats_get");
    const struct coil__light_counts light = coil__light_counts();

    *out = (coil_stats){.turns = loop->turns + loop->turns_unpolled,
                        .polls = loop->polls,
                        .runs = loop->runs + loop->runs_unpolled,
                        .spawned =
                            coil__scheduler.hooked == loop ? coil__scheduler.spawned : 0,
                        .operations = loop->operations,
                        .operations_waited = loop->operations_waited,
                        .tasks = count_tasks(loop),
                        .timers = coil__timers_count(&loop->timers),
                        .light_tasks = light.used,
                        .light_stored = light.stored,
                        .light_stored_bytes = light.stored_bytes,
                        .light_resident_bytes = light.resident_bytes,
                        .light_off = coil__light_off()};
}
