/*
 * event.c - a flag that tasks can wait for. (asyncio: locks.Event)
 */
#include "waiters.h"

#include <coil/event.h>

void coil_event_init(coil_event *event)
{
    COIL__REQUIRE(event, "an event");
    *event = (coil_event)COIL_EVENT_INIT;
    coil__waiters_bind_in_debug_mode(&event->waiters);
}

void coil_event_finish(coil_event *event)
{
    if (event != NULL)
        coil__waiters_finish(&event->waiters, "coil_event_finish");
}

int coil_event_wait(coil_event *event)
{
    COIL__REQUIRE(event, "an event");
    static const struct coil__wait_class class =
        COIL__WAITER_CLASS("event", "coil_event_wait");

    return event->is_set ? 0 : coil__waiters_wait(&event->waiters, &class, event);
}

void coil_event_set(coil_event *event)
{
    COIL__REQUIRE(event, "an event");
    coil__waiters_check(&event->waiters, "coil_event_set");
    if (event->is_set)
        return;
    event->is_set = true;
    coil__waiters_wake_all(&event->waiters);
}

void coil_event_clear(coil_event *event)
{
    COIL__REQUIRE(event, "an event");
    coil__waiters_check(&event->waiters, "coil_event_clear");
    event->is_set = false;
}

bool coil_event_is_set(const coil_event *event)
{
    COIL__REQUIRE(event, "an event");
    return event->is_set;
}
