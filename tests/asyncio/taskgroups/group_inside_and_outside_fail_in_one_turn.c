/*
 * Both groups of a task fail in the same turn: the inner one gives its failure, the
 * outer one's request stays until its own exit.
 */
#include "taskgroups.h"

static int fail_in_a_turn(void *arg)
{
    int rc = coil_yield();

    return rc == 0 ? *(int *)arg : rc;
}

static void count(const char *where)
{
    trace("%s: cancelling %d", where, coil_task_cancelling(coil_task_current()));
}

SCENARIO(group_inside_and_outside_fail_in_one_turn)
{
    static int eio = -EIO, eproto = -EPROTO;
    coil_group outer, inner;
    int rc;

    coil_group_enter(&outer);
    coil_group_enter(&inner);
    start_child(&inner, fail_in_a_turn, &eio);
    rc = start_child(&outer, fail_in_a_turn, &eproto) != NULL ? 0 : -ENOMEM;
    leave("inner", &inner, rc);
    count("between");
    leave("outer", &outer, 0);
    count("after");
    return 0;
}
