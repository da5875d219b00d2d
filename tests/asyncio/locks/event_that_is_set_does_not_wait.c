/* Waiting for an event that is set does not even let a turn pass. */
#include "../scenario.h"

static coil_event event = COIL_EVENT_INIT;

SCENARIO(event_that_is_set_does_not_wait)
{
    if (start(ticker, TURNS(2)) == NULL)
        return -ENOMEM;
    coil_event_set(&event);
    for (int i = 0; i < 3; i++) {
        coil_event_wait(&event);
        trace("waited");
    }
    turns(1);
    coil_event_wait(&event);
    trace("waited");
    return 0;
}
