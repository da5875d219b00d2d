/*
 * interval.c - ticks at a fixed rate.
 */
#include "../base/base.h"
#include "task.h"

#include <coil/interval.h>
#include <coil/task.h>
#include <limits.h>

void coil_interval_reset(coil_interval *interval)
{
    COIL__REQUIRE(interval, "an interval");
    interval->next = coil_in(interval->period_ns);
}

void coil_interval_init(coil_interval *interval, int64_t period_ns)
{
    COIL__REQUIRE(interval, "an interval");
    if (period_ns <= 0)
        coil__misuse("coil_interval_init: a period of %lld ns", (long long)period_ns);
    interval->period_ns = period_ns;
    coil_interval_reset(interval);
}

/*
 * Return the number of ticks that are due, and set the time of the next one, which is a
 * whole number of periods after the start.
 */
static int64_t take_ticks(coil_interval *interval)
{
    int64_t late = coil_now() - interval->next;
    int64_t ticks = late > 0 ? late / interval->period_ns + 1 : 1;

    interval->next = coil__time_add(interval->next, ticks * interval->period_ns);
    return ticks;
}

int coil_interval_wait(coil_interval *interval)
{
    COIL__REQUIRE(interval, "an interval");
    int64_t ticks;
    int rc;

    coil__task_require("coil_interval_wait");
    rc = coil_sleep_until(interval->next);
    if (rc < 0)
        return rc;
    ticks = take_ticks(interval);
    return ticks < INT_MAX ? (int)ticks : INT_MAX;
}
