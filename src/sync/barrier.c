/*
 * barrier.c - so many tasks wait for each other. (asyncio: locks.Barrier)
 *
 *                     the last party comes
 *         FILLING ---------------------------> DRAINING      wait()
 *          | ^  ^                                  | the last leaves: leave()
 *          | |  +----------------------------------+
 *    reset | | the last leaves                                BROKEN   by abort(), from
 * any v |                                                         state, until reset()
 *        RESETTING
 *
 * It is a condition: all that wait do so for the state to change, and each comes back
 * with the lock, so they leave one after the other, in the order in which they came.
 * `count` is of those who came and have not left.
 */
#include "condition.h"
#include "waiters.h"

#include <coil/barrier.h>

enum state { FILLING, DRAINING, RESETTING, BROKEN };

void coil_barrier_init(coil_barrier *barrier, size_t parties)
{
    *barrier = (coil_barrier)COIL_BARRIER_INIT(parties);
}

void coil_barrier_finish(coil_barrier *barrier)
{
    if (barrier == NULL)
        return;
    coil__waiters_finish(&barrier->changed, "coil_barrier_finish");
    coil__waiters_finish(&barrier->lock.waiters, "coil_barrier_finish");
}

size_t coil_barrier_parties(const coil_barrier *barrier)
{
    return barrier->parties;
}

size_t coil_barrier_waiting(const coil_barrier *barrier)
{
    return barrier->state == FILLING ? barrier->count : 0;
}

bool coil_barrier_broken(const coil_barrier *barrier)
{
    return barrier->state == BROKEN;
}

/* ---- what is done with the lock held ------------------------------------------------
 */

static int wait_for_a_change(coil_barrier *barrier)
{
    static const struct coil__wait_class class = COIL__WAITER_CLASS("barrier");

    return coil__condition_wait(&barrier->changed, &barrier->lock, &class, barrier);
}

static void set_state(coil_barrier *barrier, enum state state)
{
    barrier->state = state;
    coil__condition_notify(&barrier->changed, SIZE_MAX);
}

/* Wait until those of the round before have left. */
static int wait_for_our_round(coil_barrier *barrier)
{
    int rc = 0;

    while (rc == 0 && (barrier->state == DRAINING || barrier->state == RESETTING))
        rc = wait_for_a_change(barrier);
    return rc == 0 && barrier->state == BROKEN ? -EPIPE : rc;
}

static int wait_for_the_others(coil_barrier *barrier)
{
    int rc = 0;

    while (rc == 0 && barrier->state == FILLING)
        rc = wait_for_a_change(barrier);
    return rc == 0 && barrier->state != DRAINING ? -EPIPE : rc;
}

static void leave(coil_barrier *barrier)
{
    if (--barrier->count == 0)
        set_state(barrier, barrier->state == BROKEN ? BROKEN : FILLING);
}

static int pass(coil_barrier *barrier)
{
    int rc = wait_for_our_round(barrier), index;

    if (rc < 0)
        return rc;
    index = (int)barrier->count++;
    if (barrier->count == barrier->parties)
        set_state(barrier, DRAINING);
    else
        rc = wait_for_the_others(barrier);
    leave(barrier);
    return rc < 0 ? rc : index;
}

/* ---- the operations ---------------------------------------------------------------- */

int coil_barrier_wait(coil_barrier *barrier)
{
    int rc;

    if (barrier->parties == 0)
        return -EINVAL;
    rc = coil_lock_acquire(&barrier->lock);
    if (rc < 0)
        return rc;
    rc = pass(barrier);
    coil_lock_release(&barrier->lock);
    return rc;
}

/* Take the lock, which those who leave hold one after the other, to set the state. */
static int change(coil_barrier *barrier, enum state state)
{
    int rc = coil_lock_acquire(&barrier->lock);

    if (rc < 0)
        return rc;
    set_state(barrier, state == RESETTING && barrier->count == 0 ? FILLING : state);
    coil_lock_release(&barrier->lock);
    return 0;
}

int coil_barrier_reset(coil_barrier *barrier)
{
    return change(barrier, RESETTING);
}

int coil_barrier_abort(coil_barrier *barrier)
{
    return change(barrier, BROKEN);
}
