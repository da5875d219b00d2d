/*
 * group_failure.c - task groups in which a child or the body fails.
 */
#include "taskgroups.h"

static int group_adds_nested(void)
{
    int rc = trace_outcome("nested", coil_sleep(COIL_SEC(10)));

    return rc < 0 ? -EPROTO : rc;
}

static int group_adds_owner(void *arg)
{
    static struct child children[] = {{"child", 1, -EIO, 0}};
    coil_group group;
    int rc;

    (void)arg;
    coil_group_enter(&group);
    rc = start_children(&group, children, 1);
    return leave("group", &group, rc == 0 ? group_adds_nested() : rc);
}

/*
 * The failure of a child cancels the body, which then fails with another error. The group
 * returns both failures, the child's first.
 */
SCENARIO(group_adds_its_bodys_failure_to_a_childs)
{
    coil_task *task = start(group_adds_owner, NULL);

    if (task == NULL)
        return -ENOMEM;
    trace_outcome("owner", coil_task_await(task));
    return 0;
}

static int group_cancelled_owner(void *arg)
{
    static struct child children[] = {
        {"a", 10, 0, -EIO}, {"b", 10, 0, -EIO}, {"c", 10, 0, -EIO}};
    coil_group group;
    int rc;

    (void)arg;
    coil_group_enter(&group);
    rc = start_children(&group, children, 3);
    if (rc == 0)
        rc = trace_outcome("body", coil_sleep(COIL_SEC(10)));
    return leave("group", &group, rc);
}

/*
 * If children fail when they are cancelled, the group returns these failures instead of
 * the cancellation.
 */
SCENARIO(group_cancelled_returns_what_its_children_fail_with)
{
    return cancel_after(1, start(group_cancelled_owner, NULL));
}

static void b_is(coil_future *b, void *arg)
{
    (void)arg;
    trace("b is %s", state(b));
}

static int group_cancels_owner(void)
{
    static struct child children[] = {{"a", 1, -EIO, 0}, {"b", 10, 0, 0}};
    coil_group group;
    coil_task *b;
    int rc = -ENOMEM;

    coil_group_enter(&group);
    start_child(&group, child, &children[0]);
    b = start_child(&group, child, &children[1]);
    if (b != NULL)
        rc = coil_future_add_callback(coil_task_future(b), b_is, NULL);
    return leave("group", &group, rc);
}

/*
 * A child's failure cancels its siblings. The group returns the failure when the siblings
 * have ended.
 */
SCENARIO(group_cancels_the_siblings_of_a_child_that_fails)
{
    trace_outcome("owner", group_cancels_owner());
    return 0;
}

static int group_child_owner(void *arg)
{
    static struct child children[] = {{"child", 3, -EIO, 0}};
    coil_group group;
    int rc;

    (void)arg;
    coil_group_enter(&group);
    rc = start_children(&group, children, 1);
    if (rc == 0)
        rc = trace_outcome("body", coil_sleep(COIL_SEC(10)));
    if (rc == -ECANCELED) {
        coil_cancel_caught();
        trace_outcome("cleanup", coil_sleep(COIL_SEC(5)));
    }
    return leave("group", &group, rc);
}

/*
 * If a child fails while the cancelled owner of the group is cleaning up, the cleanup is
 * interrupted, and the group returns the failure.
 */
SCENARIO(group_child_fails_while_the_body_cleans_up)
{
    return cancel_after(1, start(group_child_owner, NULL));
}

static int group_collects_the_failure_failing(void *arg)
{
    (void)arg;
    return -EIO;
}

static int close_database(void)
{
    trace("closes");
    return -EPROTO;
}

static int group_collects_the_failure_owner(void)
{
    coil_group group;
    int rc;

    coil_group_enter(&group);
    rc = start_child(&group, group_collects_the_failure_failing, NULL) != NULL ? 0
                                                                               : -ENOMEM;
    if (rc == 0) {
        trace_outcome("body", coil_sleep(COIL_SEC(1)));
        rc = close_database();
    }
    rc = leave("group", &group, rc);
    trace("cancelling %d", coil_task_cancelling(coil_task_current()));
    return rc;
}

/*
 * If a child fails, and the cleanup of the cancelled body then fails too, the group
 * returns both failures, and no request to cancel is left.
 */
SCENARIO(group_collects_the_failure_of_a_cleanup)
{
    trace_outcome("owner", group_collects_the_failure_owner());
    return 0;
}

static int group_collects_the_failures_owner(void)
{
    static struct child children[] = {
        {"a", 1, -EIO, 0}, {"b", 1, -EIO, 0}, {"c", 1, -EIO, 0}, {"d", 5, 0, 0}};
    coil_group group;
    int rc;

    coil_group_enter(&group);
    rc = start_children(&group, children, 4);
    if (rc == 0)
        rc = trace_outcome("body", coil_sleep(COIL_SEC(10)));
    return leave("group", &group, rc);
}

/*
 * If several children fail in the same turn, the group returns all of these failures. The
 * body and the other children are cancelled only once.
 */
SCENARIO(group_collects_the_failures_of_one_turn)
{
    trace_outcome("owner", group_collects_the_failures_owner());
    trace("cancelling: %d", coil_task_cancelling(coil_task_current()));
    return 0;
}

static coil_event event = COIL_EVENT_INIT;

static int set_and_fail(void *arg)
{
    int rc;

    (void)arg;
    coil_event_set(&event);
    rc = coil_yield();
    return rc == 0 ? -EIO : rc;
}

static int inner(void *arg)
{
    coil_group group;
    int rc;

    (void)arg;
    coil_group_enter(&group);
    start_child(&group, set_and_fail, NULL);
    rc = trace_outcome("body", coil_sleep(COIL_SEC(1)));
    leave("group", &group, rc);
    coil_event_set(&event); /* memory ran out */
    trace("after: cancelling %d", coil_task_cancelling(coil_task_current()));
    return trace_outcome("sleep", coil_sleep(COIL_SEC(1)));
}

/*
 * If another task cancels the owner in the turn in which a child fails, the group returns
 * the child's failure, and the owner's next wait returns the cancellation.
 */
SCENARIO(group_failure_does_not_swallow_a_cancellation)
{
    coil_task *task = start(inner, NULL);

    if (task == NULL)
        return -ENOMEM;
    coil_event_wait(&event);
    trace("cancelling %d", coil_task_cancelling(task));
    trace("cancel: %d", coil_task_cancel(task, NULL));
    trace("cancelling %d", coil_task_cancelling(task));
    trace_outcome("task", coil_task_await(task));
    return 0;
}

static int group_failure_inside_owner(void *arg)
{
    static struct child children[] = {{"outer child", 10, -EPROTO, 0},
                                      {"inner child", 1, -EIO, 0}};
    coil_group outer, inner;
    int rc;

    (void)arg;
    coil_group_enter(&outer);
    rc = start_children(&outer, &children[0], 1);
    coil_group_enter(&inner);
    if (rc == 0)
        rc = start_children(&inner, &children[1], 1);
    rc = leave("inner", &inner, rc);
    return leave("outer", &outer, rc);
}

/*
 * A failure of a nested group is a failure in the body of the outer group, and cancels
 * the children of the outer group.
 */
SCENARIO(group_failure_inside_cancels_the_group_outside)
{
    coil_task *task = start(group_failure_inside_owner, NULL);

    if (task == NULL)
        return -ENOMEM;
    trace_outcome("owner", coil_task_await(task));
    return 0;
}

static int group_failure_outside_owner(void *arg)
{
    static struct child children[] = {{"outer child", 1, -EIO, 0},
                                      {"inner child", 10, -EPROTO, 0}};
    coil_group outer, inner;
    int rc;

    (void)arg;
    coil_group_enter(&outer);
    rc = start_children(&outer, &children[0], 1);
    coil_group_enter(&inner);
    if (rc == 0)
        rc = start_children(&inner, &children[1], 1);
    rc = leave("inner", &inner, rc);
    return leave("outer", &outer, rc);
}

/*
 * If a child of the outer group fails while the owner is waiting in the nested group, the
 * nested group is cancelled. Only the child's failure is returned.
 */
SCENARIO(group_failure_outside_cancels_the_group_inside)
{
    coil_task *task = start(group_failure_outside_owner, NULL);

    if (task == NULL)
        return -ENOMEM;
    trace_outcome("owner", coil_task_await(task));
    return 0;
}

static int group_in_a_group_fails_owner(void *arg)
{
    static struct child children[] = {
        {"outer child", 10, 0, 0}, {"a", 10, 0, -EIO}, {"b", 10, 0, -EIO}};
    coil_group outer, inner;
    int rc;

    (void)arg;
    coil_group_enter(&outer);
    rc = start_children(&outer, children, 1);
    coil_group_enter(&inner);
    if (rc == 0)
        rc = start_children(&inner, children + 1, 2);
    if (rc == 0)
        rc = trace_outcome("body", coil_sleep(COIL_SEC(10)));
    rc = leave("inner", &inner, rc);
    return leave("outer", &outer, rc);
}

/*
 * The outer group's children are not cancelled until the nested group has exited with its
 * failure.
 */
SCENARIO(group_in_a_group_fails_and_cancels_the_outer_children)
{
    return cancel_after(1, start(group_in_a_group_fails_owner, NULL));
}

static int group_in_a_group_hands_owner(void *arg)
{
    static struct child children[] = {
        {"a", 10, 0, -EIO}, {"b", 10, 0, -EIO}, {"c", 10, 0, -EIO}};
    coil_group outer, inner;
    int rc;

    (void)arg;
    coil_group_enter(&outer);
    coil_group_enter(&inner);
    rc = start_children(&inner, children, 3);
    if (rc == 0)
        rc = trace_outcome("body", coil_sleep(COIL_SEC(10)));
    rc = leave("inner", &inner, rc);
    return leave("outer", &outer, rc);
}

/*
 * If children of a nested group fail when the group is cancelled, both groups return
 * these failures.
 */
SCENARIO(group_in_a_group_hands_its_failures_outward)
{
    return cancel_after(1, start(group_in_a_group_hands_owner, NULL));
}

static int group_in_an_awaited_nested(void *arg)
{
    static struct child children[] = {{"child", 3, -EIO, 0}};
    coil_group group;
    int rc;

    (void)arg;
    coil_group_enter(&group);
    rc = start_children(&group, children, 1);
    if (rc == 0)
        rc = trace_outcome("body", coil_sleep(COIL_SEC(10)));
    if (rc == -ECANCELED) {
        coil_cancel_caught();
        trace_outcome("cleanup", coil_sleep(COIL_SEC(5)));
    }
    return leave("group", &group, rc);
}

static int group_in_an_awaited_owner(void *arg)
{
    coil_task *task = start(group_in_an_awaited_nested, NULL);

    (void)arg;
    return task != NULL ? trace_outcome("nested", coil_task_await(task)) : -ENOMEM;
}

/*
 * If a task is cancelled while it awaits the owner of a group, and a child fails while
 * the owner is cleaning up, the awaiting task gets the child's failure.
 */
SCENARIO(group_in_an_awaited_task_fails_while_it_cleans_up)
{
    return cancel_after(1, start(group_in_an_awaited_owner, NULL));
}

static int fail_in_a_turn(void *arg)
{
    int rc = coil_yield();

    return rc == 0 ? *(int *)arg : rc;
}

static void count(const char *where)
{
    trace("%s: cancelling %d", where, coil_task_cancelling(coil_task_current()));
}

/*
 * If two nested groups fail in the same turn, the inner group returns its own failure,
 * and the owner remains cancelled by the outer group until it leaves that group too.
 */
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

static int group_that_is_failing_failing(void *arg)
{
    int rc = coil_sleep(COIL_SEC(1));

    (void)arg;
    return rc == 0 ? -EIO : rc;
}

static void try_to_start(const char *who, coil_group *group)
{
    int rc = coil_group_spawn(group, group_that_is_failing_failing, NULL, NULL, NULL);

    trace("%s: %s", who, rc == -ESHUTDOWN ? "refused" : "started");
}

static int sibling(void *group)
{
    int rc = trace_outcome("sibling", coil_sleep(COIL_SEC(10)));

    try_to_start("sibling", group);
    return rc;
}

static int group_that_is_failing_owner(void)
{
    coil_group group;
    int rc;

    coil_group_enter(&group);
    start_child(&group, group_that_is_failing_failing, NULL);
    if (start_child(&group, sibling, &group) == NULL)
        return coil_group_exit(&group, -ENOMEM);
    rc = trace_outcome("body", coil_sleep(COIL_SEC(10)));
    try_to_start("body", &group);
    return leave("group", &group, rc);
}

/*
 * Once a child has failed, no further child can be started, neither by siblings that are
 * cancelled nor by the body.
 */
SCENARIO(group_that_is_failing_takes_no_child)
{
    trace_outcome("owner", group_that_is_failing_owner());
    return 0;
}

static int heads;

static int spawn_two_more(void *group)
{
    int rc;

    trace("head %d", ++heads);
    rc = coil_sleep(COIL_SEC(2));
    for (int i = 0; i < 2 && rc == 0; i++)
        rc = coil_group_spawn(group, spawn_two_more, group, NULL, NULL);
    return rc;
}

static int fail_after_ten(void *arg)
{
    int rc = 0;

    (void)arg;
    while (heads < 10 && rc == 0)
        rc = coil_sleep(COIL_SEC(3));
    if (rc < 0)
        return rc;
    trace("enough");
    return -EIO;
}

static int group_that_keeps_owner(void)
{
    coil_group group;

    coil_group_enter(&group);
    start_child(&group, spawn_two_more, &group);
    return leave("group", &group,
                 start_child(&group, fail_after_ten, NULL) ? 0 : -ENOMEM);
}

/*
 * Even if each child starts two more children, without end, the failure of one child
 * stops them all.
 */
SCENARIO(group_that_keeps_growing_ends_with_a_failure)
{
    trace_outcome("owner", group_that_keeps_owner());
    trace("heads: %d", heads);
    return 0;
}

static coil_task *tasks[2];

static int never(void *arg)
{
    (void)arg;
    trace("never printed");
    return 0;
}

static int group_whose_body_fails_at_once_owner(void)
{
    coil_group group;

    coil_group_enter(&group);
    for (int i = 0; i < 2; i++)
        tasks[i] = start_child(&group, never, NULL);
    return leave("group", &group, tasks[1] != NULL ? -EIO : -ENOMEM);
}

/* If the body fails before its first wait, the children never begin. */
SCENARIO(group_whose_body_fails_at_once_begins_no_child)
{
    start(ticker, TURNS(5));
    trace_outcome("owner", group_whose_body_fails_at_once_owner());
    if (tasks[1] == NULL)
        return -ENOMEM;
    trace("children %s %s", state(coil_task_future(tasks[0])),
          state(coil_task_future(tasks[1])));
    return 0;
}

static int group_whose_body_fails_cancels_owner(void)
{
    static struct child children[] = {{"a", 5, 0, 0}, {"b", 6, 0, 0}};
    coil_group group;
    int rc;

    coil_group_enter(&group);
    rc = start_children(&group, children, 2);
    if (rc == 0)
        rc = trace_outcome("body", coil_sleep(COIL_SEC(1)));
    return leave("group", &group, rc == 0 ? -EIO : rc);
}

/*
 * If the body fails after the children have begun, they are cancelled. The group returns
 * the failure when they have ended.
 */
SCENARIO(group_whose_body_fails_cancels_its_children)
{
    trace_outcome("owner", group_whose_body_fails_cancels_owner());
    return 0;
}

static int group_whose_body_makes_owner(void *arg)
{
    coil_group group;
    int rc;

    (void)arg;
    coil_group_enter(&group);
    rc = trace_outcome("body", coil_sleep(COIL_SEC(10)));
    rc = leave("group", &group, rc == -ECANCELED ? -EIO : rc);
    trace("cancelling: %d", coil_task_cancelling(coil_task_current()));
    return rc;
}

/*
 * If the body fails when it is cancelled, the group returns the failure. The request to
 * cancel is still counted.
 */
SCENARIO(group_whose_body_makes_a_failure_of_a_cancellation)
{
    return cancel_after(1, start(group_whose_body_makes_owner, NULL));
}
