/* Two tasks that calculate at once, each with its own precision, do not disturb each
 * other. */
#include "../scenario.h"

static coil_var digits = COIL_VAR_INIT("digits", (void *)2);

static long third_of(long n)
{
    for (long i = (long)(intptr_t)coil_var_get(&digits); i > 0; i--)
        n *= 10;
    return n / 3;
}

static int fractions(void *arg)
{
    long precision = (long)(intptr_t)arg, before;
    coil_var_token token;
    int rc = coil_var_set(&digits, arg, &token);

    if (rc < 0)
        return rc;
    before = third_of(1);
    rc = coil_sleep(COIL_SEC(precision / 3));
    trace("%ld digits: %ld, then %ld", precision, before, third_of(2));
    coil_var_reset(&digits, &token);
    trace("and without: %ld", third_of(1));
    return rc;
}

SCENARIO(context_keeps_the_precision_of_each_task)
{
    coil_task *three = start(fractions, TURNS(3)), *six = start(fractions, TURNS(6));

    if (three == NULL || six == NULL)
        return -ENOMEM;
    coil_task_await(three);
    coil_task_await(six);
    trace("main: %ld", third_of(1));
    return 0;
}
