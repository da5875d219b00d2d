/*
 * coil/interval.h - periodic work at a fixed rate.
 *
 *     coil_interval ticks;
 *     coil_interval_init(&ticks, COIL_SEC(1));
 *     while ((rc = coil_interval_wait(&ticks)) > 0)
 *         report();                      // every second, whatever report() takes
 *
 * The ticks are at fixed times: start + 1 period, start + 2 periods, ... A loop around
 * coil_sleep() drifts, because each round takes some time; an interval does not drift.
 * (tokio: interval with MissedTickBehavior::Skip; Go: time.Ticker; timerfd_create(2))
 */
#ifndef COIL_INTERVAL_H
#define COIL_INTERVAL_H

#include <coil/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Allocated by the caller; all members are private to coil. An interval holds no
 * resources, so it need not be released.
 */
typedef struct coil_interval {
    int64_t period_ns;
    int64_t next; /* time at which the next tick is due */
} coil_interval;

/*
 * Initialise an interval whose first tick is one period from now. Aborts if the period is
 * 0 or less.
 */
COIL_API void coil_interval_init(coil_interval *interval, int64_t period_ns);

/*
 * Wait for the next tick, and return the number of ticks since the last call: 1, or more
 * if the caller missed some. Missed ticks are only counted, and do not fire later.
 *
 * Always suspends, for at least one turn of the loop. Fails only with -ECANCELED; no tick
 * is lost in that case.
 */
COIL_SUSPENDS int coil_interval_wait(coil_interval *interval);

/* Restart the interval: the next tick is one period from now. */
COIL_API void coil_interval_reset(coil_interval *interval);

#ifdef __cplusplus
}
#endif

#endif
