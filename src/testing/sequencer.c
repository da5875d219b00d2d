/*
 * sequencer.c - makes tasks pass given points of their code in a fixed order.
 *
 * A task that reaches its point early waits in a list, with its position in the order.
 * Each task that passes its point wakes the task with the next position. If a task is
 * cancelled while it waits, the sequence is broken: all other tasks fail with -EPIPE.
 */
#include "inside.h"

#include <coil/testing.h>

struct position_waiter {
    struct coil__waiter waiter;
    unsigned position;
};

static struct position_waiter *of_waiter(struct coil__waiter *waiter)
{
    return COIL__CONTAINER(waiter, struct position_waiter, waiter);
}

static struct position_waiter *waiter_at(const coil_sequencer *sequencer,
                                         unsigned position)
{
    struct coil__waiter *w = coil__waiters_first(&sequencer->waiters);

    while (w != NULL && of_waiter(w)->position != position)
        w = w->next;
    return w != NULL ? of_waiter(w) : NULL;
}

void coil_sequencer_init(coil_sequencer *sequencer)
{
    *sequencer = (coil_sequencer)COIL_SEQUENCER_INIT;
}

int coil_sequencer_wait(coil_sequencer *sequencer, unsigned position)
{
    static const struct coil__wait_class class =
        COIL__WAITER_CLASS("sequencer", "coil_sequencer_wait");
    struct position_waiter self = {.position = position}, *next;
    int rc = 0;

    coil__testing_begin();
    if (position < sequencer->next || waiter_at(sequencer, position) != NULL)
        coil__inside->misuse("coil_sequencer_wait: position %u is taken", position);
    if (!sequencer->broken && position > sequencer->next)
        rc = coil__inside->waiters_wait_as(&sequencer->waiters, &self.waiter, &class,
                                           sequencer);
    if (rc < 0) {
        sequencer->broken = true;
        coil__inside->waiters_wake_all(&sequencer->waiters);
        return rc;
    }
    if (sequencer->broken)
        return coil__inside->failed(-EPIPE);
    next = waiter_at(sequencer, ++sequencer->next);
    if (next != NULL)
        coil__inside->waiter_wake(&next->waiter);
    return 0;
}
