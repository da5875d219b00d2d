/*
 * eager.c - eager tasks, which run their first step inside the call that spawns them.
 */
#include "../scenario.h"

static int count(void *depth)
{
    coil_spawn_opts opts = {.eager = true, .stack_bytes = 32 * 1024};
    coil_task *task;
    int rc;

    if (depth == NULL)
        return 0;
    rc = coil_spawn(count, (void *)((intptr_t)depth - 1), &opts, &task);
    if (rc < 0)
        return rc;
    rc = coil_task_await(task);
    coil_task_release(task);
    return rc < 0 ? rc : 1 + rc;
}

/*
 * If each task in a chain spawns a child eagerly and awaits it, and no task waits for
 * anything else, the whole chain takes no turn.
 */
SCENARIO(eager_chain_of_awaits_takes_no_turn)
{
    coil_task *task;

    start(ticker, TURNS(2));
    task = start_with(count, (void *)(intptr_t)100, &(coil_spawn_opts){.eager = true});
    if (task == NULL)
        return -ENOMEM;
    trace_outcome("a hundred deep", coil_task_await(task));
    return turns(2);
}

static int eager_child_awaits_child(void *spawner)
{
    trace("child waits");
    trace_outcome("child", coil_task_await(spawner));
    return 0;
}

static int spawner(void *arg)
{
    int rc;

    (void)arg;
    if (start_with(eager_child_awaits_child, coil_task_current(),
                   &(coil_spawn_opts){.eager = true}) == NULL)
        return -ENOMEM;
    trace("spawner goes on");
    rc = coil_sleep(COIL_SEC(1));
    return rc < 0 ? rc : 8;
}

/*
 * An eager child may await its spawner, even before the spawner has a reference to the
 * child.
 */
SCENARIO(eager_child_awaits_its_spawner)
{
    coil_task *task = start(spawner, NULL);

    if (task == NULL)
        return -ENOMEM;
    trace_outcome("spawner", coil_task_await(task));
    return turns(1);
}

static int eager_child_cancels_its_spawner_child(void *spawner)
{
    trace("cancel: %d", coil_task_cancel(spawner, NULL));
    return 0;
}

/* If an eager child cancels its spawner, the next wait of the spawner is cancelled. */
SCENARIO(eager_child_cancels_its_spawner)
{
    coil_task *me = coil_task_current();

    start(ticker, TURNS(2));
    if (start_with(eager_child_cancels_its_spawner_child, me,
                   &(coil_spawn_opts){.eager = true}) == NULL)
        return -ENOMEM;
    trace("requests: %d", coil_task_cancelling(me));
    trace_outcome("waits", coil_sleep(COIL_SEC(5)));
    coil_cancel_caught();
    trace("left: %d", coil_uncancel());
    trace_outcome("waits", coil_sleep(COIL_SEC(5)));
    return 0;
}

static int eager_child_cancels_itself_child(void *arg)
{
    (void)arg;
    coil_task_cancel(coil_task_current(), NULL);
    trace("child waits");
    trace_outcome("child", coil_sleep(COIL_SEC(5)));
    return -ECANCELED;
}

/*
 * If an eager child cancels itself before its first wait, its spawner continues as usual,
 * and then that wait returns the cancellation.
 */
SCENARIO(eager_child_cancels_itself)
{
    coil_task *task;

    start(ticker, TURNS(2));
    task = start_with(eager_child_cancels_itself_child, NULL,
                      &(coil_spawn_opts){.eager = true});
    if (task == NULL)
        return -ENOMEM;
    trace("spawned: %s", state(coil_task_future(task)));
    trace_outcome("awaited", coil_task_await(task));
    return 0;
}

static int eager_child_fails_child(void *arg)
{
    (void)arg;
    trace("child fails");
    return -EIO;
}

static int sleeper(void *arg)
{
    (void)arg;
    return coil_sleep(COIL_SEC(1));
}

/* The failure of an eager child is returned to its awaiter, not to its spawner. */
SCENARIO(eager_child_fails_at_once)
{
    coil_task *task =
        start_with(eager_child_fails_child, NULL, &(coil_spawn_opts){.eager = true});
    coil_task *other = start(sleeper, NULL);

    if (task == NULL || other == NULL)
        return -ENOMEM;
    trace("spawned: %s", state(coil_task_future(task)));
    trace_outcome("gathered", coil_gather((coil_future *[]){coil_task_future(task),
                                                            coil_task_future(other)},
                                          2, 0, NULL));
    trace_outcome("awaited", coil_task_await(task));
    return 0;
}

static coil_var color = COIL_VAR_INIT("color", (void *)"none");

static const char *get(void)
{
    return coil_var_get(&color);
}

static int set(const char *value)
{
    return coil_var_set(&color, (void *)(uintptr_t)value, NULL);
}

static int eager_child_has_a_context_child(void *arg)
{
    int rc;

    (void)arg;
    trace("child: %s", get());
    rc = set("green");
    if (rc == 0)
        rc = coil_sleep(COIL_SEC(1));
    trace("child: %s", get());
    return rc == 0 ? set("blue") : rc;
}

/*
 * An eager child begins with the values of its spawner. The spawner does not see the
 * values that the child sets.
 */
SCENARIO(eager_child_has_a_context_of_its_own)
{
    coil_task *task;
    int rc = set("red");

    if (rc < 0)
        return rc;
    task = start_with(eager_child_has_a_context_child, NULL,
                      &(coil_spawn_opts){.eager = true});
    trace("main: %s", get());
    if (task == NULL)
        return -ENOMEM;
    rc = coil_task_await(task);
    trace("main: %s", get());
    return rc;
}

static int add_name(coil_task *task, void *text)
{
    strcat(strcat(text, " "), coil_task_name(task));
    return 0;
}

static void look(const char *who)
{
    char text[256] = "";

    coil_task_each(add_name, text);
    trace("%s sees%s", who, text);
}

static int eager_child_is_among_child(void *arg)
{
    (void)arg;
    look("child");
    return 0;
}

/* An eager child that does not wait is in the list of all tasks only while it runs. */
SCENARIO(eager_child_is_among_all_tasks_while_it_runs)
{
    if (start_with(eager_child_is_among_child, NULL,
                   &(coil_spawn_opts){.eager = true, .name = "nimble"}) == NULL)
        return -ENOMEM;
    look("main");
    return 0;
}

static int eager_child_is_cancelled_child(void *arg)
{
    int rc;

    (void)arg;
    trace("child waits");
    rc = coil_sleep(COIL_SEC(9));
    if (rc == -ECANCELED)
        trace("child is cancelled: %s", coil_cancel_reason());
    return rc;
}

/*
 * If an eager child is cancelled while it waits, that wait returns the cancellation and
 * its reason.
 */
SCENARIO(eager_child_is_cancelled_where_it_waits)
{
    coil_task *task = start_with(eager_child_is_cancelled_child, NULL,
                                 &(coil_spawn_opts){.eager = true});

    if (task == NULL)
        return -ENOMEM;
    trace("cancel: %d", coil_task_cancel(task, "changed my mind"));
    trace("requests: %d, %s", coil_task_cancelling(task), state(coil_task_future(task)));
    trace_outcome("awaited", coil_task_await(task));
    return 0;
}

static const char *current(void)
{
    coil_task *task = coil_task_current();

    return task != NULL ? coil_task_name(task) : "none";
}

static int eager_child_is_the_current_child(void *arg)
{
    int rc;

    (void)arg;
    trace("begins: %s", current());
    rc = coil_sleep(COIL_SEC(1));
    trace("goes on: %s", current());
    return rc;
}

/*
 * While an eager child runs, it is the current task. When the spawn returns, the current
 * task is the spawner again.
 */
SCENARIO(eager_child_is_the_current_task_while_it_runs)
{
    coil_task *task;
    int rc;

    trace("before: %s", current());
    task = start_with(eager_child_is_the_current_child, NULL,
                      &(coil_spawn_opts){.eager = true, .name = "child"});
    trace("after: %s", current());
    if (task == NULL)
        return -ENOMEM;
    rc = coil_task_await(task);
    trace("at the end: %s", current());
    return rc;
}

static int eager_child_of_a_callback_child(void *arg)
{
    int rc;

    (void)arg;
    trace("child begins");
    rc = coil_yield();
    trace("child goes on");
    return rc;
}

static void callback(void *arg)
{
    (void)arg;
    trace("callback begins");
    start_with(eager_child_of_a_callback_child, NULL, &(coil_spawn_opts){.eager = true});
    trace("callback ends, current task: %d", coil_task_current() != NULL);
}

/* If a callback spawns eagerly, the child runs inside the callback. */
SCENARIO(eager_child_of_a_callback)
{
    int rc;

    start(ticker, TURNS(3));
    rc = coil_call_soon(callback, NULL, NULL);
    return rc < 0 ? rc : turns(3);
}

static int setter(void *future)
{
    trace("child sets");
    return coil_future_set(future, 4, NULL, NULL);
}

/*
 * A result that a child sets before its first wait is available to its spawner at once.
 */
SCENARIO(eager_child_sets_what_its_spawner_awaits)
{
    coil_future *future = new_future();
    coil_task *task;

    if (future == NULL)
        return -ENOMEM;
    task = start_with(setter, future, &(coil_spawn_opts){.eager = true});
    if (task == NULL)
        return -ENOMEM;
    trace("child: %s, future: %s", state(coil_task_future(task)), state(future));
    return trace_outcome("awaited", coil_await(future)) < 0 ? -EPROTO : 0;
}

static int eager_child_that_does_child(void *arg)
{
    (void)arg;
    trace("child");
    return 5;
}

/*
 * An eager child that does not wait has ended when the spawn returns, so awaiting the
 * child takes no turn.
 */
SCENARIO(eager_child_that_does_not_wait_takes_no_turn)
{
    coil_task *task;

    start(ticker, TURNS(3));
    task =
        start_with(eager_child_that_does_child, NULL, &(coil_spawn_opts){.eager = true});
    if (task == NULL)
        return -ENOMEM;
    trace("spawned: %s", state(coil_task_future(task)));
    trace_outcome("awaited", coil_task_await(task));
    trace("yields");
    return turns(2);
}

static int eager_child_that_has_ended_child(void *arg)
{
    (void)arg;
    return 7;
}

/* Cancelling an eager child that has ended has no effect. */
SCENARIO(eager_child_that_has_ended_cannot_be_cancelled)
{
    coil_task *task = start_with(eager_child_that_has_ended_child, NULL,
                                 &(coil_spawn_opts){.eager = true});

    if (task == NULL)
        return -ENOMEM;
    trace("cancel: %d", coil_task_cancel(task, NULL));
    trace("requests: %d", coil_task_cancelling(task));
    trace_outcome("awaited", coil_task_await(task));
    trace("cancelled: %d", coil_future_cancelled(coil_task_future(task)));
    return 0;
}

static int eager_child_that_waits_hands_child(void *arg)
{
    int rc;

    (void)arg;
    trace("child begins");
    rc = coil_sleep(COIL_SEC(2));
    if (rc < 0)
        return rc;
    trace("child goes on");
    return 6;
}

/* An eager child runs until it waits; then its spawner continues. */
SCENARIO(eager_child_that_waits_hands_back_to_its_spawner)
{
    coil_task *task = start_with(eager_child_that_waits_hands_child, NULL,
                                 &(coil_spawn_opts){.eager = true});

    if (task == NULL)
        return -ENOMEM;
    trace("spawned: %s", state(coil_task_future(task)));
    coil_sleep(COIL_SEC(1));
    trace("a second later: %s", state(coil_task_future(task)));
    return trace_outcome("awaited", coil_task_await(task)) < 0 ? -EPROTO : 0;
}

static int eager_child_that_waits_stays_child(void *future)
{
    int rc;

    look("child");
    rc = coil_await(future);
    look("child");
    return rc;
}

/* An eager child that waits is in the list of all tasks until it has ended. */
SCENARIO(eager_child_that_waits_stays_among_all_tasks)
{
    coil_future *future = new_future();
    coil_task *task;
    int rc;

    if (future == NULL)
        return -ENOMEM;
    task = start_with(eager_child_that_waits_stays_child, future,
                      &(coil_spawn_opts){.eager = true, .name = "patient"});
    if (task == NULL)
        return -ENOMEM;
    look("main");
    coil_future_set(future, 0, NULL, NULL);
    rc = coil_task_await(task);
    look("main");
    return rc;
}

static int body(void *name)
{
    int rc;

    trace("%s begins", (char *)name);
    rc = coil_yield();
    trace("%s goes on", (char *)name);
    return rc;
}

/*
 * An eager child that yields is queued behind the tasks that are ready at that time, and
 * before tasks that become ready later.
 */
SCENARIO(eager_children_keep_their_place_in_the_ready_queue)
{
    static const coil_spawn_opts eager = {.eager = true};
    coil_task *tasks[4] = {start(body, "a"), start_with(body, "b", &eager),
                           start(body, "c"), start_with(body, "d", &eager)};
    coil_future *futures[4];

    trace("spawned");
    for (int i = 0; i < 4; i++) {
        if (tasks[i] == NULL)
            return -ENOMEM;
        futures[i] = coil_task_future(tasks[i]);
    }
    return coil_gather(futures, 4, 0, NULL) < 0 ? -EPROTO : (trace("gathered"), 0);
}

static int eager_children_of_a_group_child(void *arg)
{
    int seconds = *(int *)arg;

    trace("child of %d s begins", seconds);
    if (coil_sleep(COIL_SEC(seconds)) == -ECANCELED) {
        trace("child of %d s is cancelled", seconds);
        return -ECANCELED;
    }
    return -EIO;
}

/*
 * If an eager child of a group waits and then fails, the other children are cancelled, as
 * for any other child.
 */
SCENARIO(eager_children_of_a_group_fail_later)
{
    static const coil_spawn_opts eager = {.eager = true};
    int one = 1, two = 2, rc;
    coil_group group;

    coil_group_enter(&group);
    rc = coil_group_spawn(&group, eager_children_of_a_group_child, &one, &eager, NULL);
    if (rc == 0)
        rc =
            coil_group_spawn(&group, eager_children_of_a_group_child, &two, &eager, NULL);
    if (rc == 0) {
        trace("body waits");
        rc = coil_sleep(COIL_SEC(5));
    }
    coil_group_exit(&group, rc);
    trace("failures: %zu", coil_group_error_count(&group));
    return 0;
}

static int begun;

static int eager_gathers_branch(void *arg)
{
    int depth = *(int *)arg, inner = depth - 1, rc = 0;
    coil_task *tasks[3] = {NULL};
    coil_future *futures[3];

    begun++;
    if (depth == 0)
        return 0;
    for (int i = 0; i < 3 && rc == 0; i++) {
        rc = coil_spawn(eager_gathers_branch, &inner, &(coil_spawn_opts){.eager = true},
                        &tasks[i]);
        futures[i] = rc == 0 ? coil_task_future(tasks[i]) : NULL;
    }
    if (rc == 0)
        rc = coil_gather(futures, 3, 0, NULL);
    for (int i = 0; i < 3; i++)
        coil_task_release(tasks[i]);
    return rc;
}

/* Nested gathers of children that ended during their spawn take no turn. */
SCENARIO(eager_gathers_within_gathers_take_no_turn)
{
    int depth = 3;

    start(ticker, TURNS(2));
    trace_outcome("outermost", eager_gathers_branch(&depth));
    trace("children: %d", begun);
    return turns(2);
}

static int level(void *arg)
{
    int depth = *(int *)arg, inner = depth - 1, rc;
    coil_task *task = NULL;

    trace("%d begins", depth);
    if (depth > 1)
        task = start_with(level, &inner, &(coil_spawn_opts){.eager = true});
    trace("%d waits", depth);
    rc = coil_sleep(COIL_SEC(depth));
    trace("%d goes on", depth);
    if (task != NULL)
        rc = coil_task_await(task);
    return rc;
}

/*
 * Eager children may spawn eager children. When a child waits, its own spawner continues.
 */
SCENARIO(eager_grandchildren_begin_before_their_parents_wait)
{
    int depth = 3;
    coil_task *task = start_with(level, &depth, &(coil_spawn_opts){.eager = true});

    trace("main waits");
    return task != NULL ? coil_task_await(task) : -ENOMEM;
}

#define DEPTH 4

static int eager_groups_branch(void *arg)
{
    int depth = *(int *)arg, inner = depth - 1, rc = 0;
    coil_group group;

    begun++;
    if (depth == 0)
        return 0;
    coil_group_enter(&group);
    for (int i = 0; i < 3 && rc == 0; i++)
        rc = coil_group_spawn(&group, eager_groups_branch, &inner,
                              &(coil_spawn_opts){.eager = true}, NULL);
    return coil_group_exit(&group, rc);
}

/*
 * Eager children may contain groups of eager children. If none of them waits for anything
 * else, each child ends during its spawn.
 */
SCENARIO(eager_groups_within_groups)
{
    int depth = DEPTH;

    trace("begins");
    trace_outcome("outermost", eager_groups_branch(&depth));
    trace("children: %d", begun);
    return 0;
}

static int eager_task_child(void *arg)
{
    (void)arg;
    trace("child");
    return 9;
}

/*
 * Before the loop runs there is no spawner to return to, so an eager task begins in the
 * first turn.
 */
PLAIN_SCENARIO(eager_task_made_before_the_loop_runs_begins_with_it)
{
    coil_loop *loop;
    coil_task *task;
    int rc = coil_loop_create(&(coil_loop_opts){.virtual_clock = true}, &loop);

    if (rc < 0)
        return rc;
    task = start_with(eager_task_child, NULL, &(coil_spawn_opts){.eager = true});
    if (task != NULL) {
        trace("made: %s", state(coil_task_future(task)));
        trace("result: %s", outcome(coil_run_until_complete(coil_task_future(task))));
    }
    coil_loop_close(loop);
    return task != NULL ? 0 : -ENOMEM;
}
