/* A sleep of zero lets one turn pass: what was called soon before it has run after it. */
#include "../scenario.h"

static int result;

static void add(void *number)
{
    result += (int)(intptr_t)number;
    trace("now %d", result);
    if ((intptr_t)number == 1)
        coil_call_soon(add, (void *)(intptr_t)100, NULL);
}

SCENARIO(sleep_of_zero_runs_what_was_called_soon)
{
    int rc = coil_call_soon(add, (void *)(intptr_t)1, NULL);

    if (rc < 0)
        return rc;
    trace("before: %d", result);
    coil_sleep(0);
    trace("after one: %d", result);
    coil_sleep(0);
    trace("after two: %d", result);
    return 0;
}
