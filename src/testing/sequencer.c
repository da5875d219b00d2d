/*
 * sequencer.c - points in several tasks that are reached in a fixed order.
 *
 * Who waits stands in a list, with its position; each that passes looks for the next.
 */
#include "../sync/waiters.h"

#include <coil/testing.h>

struct standing {
    struct coil__waiter waiter;
    unsigned position;
};

static struct standing *standing_of(struct coil__waiter *waiter)
{
    return COIL__CONTAINER(waiter, struct standing, waiter);
}

static struct standing *find(const coil_sequencer *sequencer, unsigned position)
{
    struct coil__waiter *w = coil__waiters_first(&sequencer->waiters);

    while (w != NULL && standing_of(w)->position != position)
        w = w->next;
    return w != NULL ? standing_of(w) : NULL;
}

static void pass(coil_sequencer *sequencer)
{
    struct standing *next = find(sequencer, ++sequencer->next);

    if (next != NULL)
        coil__waiter_wake(&next->waiter);
}

/* One was cancelled at its place: the order is lost to all. */
static void break_order(coil_sequencer *sequencer)
{
    sequencer->broken = true;
    coil__waiters_wake_all(&sequencer->waiters);
}

void coil_sequencer_init(coil_sequencer *sequencer)
{
    *sequencer = (coil_sequencer)COIL_SEQUENCER_INIT;
}

int coil_sequencer_wait(coil_sequencer *sequencer, unsigned position)
{
    static const struct coil__wait_class class = COIL__WAITER_CLASS("sequencer");
    struct standing s = {.position = position};
    int rc = 0;

    if (position < sequencer->next || find(sequencer, position) != NULL)
        coil__misuse("coil_sequencer_wait: position %u is taken", position);
    if (!sequencer->broken && position > sequencer->next)
        rc = coil__waiters_wait(&sequencer->waiters, &s.waiter, &class, sequencer);
    if (rc < 0)
        break_order(sequencer);
    else if (sequencer->broken)
        rc = -EPIPE;
    else
        pass(sequencer);
    return rc;
}
