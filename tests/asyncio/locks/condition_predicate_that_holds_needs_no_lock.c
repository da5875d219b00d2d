/*
 * A predicate that holds already is no wait at all, so nothing is said of the lock; one
 * that does not hold needs it.
 */
#include "../scenario.h"

static coil_lock lock = COIL_LOCK_INIT;
static coil_condition changed = COIL_CONDITION_INIT(&lock);

static int value_of(void *arg)
{
    return *(int *)arg;
}

SCENARIO(condition_predicate_that_holds_needs_no_lock)
{
    int seven = 7, zero = 0;

    if (start(ticker, TURNS(1)) == NULL)
        return -ENOMEM;
    trace("holds: %s", outcome(coil_condition_wait_for(&changed, value_of, &seven)));
    trace("does not: %s", outcome(coil_condition_wait_for(&changed, value_of, &zero)));
    trace("locked %d", coil_lock_locked(&lock));
    return 0;
}
