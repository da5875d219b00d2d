/* Delays below zero are due at once, and the longest overdue is called first. */
#include "calls.h"

LOOP_SCENARIO(call_later_with_a_negative_delay_was_due_before)
{
    later(0, say, "zero");
    later(-1, say, "minus one");
    later(-2, say, "minus two");
    later(1, stop, NULL);
    return run_loop(loop);
}
