/* A failure that is awaited again and again has, each time, one await in its traceback.
 */
#include "../scenario.h"

static int body(void *arg)
{
    (void)arg;
    return coil_fail(-EIO, "always the same");
}

SCENARIO(failure_awaited_again_has_the_same_traceback)
{
    coil_task *task = start(body, NULL);

    if (task == NULL)
        return -ENOMEM;
    for (int i = 0; i < 5; i++) {
        int rc = coil_task_await(task), awaits = 0;
        const coil_error *error = coil_last_error();

        if (error == NULL)
            return -ENOMEM;
        while ((error = coil_error_cause(error)) != NULL)
            awaits++;
        trace("%d: %s, awaits: %d", i, outcome(rc), awaits);
    }
    return 0;
}
