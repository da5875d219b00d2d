/* A deadline of now lets the block begin, and cuts off its first wait. */
#include "timeouts.h"

SCENARIO(timeout_of_zero_cancels_at_the_first_wait)
{
    coil_scope scope;

    start(ticker, TURNS(5));
    coil_scope_enter(&scope, coil_in(COIL_SEC(0)));
    trace("begins");
    tell("body", leave("timeout", &scope, tell("sleep", coil_sleep(COIL_SEC(10)))));
    return 0;
}
