/*
 * A task that fails as it is cancelled at the deadline: its failure is what comes of
 * it.
 */
#include "../scenario.h"

static int failing(void *arg)
{
    tell("sleep", coil_sleep(COIL_SEC(10)));
    (void)arg;
    return -EIO;
}

SCENARIO(wait_for_hands_on_what_a_cancelled_task_fails_with)
{
    for (int delay = 2; delay >= 0; delay -= 2) {
        coil_task *task = start(failing, NULL);

        if (task == NULL)
            return -ENOMEM;
        turns(1);
        tell("wait_for", coil_wait_for(coil_task_future(task), coil_in(COIL_SEC(delay))));
    }
    return 0;
}
