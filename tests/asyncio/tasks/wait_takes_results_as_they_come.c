/* wait() for the first, again and again with what is left, yields the tasks as they end.
 */
#include "../scenario.h"

static int body(void *arg)
{
    int delay = (int)(intptr_t)arg, rc = coil_sleep(COIL_SEC(delay));

    return rc < 0 ? rc : delay;
}

/* Say what is done, keep what is not; returns how many those are. */
static size_t take_done(coil_future *futures[], size_t n)
{
    char text[64] = "";
    size_t left = 0;

    for (size_t i = 0; i < n; i++)
        if (!coil_future_done(futures[i]))
            futures[left++] = futures[i];
        else
            sprintf(text + strlen(text), " %s", state(futures[i]));
    trace("done:%s", text);
    return left;
}

SCENARIO(wait_takes_results_as_they_come)
{
    static const int delays[] = {3, 1, 2, 1};
    coil_future *futures[4];
    size_t n = 4;

    for (int i = 0; i < 4; i++) {
        coil_task *task = start(body, (void *)(intptr_t)delays[i]);

        if (task == NULL)
            return -ENOMEM;
        futures[i] = coil_task_future(task);
    }
    while (n > 0) {
        int rc = coil_wait(futures, n, COIL_WAIT_FIRST, COIL_NEVER);

        if (rc < 0)
            return rc;
        n = take_done(futures, n);
    }
    return 0;
}
