/* barrier.c - barriers. */
#include "locks.h"

static coil_barrier barrier_of_1 = COIL_BARRIER_INIT(1);

/* If a barrier is aborted while no task waits, later waits fail at once. */
SCENARIO(barrier_abort_while_nobody_waits)
{
    if (start(ticker, TURNS(1)) == NULL)
        return -ENOMEM;
    trace("abort: %s", outcome(coil_barrier_abort(&barrier_of_1)));
    trace("%zu wait, broken %d", coil_barrier_waiting(&barrier_of_1),
          coil_barrier_broken(&barrier_of_1));
    trace("we: %s", outcome(coil_barrier_wait(&barrier_of_1)));
    trace("abort again: %s", outcome(coil_barrier_abort(&barrier_of_1)));
    trace("we: %s", outcome(coil_barrier_wait(&barrier_of_1)));
    return 0;
}

static coil_barrier barrier_of_5 = COIL_BARRIER_INIT(5);

static int barrier_abort_while_some_party(void *name)
{
    static int left;
    int rc = coil_barrier_wait(&barrier_of_5);

    trace("%s: %s", (char *)name, outcome(rc));
    if (rc == -EPIPE)
        return 0;
    if (++left > 2) {
        coil_barrier_abort(&barrier_of_5);
        trace("%s has broken it", (char *)name);
    } else {
        trace("%s again: %s", (char *)name, outcome(coil_barrier_wait(&barrier_of_5)));
    }
    return 0;
}

/*
 * If a barrier is aborted while some tasks are leaving a round, and others are waiting
 * for the next round, the waits of all these tasks fail.
 */
SCENARIO(barrier_abort_while_some_came_again)
{
    int rc = gather_each(barrier_abort_while_some_party, 5);

    if (rc < 0)
        return rc;
    trace("%zu wait, broken %d", coil_barrier_waiting(&barrier_of_5),
          coil_barrier_broken(&barrier_of_5));
    return 0;
}

static coil_barrier barrier_of_4 = COIL_BARRIER_INIT(4);

static int barrier_aborted_by_a_failing_party(void *name)
{
    int index = coil_barrier_wait(&barrier_of_4);

    trace("%s: index %d", (char *)name, index);
    if (index != 2) {
        trace("%s again: %s", (char *)name, outcome(coil_barrier_wait(&barrier_of_4)));
        return 0;
    }
    trace("%s fails", (char *)name);
    return coil_barrier_abort(&barrier_of_4);
}

/*
 * A task that fails between two rounds aborts the barrier, so the others do not wait
 * forever.
 */
SCENARIO(barrier_aborted_by_a_failing_task)
{
    int rc = gather_each(barrier_aborted_by_a_failing_party, 4);

    if (rc < 0)
        return rc;
    trace("%zu wait, broken %d", coil_barrier_waiting(&barrier_of_4),
          coil_barrier_broken(&barrier_of_4));
    return 0;
}

static coil_barrier barrier_aborted_then_barrier = COIL_BARRIER_INIT(4),
                    barrier_aborted_then_elsewhere = COIL_BARRIER_INIT(4);

static void break_or_find_it_broken(const char *name)
{
    if (coil_barrier_wait(&barrier_aborted_then_barrier) == 2)
        trace("%s breaks it: %s", name,
              outcome(coil_barrier_abort(&barrier_aborted_then_barrier)));
    else
        trace("%s: %s", name, outcome(coil_barrier_wait(&barrier_aborted_then_barrier)));
}

static int barrier_aborted_then_party(void *name)
{
    break_or_find_it_broken(name);
    if (coil_barrier_wait(&barrier_aborted_then_elsewhere) == 2)
        trace("%s resets it: %s", (char *)name,
              outcome(coil_barrier_reset(&barrier_aborted_then_barrier)));
    coil_barrier_wait(&barrier_aborted_then_elsewhere);
    trace("%s at the end: %s", (char *)name,
          outcome(coil_barrier_wait(&barrier_aborted_then_barrier)));
    return 0;
}

/*
 * A reset repairs a broken barrier. The tasks first meet at a second barrier, so that no
 * task waits at the broken barrier during the reset.
 */
SCENARIO(barrier_aborted_then_reset)
{
    int rc = gather_each(barrier_aborted_then_party, 4);

    if (rc < 0)
        return rc;
    trace("%zu wait, broken %d", coil_barrier_waiting(&barrier_aborted_then_barrier),
          coil_barrier_broken(&barrier_aborted_then_barrier));
    return 0;
}

static coil_barrier barrier_of_3 = COIL_BARRIER_INIT(3);

static int party(void *name)
{
    int index = coil_barrier_wait(&barrier_of_3);

    if (index < 0)
        return index;
    trace("%s passes: index %d", (char *)name, index);
    return 0;
}

/*
 * A task that is cancelled while it waits at a barrier no longer counts, so the barrier
 * opens only when another task arrives. Each index is returned exactly once.
 */
SCENARIO(barrier_cancelled_waiter_leaves_its_place)
{
    coil_task *a = start(party, "a"), *b = start(party, "b"), *d;
    coil_future *both[2];
    int rc;

    if (a == NULL || b == NULL)
        return -ENOMEM;
    turns(1);
    trace("%zu wait", coil_barrier_waiting(&barrier_of_3));
    coil_task_cancel(a, NULL);
    turns(1);
    trace("a %s, %zu wait", state(coil_task_future(a)),
          coil_barrier_waiting(&barrier_of_3));
    if (start(party, "c") == NULL)
        return -ENOMEM;
    turns(1);
    trace("%zu wait", coil_barrier_waiting(&barrier_of_3));
    d = start(party, "d");
    if (d == NULL)
        return -ENOMEM;
    both[0] = coil_task_future(b);
    both[1] = coil_task_future(d);
    rc = coil_gather(both, 2, 0, NULL);
    if (rc < 0)
        return rc;
    trace("%zu wait, broken %d", coil_barrier_waiting(&barrier_of_3),
          coil_barrier_broken(&barrier_of_3));
    return 0;
}

static int barrier_counts_party(void *arg)
{
    int index = coil_barrier_wait(&barrier_of_3);

    (void)arg;
    if (index >= 0)
        trace("index %d leaves: %zu wait", index, coil_barrier_waiting(&barrier_of_3));
    return index;
}

/*
 * A barrier counts the waiting tasks. When the barrier opens, the count becomes 0,
 * although not all tasks have left.
 */
SCENARIO(barrier_counts_who_waits)
{
    coil_future *all[3];
    int rc;

    for (int i = 0; i < 3; i++) {
        coil_task *task = start(barrier_counts_party, NULL);

        if (task == NULL)
            return -ENOMEM;
        all[i] = coil_task_future(task);
        turns(1);
        trace("%zu of %zu wait", coil_barrier_waiting(&barrier_of_3),
              coil_barrier_parties(&barrier_of_3));
    }
    rc = coil_wait(all, 3, COIL_WAIT_ALL, COIL_NEVER);
    if (rc < 0)
        return rc;
    trace("%s %s %s", state(all[0]), state(all[1]), state(all[2]));
    return 0;
}

static int newcomer(void *arg)
{
    (void)arg;
    trace("the newcomer comes: %zu wait", coil_barrier_waiting(&barrier_of_4));
    return coil_barrier_wait(&barrier_of_4);
}

static int barrier_drains_party(void *name)
{
    int index = coil_barrier_wait(&barrier_of_4);

    if (index < 0)
        return index;
    trace("%s leaves: %zu wait", (char *)name, coil_barrier_waiting(&barrier_of_4));
    if (*(char *)name == 'a' && start(newcomer, NULL) == NULL)
        return -ENOMEM;
    return index;
}

/*
 * A task that arrives while the tasks of a round are leaving does not count until the
 * last of them has left.
 */
SCENARIO(barrier_drains_before_it_fills)
{
    static const char *const names[] = {"a", "b", "c", "d"};

    for (int i = 0; i < 4; i++)
        if (start(barrier_drains_party, (void *)names[i]) == NULL)
            return -ENOMEM;
    for (int turn = 1; turn < 5; turn++) {
        turns(1);
        trace("turn %d: %zu wait", turn, coil_barrier_waiting(&barrier_of_4));
    }
    return 0;
}

static int barrier_gives_each_party(void *name)
{
    int index;

    trace("%s comes: %zu wait", (char *)name, coil_barrier_waiting(&barrier_of_3));
    index = coil_barrier_wait(&barrier_of_3);
    if (index < 0)
        return index;
    trace("%s passes with index %d", (char *)name, index);
    return 0;
}

/*
 * A task gets its position in the order of arrival as its index. The last task to arrive
 * continues first, because it does not wait.
 */
SCENARIO(barrier_gives_each_its_index)
{
    static const char *const names[] = {"a", "b", "c"};
    coil_group group;
    int rc = 0;

    coil_group_enter(&group);
    for (int i = 0; i < 3 && rc == 0; i++)
        rc = coil_group_spawn(&group, barrier_gives_each_party, (void *)names[i], NULL,
                              NULL);
    rc = coil_group_exit(&group, rc);
    trace("%zu wait, broken %d", coil_barrier_waiting(&barrier_of_3),
          coil_barrier_broken(&barrier_of_3));
    return rc;
}

static int barrier_gives_indexes_party(void *name)
{
    int first = coil_barrier_wait(&barrier_of_4), second;

    if (first < 0)
        return first;
    second = coil_barrier_wait(&barrier_of_4);
    if (second < 0)
        return second;
    trace("%s: %d then %d", (char *)name, first, second);
    return 0;
}

/* The indexes of each round follow the order in which the tasks arrive in that round. */
SCENARIO(barrier_gives_indexes_in_each_round)
{
    int rc = gather_each(barrier_gives_indexes_party, 4);

    if (rc < 0)
        return rc;
    trace("%zu wait, broken %d", coil_barrier_waiting(&barrier_of_4),
          coil_barrier_broken(&barrier_of_4));
    return 0;
}

static coil_barrier barrier_newcomers_barrier = COIL_BARRIER_INIT(5),
                    barrier_newcomers_elsewhere = COIL_BARRIER_INIT(3);

static int pass(const char *name, const char *what, coil_barrier *which)
{
    int index = coil_barrier_wait(which);

    if (index >= 0)
        trace("%s %s: index %d", name, what, index);
    return index < 0 ? index : 0;
}

static int barrier_newcomers_party(void *name)
{
    static int returning = 2;
    int rc = pass(name, "passes", &barrier_newcomers_barrier);

    if (rc == 0 && returning > 0) {
        returning--;
        trace("%s returns at once", (char *)name);
    } else if (rc == 0) {
        rc = pass(name, "was elsewhere", &barrier_newcomers_elsewhere);
    }
    return rc < 0 ? rc : pass(name, "passes again", &barrier_newcomers_barrier);
}

/*
 * Tasks that return to a barrier early wait until all tasks of the round have left, and
 * then belong to the next round. Here, two of five tasks return early.
 */
SCENARIO(barrier_newcomers_wait_while_it_drains)
{
    static const char *const names[] = {"a", "b", "c", "d", "e"};
    coil_group group;
    int rc = 0;

    coil_group_enter(&group);
    for (int i = 0; i < 5 && rc == 0; i++)
        rc = coil_group_spawn(&group, barrier_newcomers_party, (void *)names[i], NULL,
                              NULL);
    rc = coil_group_exit(&group, rc);
    trace("%zu wait", coil_barrier_waiting(&barrier_newcomers_barrier));
    return rc;
}

/* A barrier for one task is passed without a turn of the loop. */
SCENARIO(barrier_of_one_does_not_wait)
{
    int index;

    if (start(ticker, TURNS(1)) == NULL)
        return -ENOMEM;
    index = coil_barrier_wait(&barrier_of_1);
    trace("index %d, %zu wait", index, coil_barrier_waiting(&barrier_of_1));
    trace("broken %d", coil_barrier_broken(&barrier_of_1));
    return 0;
}

static int wait_for(void *barrier_)
{
    return coil_barrier_wait(barrier_);
}

/*
 * A barrier can be passed again as soon as all tasks of the previous round have left. A
 * barrier for one task returns index 0 each time.
 */
SCENARIO(barrier_of_one_passes_again)
{
    for (int i = 0; i < 2; i++) {
        coil_task *task = start(wait_for, &barrier_of_1);

        if (task == NULL)
            return -ENOMEM;
        turns(1);
        trace("%c: %s, %zu wait", "ab"[i], state(coil_task_future(task)),
              coil_barrier_waiting(&barrier_of_1));
    }
    trace("we: %s", outcome(coil_barrier_wait(&barrier_of_1)));
    trace("we again: %s", outcome(coil_barrier_wait(&barrier_of_1)));
    return 0;
}

static int barrier_passed_party(void *name)
{
    static const char *const rounds[] = {"first", "second"};

    for (int i = 0; i < 2; i++) {
        int rc = coil_barrier_wait(&barrier_of_3);

        if (rc < 0)
            return rc;
        trace("%s: %s", (char *)name, rounds[i]);
    }
    return 0;
}

/* Tasks pass a barrier a second time only when all of them have arrived again. */
SCENARIO(barrier_passed_twice_by_the_same_tasks)
{
    static const char *const names[] = {"a", "b", "c"};
    coil_group group;
    int rc = 0;

    coil_group_enter(&group);
    for (int i = 0; i < 3 && rc == 0; i++)
        rc = coil_group_spawn(&group, barrier_passed_party, (void *)names[i], NULL, NULL);
    rc = coil_group_exit(&group, rc);
    trace("%zu wait, broken %d", coil_barrier_waiting(&barrier_of_3),
          coil_barrier_broken(&barrier_of_3));
    return rc;
}

static int barrier_reset_breaks_party(void *name)
{
    trace("%s: %s", (char *)name, outcome(coil_barrier_wait(&barrier_of_4)));
    return 0;
}

static int resetter(void *arg)
{
    (void)arg;
    trace("resets while %zu wait", coil_barrier_waiting(&barrier_of_4));
    coil_barrier_reset(&barrier_of_4);
    trace("has reset: %zu wait, broken %d", coil_barrier_waiting(&barrier_of_4),
          coil_barrier_broken(&barrier_of_4));
    return 0;
}

/* A reset ends the waits of all waiting tasks, but does not break the barrier. */
SCENARIO(barrier_reset_breaks_who_waits)
{
    static const char *const names[] = {"a", "b", "c"};
    coil_future *all[3];
    int rc;

    for (int i = 0; i < 3; i++) {
        coil_task *task = start(barrier_reset_breaks_party, (void *)names[i]);

        if (task == NULL)
            return -ENOMEM;
        all[i] = coil_task_future(task);
    }
    turns(1);
    if (start(resetter, NULL) == NULL)
        return -ENOMEM;
    rc = coil_gather(all, 3, 0, NULL);
    if (rc < 0)
        return rc;
    trace("%zu wait, broken %d", coil_barrier_waiting(&barrier_of_4),
          coil_barrier_broken(&barrier_of_4));
    return 0;
}

static int barrier_reset_by_the_last_party(void *name)
{
    static int left;

    trace("%s: %s", (char *)name, outcome(coil_barrier_wait(&barrier_of_4)));
    if (++left == 4) {
        coil_barrier_reset(&barrier_of_4);
        trace("%s has reset: %zu wait", (char *)name,
              coil_barrier_waiting(&barrier_of_4));
    }
    trace("%s: second %s", (char *)name, outcome(coil_barrier_wait(&barrier_of_4)));
    trace("%s: third %s", (char *)name, outcome(coil_barrier_wait(&barrier_of_4)));
    return 0;
}

/*
 * A reset by the last task that leaves a round does not end the waits of tasks that have
 * returned, because they belong to the next round.
 */
SCENARIO(barrier_reset_by_the_last_to_leave)
{
    int rc = gather_each(barrier_reset_by_the_last_party, 4);

    if (rc < 0)
        return rc;
    trace("%zu wait, broken %d", coil_barrier_waiting(&barrier_of_4),
          coil_barrier_broken(&barrier_of_4));
    return 0;
}

static int barrier_reset_then_party(void *name)
{
    trace("%s: %s", (char *)name, outcome(coil_barrier_wait(&barrier_of_4)));
    trace("%s again: %s", (char *)name, outcome(coil_barrier_wait(&barrier_of_4)));
    return 0;
}

static int reset(void *arg)
{
    (void)arg;
    return coil_barrier_reset(&barrier_of_4);
}

static int last(void *arg)
{
    (void)arg;
    trace("the last: %s", outcome(coil_barrier_wait(&barrier_of_4)));
    return 0;
}

/*
 * Tasks may wait again after a reset has ended their waits. These tasks pass the barrier
 * when another task joins them.
 */
SCENARIO(barrier_reset_then_filled_again)
{
    static const char *const names[] = {"a", "b", "c"};

    for (int i = 0; i < 3; i++)
        if (start(barrier_reset_then_party, (void *)names[i]) == NULL)
            return -ENOMEM;
    if (start(reset, NULL) == NULL)
        return -ENOMEM;
    turns(1);
    trace("%zu wait", coil_barrier_waiting(&barrier_of_4));
    if (start(last, NULL) == NULL)
        return -ENOMEM;
    turns(3);
    trace("%zu wait, broken %d", coil_barrier_waiting(&barrier_of_4),
          coil_barrier_broken(&barrier_of_4));
    return 0;
}

static int barrier_reset_while_half_party(void *name)
{
    static int left;
    int rc = coil_barrier_wait(&barrier_of_5);

    trace("%s: %s, %zu wait", (char *)name, outcome(rc),
          coil_barrier_waiting(&barrier_of_5));
    left += rc != -EPIPE;
    if (left == 3 && rc != -EPIPE) {
        coil_barrier_reset(&barrier_of_5);
        trace("%s has reset: %zu wait", (char *)name,
              coil_barrier_waiting(&barrier_of_5));
    }
    return 0;
}

/*
 * If the third of five tasks resets the barrier while it leaves, the waits of the last
 * two tasks fail.
 */
SCENARIO(barrier_reset_while_half_have_left)
{
    int rc = gather_each(barrier_reset_while_half_party, 5);

    if (rc < 0)
        return rc;
    trace("%zu wait, broken %d", coil_barrier_waiting(&barrier_of_5),
          coil_barrier_broken(&barrier_of_5));
    return 0;
}

static coil_barrier barrier_of_2 = COIL_BARRIER_INIT(2);

/* Resetting a barrier without waiting tasks has no effect, and takes no turn. */
SCENARIO(barrier_reset_while_nobody_waits)
{
    coil_task *task;

    if (start(ticker, TURNS(2)) == NULL)
        return -ENOMEM;
    trace("reset: %s", outcome(coil_barrier_reset(&barrier_of_2)));
    trace("%zu wait, broken %d", coil_barrier_waiting(&barrier_of_2),
          coil_barrier_broken(&barrier_of_2));
    task = start(wait_for, &barrier_of_2);
    if (task == NULL)
        return -ENOMEM;
    turns(1);
    trace("we: %s", outcome(coil_barrier_wait(&barrier_of_2)));
    trace("the other: %s", outcome(coil_task_await(task)));
    return 0;
}

static int again(const char *name)
{
    trace("%s again: %s", name, outcome(coil_barrier_wait(&barrier_of_5)));
    return 0;
}

static int barrier_reset_while_some_party(void *name)
{
    static int left;
    int rc = coil_barrier_wait(&barrier_of_5);

    trace("%s: %s", (char *)name, outcome(rc));
    if (rc != -EPIPE && ++left > 2) {
        coil_barrier_reset(&barrier_of_5);
        trace("%s has reset", (char *)name);
    }
    return again(name);
}

/*
 * A reset ends the waits of tasks that have not left their round. Tasks that wait for the
 * next round continue to wait, and all tasks meet in that round.
 */
SCENARIO(barrier_reset_while_some_came_again)
{
    int rc = gather_each(barrier_reset_while_some_party, 5);

    if (rc < 0)
        return rc;
    trace("%zu wait, broken %d", coil_barrier_waiting(&barrier_of_5),
          coil_barrier_broken(&barrier_of_5));
    return 0;
}

static int impatient(void *arg)
{
    coil_scope scope;
    int rc = coil_scope_enter(&scope, coil_in(COIL_SEC(2)));

    (void)arg;
    return rc < 0 ? rc : coil_scope_exit(&scope, coil_barrier_wait(&barrier_of_2));
}

static int wait_a_while(void)
{
    coil_scope scope;
    int rc = coil_scope_enter(&scope, coil_in(COIL_SEC(9)));

    return rc < 0 ? rc : coil_scope_exit(&scope, coil_barrier_wait(&barrier_of_2));
}

/* If a wait at a barrier times out, the task leaves the barrier without breaking it. */
SCENARIO(barrier_wait_times_out_and_breaks_nobody)
{
    coil_task *task;

    trace("alone: %s", outcome(impatient(NULL)));
    trace("%zu wait, broken %d", coil_barrier_waiting(&barrier_of_2),
          coil_barrier_broken(&barrier_of_2));
    task = start(impatient, NULL);
    if (task == NULL)
        return -ENOMEM;
    coil_sleep(COIL_SEC(1));
    trace("we: %s", outcome(wait_a_while()));
    trace("the other: %s", outcome(coil_task_await(task)));
    return 0;
}

/*
 * If a task is cancelled in the turn in which the barrier opens, its wait returns the
 * cancellation. The other tasks pass, and the barrier can be used for the next round.
 */
SCENARIO(barrier_waiter_cancelled_as_it_opens)
{
    coil_task *a = start(party, "a"), *b = start(party, "b");

    if (a == NULL || b == NULL)
        return -ENOMEM;
    turns(1);
    trace("we pass: index %d", coil_barrier_wait(&barrier_of_3));
    coil_task_cancel(a, NULL);
    turns(1);
    trace("a %s, b %s, %zu wait", state(coil_task_future(a)), state(coil_task_future(b)),
          coil_barrier_waiting(&barrier_of_3));
    if (start(party, "c") == NULL || start(party, "d") == NULL ||
        start(party, "e") == NULL)
        return -ENOMEM;
    turns(2);
    trace("%zu wait, broken %d", coil_barrier_waiting(&barrier_of_3),
          coil_barrier_broken(&barrier_of_3));
    return 0;
}
