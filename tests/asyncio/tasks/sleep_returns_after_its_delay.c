/* A sleep takes its delay on the loop's clock, no more. */
#include "../scenario.h"

SCENARIO(sleep_returns_after_its_delay)
{
    trace("sleeps");
    trace("slept: %s", outcome(coil_sleep(COIL_SEC(3))));
    return 0;
}
