/* Ten tasks set the same variable in turn; each sees what it has set itself. */
#include "../scenario.h"

static coil_var number = COIL_VAR_INIT("number", NULL);

static int set(long value)
{
    return coil_var_set(&number, (void *)(intptr_t)value, NULL);
}

static long get(void)
{
    return (long)(intptr_t)coil_var_get(&number);
}

static int body(void *arg)
{
    long i = (long)(intptr_t)arg;
    int rc = 0, wrong = 0;

    for (long round = 0; round < 3 && rc == 0; round++) {
        rc = set(10 * i + round);
        if (rc == 0)
            rc = coil_sleep(COIL_SEC(1));
        wrong += get() != 10 * i + round;
    }
    trace("task %ld: %ld at the end, %d wrong", i, get(), wrong);
    return rc;
}

SCENARIO(context_of_many_tasks_side_by_side)
{
    coil_future *futures[10];
    int rc = set(1000);

    for (int i = 0; i < 10 && rc == 0; i++) {
        coil_task *task = start(body, TURNS(i));

        rc = task != NULL ? 0 : -ENOMEM;
        futures[i] = task != NULL ? coil_task_future(task) : NULL;
    }
    if (rc == 0)
        rc = coil_gather(futures, 10, 0, NULL);
    trace("main: %ld", get());
    return rc;
}
