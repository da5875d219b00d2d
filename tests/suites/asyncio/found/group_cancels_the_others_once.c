#include "../judged.h"

static struct judged_group g0;
TASK(t0);
TASK(t1);
TASK(t2);
TASK(t3);

static int t0_group_1(void)
{
    trace_step("t0 child t1 g0", start_task(&t1, &g0));
    trace_step("t0 child t2 g0", start_task(&t2, &g0));
    trace_step("t0 child t3 g0", start_task(&t3, &g0));
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
    return 0;
}

static int t1_run(void)
{
    int rc;

    rc = trace_step("t1 sleep 1", coil_sleep(COIL_SEC(1)));
    if (rc < 0)
        return rc;
    return -EIO;
}

static int t2_try_4(void)
{
    int rc;

    rc = trace_step("t2 sleep 9", coil_sleep(COIL_SEC(9)));
    if (rc < 0)
        return rc;
    return 0;
}

static int t2_except_5(void)
{
    int rc;

    rc = trace_step("t2 sleep 1", coil_sleep(COIL_SEC(1)));
    if (rc < 0)
        return rc;
    return -EPROTO;
}

static int t2_run(void)
{
    int rc;

    rc = t2_try_4();
    if (rc == -ECANCELED) {
        coil_cancel_caught();
        trace("t2 caught %s", outcome(rc));
        rc = t2_except_5();
    }
    if (rc < 0)
        return rc;
    return 0;
}

static int t3_try_6(void)
{
    int rc;

    rc = trace_step("t3 sleep 9", coil_sleep(COIL_SEC(9)));
    if (rc < 0)
        return rc;
    return 0;
}

static int t3_except_7(void)
{
    int rc;

    rc = trace_step("t3 sleep 5", coil_sleep(COIL_SEC(5)));
    if (rc < 0)
        return rc;
    trace_step("t3 cancelling", coil_task_cancelling(coil_task_current()));
    return 0;
}

static int t3_run(void)
{
    int rc;

    rc = t3_try_6();
    if (rc == -ECANCELED) {
        coil_cancel_caught();
        trace("t3 caught %s", outcome(rc));
        rc = t3_except_7();
    }
    if (rc < 0)
        return rc;
    return 0;
}

/*
 * If a second child of a group fails, the group does not cancel the other children again.
 */
SCENARIO(group_cancels_the_others_once)
{
    struct judged_task *const tasks[] = {&t0, &t1, &t2, &t3, NULL};
    coil_lock *const locks[] = {NULL};
    int rc;

    rc = drive(tasks, locks, (coil_future *[]){NULL});
    return rc;
}
