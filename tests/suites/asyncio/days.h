/*
 * days.h - good days and bad days of a scenario.
 *
 * A bad day has one fault: the 1st, 2nd, 3rd, ... allocation of coil fails, or a system
 * call fails, or is interrupted, or tasks run in another order. Then the trace may
 * differ, but the scenario must not crash, leak or hang, and another program must run
 * correctly in the same process afterwards.
 */
#ifndef TESTS_ASYNCIO_DAYS_H
#define TESTS_ASYNCIO_DAYS_H

#include "scenario.h"

/*
 * Choose whether the loops skip polls, like a loop with a real clock. Call this once,
 * before any other function. Returns false if memory ran out.
 */
bool days_begin(bool skip_polls);

/* A day without a fault: the trace goes to stdout. */
void good_day(const struct scenario *scenario);

/*
 * Run the good day only; or every bad day, too, with a line of how many there were; or
 * one bad day of each kind, chosen by the seed. Returns true on success; otherwise it
 * prints what happened on which day.
 */
bool survives_good_day(const struct scenario *scenario);
bool all_days(const struct scenario *scenario);
bool some_days(const struct scenario *scenario, uint64_t *seed);

#endif
