/*
 * days.h - good days and bad days of a scenario.
 *
 * A bad day is one on which the 1st, 2nd, 3rd, ... allocation of coil's fails, or one of
 * its system calls, or one of these is interrupted, or everything comes in another order.
 * Then the trace may be another, but the scenario must not crash, leak or hang, and
 * another program must run well in the same process afterwards.
 */
#ifndef TESTS_ASYNCIO_DAYS_H
#define TESTS_ASYNCIO_DAYS_H

#include "scenario.h"

/*
 * Once, before any other: on loops that leave out polls, as one with a real clock does,
 * or on others. False if there is no memory.
 */
bool days_begin(bool skip_polls);

/* A day on which nothing goes wrong: the trace goes to stdout. */
void good_day(const struct scenario *scenario);

/* The good day alone; every bad day there is, too, with a line of how many there were; or
 * one of each kind, chosen by the seed. True if it came through; else it is said what
 * happened on which day. */
bool survives_good_day(const struct scenario *scenario);
bool all_days(const struct scenario *scenario);
bool some_days(const struct scenario *scenario, uint64_t *seed);

#endif
