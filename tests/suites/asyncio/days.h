/*
 * days.h - runs a scenario without faults (a good day) or with one injected fault (a bad
 * day).
 *
 * A bad day has one fault: an allocation of coil fails, a system call fails or is
 * interrupted, or tasks run in another order. The trace of a bad day may differ, but the
 * scenario must not crash, leak or hang, and another program must run correctly in the
 * same process afterwards.
 */
#ifndef TESTS_ASYNCIO_DAYS_H
#define TESTS_ASYNCIO_DAYS_H

#include "scenario.h"

/*
 * Call this once, before any other function. If `skip_polls` is true, loops skip some
 * polls, as loops with a real clock do. Returns false if memory runs out.
 */
bool days_begin(bool skip_polls);

/* Run the scenario without a fault, and write its trace to stdout. */
void good_day(const struct scenario *scenario);

/*
 * survives_good_day() runs the scenario without a fault. all_days() also runs it with
 * each possible fault, and prints a summary line. some_days() also runs it with one fault
 * of each kind, chosen by the seed. All three functions return true on success. Otherwise
 * they print the fault and the output.
 */
bool survives_good_day(const struct scenario *scenario);
bool all_days(const struct scenario *scenario);
bool some_days(const struct scenario *scenario, uint64_t *seed);

#endif
