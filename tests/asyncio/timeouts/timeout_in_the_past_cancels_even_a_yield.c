/* A deadline long past is as good as now. */
#include "timeouts.h"

SCENARIO(timeout_in_the_past_cancels_even_a_yield)
{
    coil_scope scope;

    start(ticker, TURNS(5));
    coil_scope_enter(&scope, coil_in(COIL_SEC(-11)));
    trace("begins");
    tell("body", leave("timeout", &scope, tell("sleep", coil_sleep(COIL_SEC(0)))));
    return 0;
}
