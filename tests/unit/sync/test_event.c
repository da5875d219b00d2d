/*
 * test_event.c - events: flags for which tasks can wait.
 */
#include "../../harness/harness.h"

#include "../../../src/base/compiler.h"

#include <coil.h>

static coil_event event = COIL_EVENT_INIT;

static int wait_here(void *arg)
{
    int rc = coil_event_wait(&event);

    test_trace("%s:%d ", (const char *)arg, rc);
    return rc;
}

TASK_TEST(event_wakes_all_in_order_and_stays_set)
{
    CHECK(!coil_event_is_set(&event));
    coil_spawn(wait_here, "a", NULL, NULL);
    coil_spawn(wait_here, "b", NULL, NULL);
    coil_yield();
    coil_event_set(&event);
    coil_event_set(&event);
    CHECK_TRACE("");
    coil_yield();
    CHECK_TRACE("a:0 b:0 ");
    CHECK_INT(coil_event_wait(&event), 0);
    coil_event_finish(&event);
}

TASK_TEST(event_cleared_before_the_waiters_ran_wakes_them_all_the_same)
{
    coil_spawn(wait_here, "a", NULL, NULL);
    coil_yield();
    coil_event_set(&event);
    coil_event_clear(&event);
    coil_yield();
    CHECK_TRACE("a:0 ");
}

TASK_TEST(event_waiter_cancelled_leaves_the_others)
{
    coil_task *a;

    coil_spawn(wait_here, "a", NULL, &a);
    coil_spawn(wait_here, "b", NULL, NULL);
    coil_yield();
    coil_task_cancel(a, NULL);
    CHECK_INT(coil_task_await(a), -ECANCELED);
    coil_event_set(&event);
    coil_yield();
    CHECK_TRACE("a:-125 b:0 ");
    coil_task_release(a);
}

static int count_down(void *arg)
{
    int rc = coil_event_wait(&event);

    --*(int *)arg;
    return rc;
}

TASK_TEST(event_with_a_hundred_thousand_waiters)
{
    int left = test_hundred_thousand();

    for (int n = left; n > 0; n--)
        CHECK_INT(coil_spawn(count_down, &left, NULL, NULL), 0);
    coil_yield();
    coil_event_set(&event);
    coil_yield();
    CHECK_INT(left, 0);
}
