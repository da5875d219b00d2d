/* wait() with a deadline returns then, fails not, and cancels nothing. */
#include "tasks.h"

SCENARIO(wait_stops_at_its_deadline)
{
    static const int seconds[] = {1, 4, 4};
    coil_future *futures[3];
    int done, cancelled = 0;

    for (int i = 0; i < 3; i++) {
        coil_task *task = start(sleeper, SECONDS(seconds[i]));

        if (task == NULL)
            return -ENOMEM;
        futures[i] = coil_task_future(task);
    }
    done = coil_wait(futures, 3, COIL_WAIT_ALL, coil_in(COIL_SEC(2)));
    trace("done %d, pending %d", done, 3 - done);
    for (int i = 0; i < 3; i++)
        cancelled += coil_future_cancelled(futures[i]);
    trace("cancelled: %d", cancelled);
    done = coil_wait(futures, 3, COIL_WAIT_ALL, coil_in(COIL_SEC(5)));
    trace("done %d, pending %d", done, 3 - done);
    return 0;
}
