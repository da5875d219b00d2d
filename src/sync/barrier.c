/*
 * barrier.c - makes a fixed number of tasks wait for each other. (asyncio: locks.Barrier)
 *
 *                     the last party arrives
 *         FILLING ---------------------------> DRAINING      wait_locked()
 *          | ^  ^                                  | the last party leaves
 *          | |  +----------------------------------+
 *    reset | | the last party leaves    BROKEN: by abort(), from any state, until reset()
 *          v |
 *        RESETTING
 *
 * A barrier's tasks wait on a condition variable for the barrier's state to change. Each
 * task holds the lock when this wait returns, so the tasks leave one by one, in the order
 * in which they arrived. `count` is the number of tasks that have arrived but not left.
 *
 * A task gets its index when it leaves: the last task to arrive gets the highest index,
 * and the others are numbered from 0. asyncio numbers tasks when they arrive, so after a
 * cancellation two tasks may get the same index, and no task gets 0 (gh-155233).
 */
#include "condition.h"
#include "waiters.h"

#include <coil/barrier.h>

enum state { FILLING, DRAINING, RESETTING, BROKEN };

void coil_barrier_init(coil_barrier *barrier, size_t parties)
{
    COIL__REQUIRE(barrier, "a barrier");
    *barrier = (coil_barrier)COIL_BARRIER_INIT(parties);
    coil__waiters_bind_in_debug_mode(&barrier->changed);
    coil__waiters_bind_in_debug_mode(&barrier->lock.waiters);
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
    COIL__REQUIRE(barrier, "a barrier");
    return barrier->parties;
}

size_t coil_barrier_waiting(const coil_barrier *barrier)
{
    COIL__REQUIRE(barrier, "a barrier");
    return barrier->state == FILLING ? barrier->count : 0;
}

bool coil_barrier_broken(const coil_barrier *barrier)
{
    COIL__REQUIRE(barrier, "a barrier");
    return barrier->state == BROKEN;
}

/* ---- with the lock held ------------------------------------------------------------ */

static int wait_for_a_change(coil_barrier *barrier)
{
    static const struct coil__wait_class class =
        COIL__WAITER_CLASS("barrier", "coil_barrier_wait");

    return coil__condition_wait(&barrier->changed, &barrier->lock, &class, barrier);
}

static void set_state(coil_barrier *barrier, enum state state)
{
    barrier->state = state;
    coil__condition_notify(&barrier->changed, SIZE_MAX);
}

/*
 * Wait until all tasks of the previous round have left, and then until all tasks of this
 * round have arrived. Called with the lock held.
 */
static int wait_locked(coil_barrier *barrier)
{
    bool is_last;
    int rc = 0;

    while (rc == 0 && (barrier->state == DRAINING || barrier->state == RESETTING))
        rc = wait_for_a_change(barrier);
    if (rc == 0 && barrier->state == BROKEN)
        rc = coil__failed(-EPIPE);
    if (rc < 0)
        return rc;
    is_last = ++barrier->count == barrier->parties;
    if (is_last) {
        barrier->passed = 0;
        set_state(barrier, DRAINING);
    }
    while (rc == 0 && barrier->state == FILLING)
        rc = wait_for_a_change(barrier);
    if (rc == 0 && barrier->state != DRAINING)
        rc = coil__failed(-EPIPE);
    if (--barrier->count == 0)
        set_state(barrier, barrier->state == BROKEN ? BROKEN : FILLING);
    if (rc < 0)
        return rc;
    return is_last ? (int)barrier->parties - 1 : (int)barrier->passed++;
}

/* ---- the operations ---------------------------------------------------------------- */

int coil_barrier_wait(coil_barrier *barrier)
{
    COIL__REQUIRE(barrier, "a barrier");
    int rc;

    coil__waiters_check(&barrier->changed, "coil_barrier_wait");
    if (barrier->parties == 0)
        return coil__failed(-EINVAL);
    rc = coil_lock_acquire(&barrier->lock);
    if (rc < 0)
        return rc;
    rc = wait_locked(barrier);
    coil_lock_release(&barrier->lock);
    return rc;
}

/*
 * Change the state. May wait for the lock, which the leaving tasks hold one after
 * another.
 */
static int change_state(coil_barrier *barrier, enum state state)
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
    COIL__REQUIRE(barrier, "a barrier");
    coil__waiters_check(&barrier->changed, "coil_barrier_reset");
    return change_state(barrier, RESETTING);
}

int coil_barrier_abort(coil_barrier *barrier)
{
    COIL__REQUIRE(barrier, "a barrier");
    coil__waiters_check(&barrier->changed, "coil_barrier_abort");
    return change_state(barrier, BROKEN);
}
