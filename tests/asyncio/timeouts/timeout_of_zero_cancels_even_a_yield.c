/* A deadline of now cuts off even what would only have let others run. */
#include "timeouts.h"

SCENARIO(timeout_of_zero_cancels_even_a_yield)
{
    coil_scope scope;

    start(ticker, TURNS(5));
    coil_scope_enter(&scope, coil_in(COIL_SEC(0)));
    trace("begins");
    tell("body", leave("timeout", &scope, tell("sleep", coil_sleep(COIL_SEC(0)))));
    return 0;
}
