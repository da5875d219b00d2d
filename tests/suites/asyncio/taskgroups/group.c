/* group.c - task groups: children and cancellation. */
#include "taskgroups.h"

static int group_cancelled_at_its_exit_owner(void *arg)
{
    static struct child children[] = {
        {"a", 5, 0, 0}, {"b", 5, 0, 0}, {"c", 5, 0, 0}, {"d", 5, 0, 0}, {"e", 5, 0, 0}};
    coil_group group;

    (void)arg;
    coil_group_enter(&group);
    return leave("group", &group, start_children(&group, children, 5));
}

/*
 * If the owner is cancelled while it waits for its children, the children are cancelled
 * in the order in which they started. When they have ended, the exit returns the
 * cancellation.
 */
SCENARIO(group_cancelled_at_its_exit_cancels_its_children)
{
    return cancel_after(1, start(group_cancelled_at_its_exit_owner, NULL));
}

static int group_cancelled_in_its_body_owner(void *arg)
{
    static struct child children[] = {{"a", 5, 0, 0}, {"b", 5, 0, 0}, {"c", 5, 0, 0}};
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
 * Cancelling the body of a group does not cancel the children at once. They are cancelled
 * when the body passes -ECANCELED to the group's exit.
 */
SCENARIO(group_cancelled_in_its_body_cancels_its_children)
{
    return cancel_after(1, start(group_cancelled_in_its_body_owner, NULL));
}

static int trace_name(void *arg)
{
    (void)arg;
    trace("child is %s", coil_task_name(coil_task_current()));
    return coil_yield();
}

/* A child has the name with which it was started. */
SCENARIO(group_child_has_the_name_it_was_given)
{
    coil_spawn_opts opts = {.name = "yolo"};
    coil_group group;
    coil_task *task;
    int rc;

    coil_group_enter(&group);
    rc = coil_group_spawn(&group, trace_name, NULL, &opts, &task);
    if (rc == 0)
        trace("it is %s", coil_task_name(task));
    return leave("group", &group, rc);
}

static int come_and_go(void *arg)
{
    char name[] = {*(char *)arg, '\0'};

    trace("%s begins", name);
    return trace_outcome(name, coil_sleep(COIL_SEC(3)));
}

/* Leaving a group whose children have all ended takes no turn. */
SCENARIO(group_children_come_and_go_while_the_body_runs)
{
    static char names[] = "01234";
    coil_group group;
    int rc = 0;

    coil_group_enter(&group);
    for (int i = 0; i < 5 && rc == 0; i++) {
        coil_sleep(COIL_SEC(1));
        rc = start_child(&group, come_and_go, &names[i]) != NULL ? 0 : -ENOMEM;
    }
    if (rc == 0)
        rc = trace_outcome("body", coil_sleep(COIL_SEC(4)));
    start(ticker, TURNS(3));
    return leave("group", &group, rc);
}

static int root(void *group)
{
    static struct child leaves[] = {{"a", 1, 0, 0}, {"b", 2, 0, 0}};

    trace_outcome("root", coil_sleep(COIL_SEC(1)));
    return start_children(group, leaves, 2);
}

/*
 * A child may start further children of its group. The owner, which is already waiting to
 * leave the group, waits for these children too.
 */
SCENARIO(group_children_may_start_children)
{
    coil_group group;

    coil_group_enter(&group);
    return leave("group", &group, start_child(&group, root, &group) ? 0 : -ENOMEM);
}

static const coil_var var = COIL_VAR_INIT("var", (void *)0);

static int get(void *arg)
{
    (void)arg;
    return (int)(intptr_t)coil_var_get(&var);
}

static int set_later(void *value)
{
    coil_yield();
    trace("child finds %d", get(NULL));
    return coil_var_set(&var, value, NULL);
}

/* Children that share one context see the values that earlier children set. */
SCENARIO(group_children_share_a_context)
{
    coil_spawn_opts opts = {.context = coil_context_copy()};
    coil_group group;
    coil_task *task;
    int rc = opts.context != NULL ? 0 : -ENOMEM;

    coil_group_enter(&group);
    for (intptr_t i = 1; i <= 2 && rc == 0; i++) {
        rc = coil_group_spawn(&group, set_later, (void *)i, &opts, &task);
        if (rc == 0)
            rc = coil_task_await(task);
        if (rc == 0)
            trace("there %d, here %d", coil_context_run(opts.context, get, NULL),
                  get(NULL));
    }
    coil_context_release(opts.context);
    return leave("group", &group, rc);
}

/*
 * If another task cancels a child, the group does not fail: more children may start, and
 * the group succeeds.
 */
SCENARIO(group_goes_on_when_a_child_is_cancelled)
{
    static struct child children[] = {{"a", 10, 0, 0}, {"b", 2, 0, 0}};
    coil_group group;
    coil_task *a, *b;

    coil_group_enter(&group);
    a = start_child(&group, child, &children[0]);
    if (a == NULL)
        return coil_group_exit(&group, -ENOMEM);
    coil_sleep(COIL_SEC(1));
    trace("cancel a: %d", coil_task_cancel(a, NULL));
    b = start_child(&group, child, &children[1]);
    leave("group", &group, b != NULL ? 0 : -ENOMEM);
    if (b != NULL)
        trace("a %s, b %s", state(coil_task_future(a)), state(coil_task_future(b)));
    return 0;
}

/*
 * A child may start while other children are running. The group waits for this child too.
 */
SCENARIO(group_takes_a_child_while_another_runs)
{
    static struct child children[] = {{"a", 1, 0, 0}, {"b", 3, 0, 0}};
    coil_group group;
    int rc;

    coil_group_enter(&group);
    rc = start_children(&group, &children[0], 1);
    if (rc == 0)
        rc = trace_outcome("body", coil_sleep(COIL_SEC(2)));
    if (rc == 0)
        rc = start_children(&group, &children[1], 1);
    return leave("group", &group, rc);
}

static int fail_in_a_turn(void *arg)
{
    int rc = coil_yield();

    (void)arg;
    return rc == 0 ? -EIO : rc;
}

static void count(const char *where)
{
    trace("%s: cancelling %d", where, coil_task_cancelling(coil_task_current()));
}

/*
 * The failure of a child cancels the owner. Inside the group, cancelling() counts this
 * request. After the exit of the group, the request is no longer counted.
 */
SCENARIO(group_takes_its_request_to_its_owner_back)
{
    coil_group group;
    int rc;

    coil_group_enter(&group);
    if (start_child(&group, fail_in_a_turn, NULL) == NULL)
        return coil_group_exit(&group, -ENOMEM);
    count("body");
    rc = trace_outcome("body", coil_sleep(COIL_SEC(10)));
    count("cancelled body");
    leave("group", &group, rc);
    count("after");
    trace_outcome("sleep", coil_sleep(COIL_SEC(1)));
    return 0;
}

static void try_to_start(void *group)
{
    static struct child late = {"late", 2, 0, 0};
    int rc = coil_group_spawn(group, child, &late, NULL, NULL);

    trace("%s", rc == -ESHUTDOWN ? "refused" : "started");
}

/*
 * While the owner waits to leave the group, further children may start until the last
 * child has ended. After that, no child can start.
 */
SCENARIO(group_that_has_ended_takes_no_child)
{
    static struct child children[] = {{"child", 2, 0, 0}};
    coil_group group;
    int rc;

    coil_group_enter(&group);
    rc = start_children(&group, children, 1);
    if (rc == 0)
        rc = coil_call_later(COIL_SEC(1), try_to_start, &group, NULL);
    rc = leave("group", &group, rc);
    if (rc < 0)
        return rc;
    try_to_start(&group);
    coil_group_enter(&group);
    leave("group", &group, 0);
    try_to_start(&group);
    return 0;
}

/*
 * A group ends when its last child has ended. After that, the children's results are
 * available.
 */
SCENARIO(group_waits_for_its_children)
{
    static struct child children[] = {{"a", 1, 42, 0}, {"b", 2, 11, 0}};
    coil_task *a, *b;
    coil_group group;

    coil_group_enter(&group);
    a = start_child(&group, child, &children[0]);
    b = start_child(&group, child, &children[1]);
    if (b == NULL)
        return coil_group_exit(&group, -ENOMEM);
    trace("body: %s %s", state(coil_task_future(a)), state(coil_task_future(b)));
    leave("group", &group, 0);
    trace("after: %s %s", state(coil_task_future(a)), state(coil_task_future(b)));
    return 0;
}

static int group_without_owner(void *arg)
{
    coil_group group;

    (void)arg;
    coil_group_enter(&group);
    return leave("group", &group, trace_outcome("body", coil_sleep(COIL_SEC(10))));
}

/* Leaving a group without children takes no turn, even if the owner is cancelled. */
SCENARIO(group_without_children_is_cancelled_with_its_body)
{
    coil_group empty;
    coil_task *task;

    start(ticker, TURNS(4));
    coil_group_enter(&empty);
    leave("empty", &empty, 0);
    task = start(group_without_owner, NULL);
    if (task == NULL)
        return -ENOMEM;
    turns(2);
    trace("cancel: %d", coil_task_cancel(task, NULL));
    trace_outcome("task", coil_task_await(task));
    return 0;
}
