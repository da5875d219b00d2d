/*
 * coil/interval.h - periodic work at a fixed rate.
 *
 *     coil_interval ticks;
 *     coil_interval_init(&ticks, COIL_SEC(1));
 *     while ((rc = coil_interval_wait(&ticks)) > 0)
 *         report();                      // every second, whatever report() takes
 *
 * The ticks lie on a grid: start + 1 period, start + 2 periods, ... A loop around
 * coil_sleep() drifts by what its body takes; this does not. (tokio: interval with
 * MissedTickBehavior::Skip; Go: time.Ticker; timerfd_create(2))
 */
#ifndef COIL_INTERVAL_H
#define COIL_INTERVAL_H

#include <coil/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The caller's memory; the fields are coil's own. There is nothing to finish. */
typedef struct coil_interval {
    int64_t period_ns;
    int64_t next; /* when the next tick is due */
} coil_interval;

/*
 * The first tick is one period from now. A period of 0 or less stops the program.
 */
COIL_API void coil_interval_init(coil_interval *interval, int64_t period_ns);

/*
 * Wait for the next tick, and return how many were due since the last call: 1, or more
 * if the caller came too late for some. Missed ticks are counted, not made up for.
 *
 * It always suspends, for one turn of the loop at least. Fails with -ECANCELED alone; no
 * tick is lost then.
 */
COIL_SUSPENDS int coil_interval_wait(coil_interval *interval);

/* Start the grid anew: the next tick is one period from now. */
COIL_API void coil_interval_reset(coil_interval *interval);

#ifdef __cplusplus
}
#endif

#endif
