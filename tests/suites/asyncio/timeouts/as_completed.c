/*
 * as_completed.c - as_completed(): returns futures in the order in which they end.
 */
#include "each.h"

/* Once the last future has been returned, the deadline no longer applies. */
SCENARIO(as_completed_forgets_a_deadline_that_is_not_reached)
{
    static struct work works[] = {{"a", 1, 1}};
    coil_future *futures[1], *next;
    coil_as_completed each;
    int rc;

    if (!start_all(works, futures, 1))
        return -ENOMEM;
    rc = coil_as_completed_init(&each, futures, 1, coil_in(COIL_SEC(5)));
    while (rc >= 0 && (rc = coil_as_completed_next(&each, &next)) > 0)
        trace("a: %s", state(next));
    if (rc == 0)
        trace("over");
    coil_as_completed_finish(&each);
    trace_outcome("sleep", coil_sleep(COIL_SEC(10)));
    return rc;
}

/*
 * An interrupted iteration may be continued. Futures that ended in the meantime are
 * returned without a turn.
 */
SCENARIO(as_completed_goes_on_where_it_was_left)
{
    static struct work works[] = {{"a", 3, 1}, {"b", 1, 2}, {"c", 2, 3}};
    coil_future *futures[3], *next;
    coil_as_completed each;
    int rc;

    if (!start_all(works, futures, 3))
        return -ENOMEM;
    rc = coil_as_completed_init(&each, futures, 3, COIL_NEVER);
    if (rc == 0 && (rc = coil_as_completed_next(&each, &next)) > 0)
        trace("first: %s", state(next));
    trace_outcome("sleep", coil_sleep(COIL_SEC(5)));
    start(ticker, TURNS(2));
    while (rc >= 0 && (rc = coil_as_completed_next(&each, &next)) > 0)
        trace("next: %s", state(next));
    if (rc == 0)
        trace("over");
    coil_as_completed_finish(&each);
    return rc;
}

/* Each task is returned when it ends, even if it failed. */
SCENARIO(as_completed_returns_tasks_as_they_end)
{
    static struct work works[] = {{"a", 3, 1}, {"b", 1, 2}, {"c", 1, 3}, {"d", 0, 4}};
    coil_future *futures[4], *next;
    coil_as_completed each;
    int rc;

    if (!start_all(works, futures, 4))
        return -ENOMEM;
    rc = coil_as_completed_init(&each, futures, 4, COIL_NEVER);
    while (rc >= 0 && (rc = coil_as_completed_next(&each, &next)) > 0)
        trace("%c: %s", name_of(futures, next), state(next));
    if (rc == 0)
        trace("over");
    coil_as_completed_finish(&each);
    return rc;
}

/*
 * Tasks that end before the deadline are returned. For each of the others, the iteration
 * returns a timeout, and the task continues to run.
 */
SCENARIO(as_completed_says_when_the_deadline_passed)
{
    static struct work works[] = {{"a", 1, 1}, {"b", 5, 2}, {"c", 6, 3}};
    coil_future *futures[3], *next;
    coil_as_completed each;
    int rc;

    if (!start_all(works, futures, 3))
        return -ENOMEM;
    rc = coil_as_completed_init(&each, futures, 3, coil_in(COIL_SEC(3)));
    if (rc == 0)
        do {
            rc = coil_as_completed_next(&each, &next);
            if (rc == 1)
                trace("%c: %s", name_of(futures, next), state(next));
            else if (rc == -ETIMEDOUT)
                trace("timeout");
        } while (rc == 1 || rc == -ETIMEDOUT);
    if (rc == 0)
        trace("over");
    coil_as_completed_finish(&each);
    if (rc < 0)
        return rc;
    trace_outcome("b", coil_await(futures[1]));
    trace_outcome("c", coil_await(futures[2]));
    return 0;
}

static coil_as_completed as_completed_serves_each;

static int asker(void *name)
{
    coil_future *next;
    int rc = coil_as_completed_next(&as_completed_serves_each, &next);

    if (rc > 0)
        trace("%s gets %s", (char *)name, state(next));
    else if (rc == 0)
        trace("%s: over", (char *)name);
    return rc;
}

/*
 * If several tasks request the next future, the requests are served in order. A request
 * after the last future returns the end of the iteration.
 */
SCENARIO(as_completed_serves_tasks_in_the_order_in_which_they_ask)
{
    static struct work works[] = {{"a", 2, 1}, {"b", 1, 2}};
    static char *const names[] = {"first", "second", "third"};
    coil_future *futures[2];
    coil_group group;
    int rc;

    if (!start_all(works, futures, 2))
        return -ENOMEM;
    rc = coil_as_completed_init(&as_completed_serves_each, futures, 2, COIL_NEVER);
    coil_group_enter(&group);
    for (int i = 0; i < 3 && rc == 0; i++)
        rc = coil_group_spawn(&group, asker, names[i], NULL, NULL);
    rc = coil_group_exit(&group, rc);
    coil_as_completed_finish(&as_completed_serves_each);
    return rc;
}

static void set_to_two(void *future)
{
    coil_future_set(future, 2, NULL, NULL);
}

/*
 * A future is available two turns after it is set, even if it was set before the
 * iteration. Getting an available future takes no turn.
 */
SCENARIO(as_completed_takes_two_turns_to_know)
{
    coil_future *futures[] = {new_future(), new_future()}, *next;
    coil_as_completed each;
    int rc;

    if (futures[1] == NULL)
        return -ENOMEM;
    coil_future_set(futures[0], 1, NULL, NULL);
    rc = coil_as_completed_init(&each, futures, 2, COIL_NEVER);
    start(ticker, TURNS(6));
    if (rc == 0 && (rc = coil_as_completed_next(&each, &next)) > 0)
        trace("early: %s", state(next));
    if (rc > 0)
        rc = coil_call_soon(set_to_two, futures[1], NULL);
    if (rc == 0 && (rc = coil_as_completed_next(&each, &next)) > 0)
        trace("late: %s", state(next));
    coil_as_completed_finish(&each);
    return rc < 0 ? rc : 0;
}
