/* Those who await, shield, gather, wait and call back are served in the order in which
 * they came; gather, wait and shield need a turn more. */
#include "../scenario.h"

static coil_future *future;

static int body(void *what)
{
    if (strcmp(what, "wait") == 0)
        return tell(what,
                    coil_wait(&future, 1, COIL_WAIT_ALL, COIL_NEVER) < 0 ? -EIO : 0);
    if (strcmp(what, "gather") == 0)
        return tell(what, coil_gather(&future, 1, 0, NULL));
    if (strcmp(what, "shield") == 0)
        return tell(what, coil_shield(future));
    return tell(what, coil_await(future));
}

static void callback(coil_future *done, void *arg)
{
    (void)done;
    (void)arg;
    trace("callback");
}

SCENARIO(all_kinds_of_waiters_stand_in_one_line)
{
    static char *const whats[] = {"wait", "gather", "shield", "await"};
    coil_future *tasks[5];
    coil_task *task;
    int rc;

    future = new_future();
    for (int i = 0; i < 4; i++) {
        task = start(body, whats[i]);
        if (task == NULL)
            return -ENOMEM;
        tasks[i] = coil_task_future(task);
    }
    turns(1);
    rc = coil_future_add_callback(future, callback, NULL);
    task = start(ticker, TURNS(3));
    coil_future_set(future, 0, NULL, NULL);
    if (rc < 0 || task == NULL)
        return -ENOMEM;
    tasks[4] = coil_task_future(task);
    rc = coil_wait(tasks, 5, COIL_WAIT_ALL, COIL_NEVER);
    return rc < 0 ? rc : 0;
}
