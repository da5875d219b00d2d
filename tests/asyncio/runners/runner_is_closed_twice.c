/* Closing a runner that never ran closes its loop; a second time it does nothing. */
#include "runners.h"

PLAIN_SCENARIO(runner_is_closed_twice)
{
    coil_runner *runner;
    int rc = create_runner(&runner);

    if (rc < 0)
        return rc;
    trace("loop: %d", coil_runner_loop(runner) != NULL);
    coil_runner_close(runner);
    trace("closed: %d", coil_runner_loop(runner) == NULL);
    coil_runner_close(runner);
    trace("closed again: %d", coil_loop_current() == NULL);
    coil_runner_destroy(runner);
    return 0;
}
