#include "../judged.h"

static struct judged_group g0;
TASK(t0);
TASK(t1);

static int t0_group_1(void)
{
    int rc;

    trace_step("t0 eager_child t1 g0", start_eagerly(&t1, &g0));
    rc = trace_step("t0 await t1", coil_await(future_of(&t1)));
    if (rc < 0)
        return rc;
    return 0;
}

static int t0_try_2(void)
{
    int rc;

    group_enter(&g0);
    rc = trace_step("t0 group g0", group_exit(&g0, t0_group_1()));
    if (rc < 0)
        return rc;
    return 0;
}

static int t0_except_3(void)
{
    trace_step("t0 cancelling", coil_task_cancelling(coil_task_current()));
    return 0;
}

static int t0_run(void)
{
    int rc;

    rc = t0_try_2();
    if (rc < 0 && rc != -ECANCELED) {
        trace("t0 caught %s", outcome(rc));
        rc = t0_except_3();
    }
    if (rc < 0)
        return rc;
    trace_step("t0 cancelling", coil_task_cancelling(coil_task_current()));
    return 0;
}

static int t1_run(void)
{
    int rc;

    trace_step("t1 gcancel g0", group_cancel(&g0));
    trace_step("t1 cancelling", coil_task_cancelling(coil_task_current()));
    rc = trace_step("t1 sleep 1", coil_sleep(COIL_SEC(1)));
    if (rc < 0)
        return rc;
    return 0;
}

/*
 * A child cancels its group while it runs eagerly. The group also cancels this child, as
 * soon as the child has become a member of the group.
 */
SCENARIO(group_cancelled_by_a_child_that_begins_eagerly_reaches_it_when_it_waits)
{
    struct judged_task *const tasks[] = {&t0, &t1, NULL};
    coil_lock *const locks[] = {NULL};
    int rc;

    rc = drive(tasks, locks, (coil_future *[]){NULL});
    return rc;
}
