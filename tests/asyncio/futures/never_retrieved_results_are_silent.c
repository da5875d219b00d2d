/* Only failures are reported: not a result that nobody asked for, nor one that somebody
 * did, nor a future that is cancelled, or pending for ever. */
#include "../scenario.h"

enum { PENDING, RESULT, ASKED, CANCELLED, COUNT };

SCENARIO(never_retrieved_results_are_silent)
{
    static const char *const names[] = {"pending", "result", "asked", "cancelled"};
    coil_future *futures[COUNT] = {NULL};
    int rc = 0;

    coil_set_exception_handler(tell_exception, NULL);
    for (int i = 0; i < COUNT && rc == 0; i++)
        rc = coil_future_create(&futures[i]);
    if (rc == 0) {
        coil_future_set(futures[RESULT], 42, NULL, NULL);
        coil_future_set(futures[ASKED], 43, NULL, NULL);
        coil_future_cancel(futures[CANCELLED], NULL);
        trace("asked: %s", state(futures[ASKED]));
        turns(1);
    }
    for (int i = 0; i < COUNT; i++) {
        coil_future_release(futures[i]);
        trace("%s: gone", names[i]);
    }
    return rc;
}
