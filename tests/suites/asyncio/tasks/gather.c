/*
 * gather.c - gather(): its result, when it returns, and how it handles failures.
 */
#include "../scenario.h"

static coil_future *gather_ends_futures[3];

static int gather_ends_body(void *all)
{
    int rcs[3],
        rc = coil_gather(gather_ends_futures, 3, all != NULL ? COIL_GATHER_ALL : 0, rcs);

    if (rc == 0)
        trace("gathered %d %d %d", rcs[0], rcs[1], rcs[2]);
    return rc;
}

/*
 * gather returns two turns after the last task has ended. The results are in the order of
 * the arguments.
 */
SCENARIO(gather_ends_with_the_last_of_its_futures)
{
    static int all;

    for (int round = 0; round < 2; round++) {
        coil_future *both[2];
        coil_task *task, *ticks;

        for (int i = 0; i < 3; i++)
            gather_ends_futures[i] = new_future();
        task = start(gather_ends_body, round == 0 ? NULL : &all);
        if (task == NULL)
            return -ENOMEM;
        turns(1);
        coil_future_set(gather_ends_futures[1], 1, NULL, NULL);
        coil_future_set(gather_ends_futures[0], 2, NULL, NULL);
        turns(3);
        trace("two are set: %s", state(coil_task_future(task)));
        ticks = start(ticker, TURNS(3));
        coil_future_set(gather_ends_futures[2], 3, NULL, NULL);
        trace("all are set: %s", state(coil_task_future(task)));
        if (ticks == NULL)
            return -ENOMEM;
        both[0] = coil_task_future(task);
        both[1] = coil_task_future(ticks);
        coil_wait(both, 2, COIL_WAIT_ALL, COIL_NEVER);
    }
    return 0;
}

/*
 * If one of the futures has already failed, gather fails without taking a turn, although
 * the others are pending.
 */
SCENARIO(gather_fails_at_once_with_what_had_failed)
{
    coil_future *first = new_future(), *failed = new_future(), *last = new_future();
    coil_future *futures[] = {first, failed, last}, *again[] = {first, last, failed};
    coil_task *ticks = start(ticker, TURNS(1));

    if (ticks == NULL)
        return -ENOMEM;
    coil_future_set(failed, -EIO, NULL, NULL);
    trace("gather: %s", outcome(coil_gather(futures, 3, 0, NULL)));
    trace("futures: %s %s %s", state(first), state(failed), state(last));
    coil_future_set(first, 1, NULL, NULL);
    coil_future_set(last, -ENOENT, NULL, NULL);
    trace("gather: %s", outcome(coil_gather(again, 3, 0, NULL)));
    return coil_task_await(ticks);
}

static coil_future *gather_fails_once_futures[2], *inner_tasks[2];

static int inner(void *future)
{
    int rc = coil_await(future);

    if (rc < 0)
        return rc;
    return future == gather_fails_once_futures[0] ? -EIO : -ENOENT;
}

static int outer(void *arg)
{
    (void)arg;
    return trace_outcome("outer", coil_gather(inner_tasks, 2, 0, NULL));
}

static void gather_fails_once_look(coil_task *task)
{
    trace("inner %s %s, outer %s", state(inner_tasks[0]), state(inner_tasks[1]),
          state(coil_task_future(task)));
}

/*
 * If two tasks fail one turn apart, gather returns only the first failure. The second
 * failure can be retrieved from the second task.
 */
SCENARIO(gather_fails_once_though_two_fail)
{
    coil_task *task;

    for (int i = 0; i < 2; i++)
        gather_fails_once_futures[i] = new_future();
    for (int i = 0; i < 2; i++) {
        task = start(inner, gather_fails_once_futures[i]);
        if (task == NULL)
            return -ENOMEM;
        inner_tasks[i] = coil_task_future(task);
    }
    task = start(outer, NULL);
    if (task == NULL)
        return -ENOMEM;
    turns(1);
    for (int i = 0; i < 2; i++) {
        coil_future_set(gather_fails_once_futures[i], 0, NULL, NULL);
        turns(1);
        gather_fails_once_look(task);
    }
    turns(2);
    gather_fails_once_look(task);
    return 0;
}

static coil_future *gather_fails_with_its_first_futures[5];

static int gather_fails_with_its_first_body(void *arg)
{
    (void)arg;
    return trace_outcome("gather",
                         coil_gather(gather_fails_with_its_first_futures, 5, 0, NULL));
}

static void gather_fails_with_its_first_look(coil_task *task)
{
    trace("task: %s", state(coil_task_future(task)));
    trace("futures: %s %s %s %s %s", state(gather_fails_with_its_first_futures[0]),
          state(gather_fails_with_its_first_futures[1]),
          state(gather_fails_with_its_first_futures[2]),
          state(gather_fails_with_its_first_futures[3]),
          state(gather_fails_with_its_first_futures[4]));
}

/*
 * gather fails as soon as one of its futures fails. The other futures are not affected.
 */
SCENARIO(gather_fails_with_its_first_failure)
{
    coil_task *task;

    for (int i = 0; i < 5; i++)
        gather_fails_with_its_first_futures[i] = new_future();
    task = start(gather_fails_with_its_first_body, NULL);
    if (task == NULL)
        return -ENOMEM;
    turns(1);
    coil_future_set(gather_fails_with_its_first_futures[0], 1, NULL, NULL);
    coil_future_set(gather_fails_with_its_first_futures[1], -EIO, NULL, NULL);
    turns(3);
    gather_fails_with_its_first_look(task);
    coil_future_set(gather_fails_with_its_first_futures[2], 3, NULL, NULL);
    coil_future_cancel(gather_fails_with_its_first_futures[3], NULL);
    coil_future_set(gather_fails_with_its_first_futures[4], -ENOENT, NULL, NULL);
    turns(3);
    gather_fails_with_its_first_look(task);
    return 0;
}

static coil_future *gather_lets_futures[4];

static int gather_lets_body(void *arg)
{
    static const int rcs[] = {0, 0, -EIO, 0, -ENOENT};
    int delay = (int)(intptr_t)arg, rc = coil_sleep(COIL_SEC(delay));

    trace("%d ends", delay);
    return rc < 0 ? rc : rcs[delay == 2 || delay == 4 ? delay : 0];
}

static void gather_lets_look(void)
{
    trace("tasks: %s %s %s %s", state(gather_lets_futures[0]),
          state(gather_lets_futures[1]), state(gather_lets_futures[2]),
          state(gather_lets_futures[3]));
}

/* If a task fails, gather returns, but the other tasks continue until they end. */
SCENARIO(gather_lets_its_tasks_run_after_a_failure)
{
    static const int delays[] = {3, 1, 2, 4};

    for (int i = 0; i < 4; i++) {
        coil_task *task = start(gather_lets_body, (void *)(intptr_t)delays[i]);

        if (task == NULL)
            return -ENOMEM;
        gather_lets_futures[i] = coil_task_future(task);
    }
    trace("gather: %s", outcome(coil_gather(gather_lets_futures, 4, 0, NULL)));
    gather_lets_look();
    coil_sleep(COIL_SEC(3));
    gather_lets_look();
    trace("gather of all: %s",
          outcome(coil_gather(gather_lets_futures, 4, COIL_GATHER_ALL, NULL)));
    trace("gather: %s", outcome(coil_gather(gather_lets_futures, 4, 0, NULL)));
    return 0;
}

static int gather_of_all_collects_body(void *arg)
{
    int rcs[4], rc = coil_gather(gather_lets_futures, 4, COIL_GATHER_ALL, rcs);

    (void)arg;
    if (rc == 0)
        trace("gathered %s %s %s %s", outcome(rcs[0]), outcome(rcs[1]), outcome(rcs[2]),
              outcome(rcs[3]));
    return rc;
}

/*
 * With return_exceptions, gather waits for every future, and returns failures among its
 * results.
 */
SCENARIO(gather_of_all_collects_failures)
{
    coil_task *task;

    for (int i = 0; i < 4; i++)
        gather_lets_futures[i] = new_future();
    task = start(gather_of_all_collects_body, NULL);
    if (task == NULL)
        return -ENOMEM;
    coil_sleep(COIL_SEC(1));
    coil_future_set(gather_lets_futures[1], 1, NULL, NULL);
    coil_future_set(gather_lets_futures[2], -EIO, NULL, NULL);
    coil_future_set(gather_lets_futures[0], 3, NULL, NULL);
    coil_sleep(COIL_SEC(1));
    trace("task: %s", state(coil_task_future(task)));
    coil_future_set(gather_lets_futures[3], -ENOENT, NULL, NULL);
    trace("awaited: %s", outcome(coil_task_await(task)));
    return 0;
}

/* A gather of no futures, or of completed futures, takes no turn. */
SCENARIO(gather_of_nothing_takes_no_turn)
{
    coil_future *one = new_future(), *two = new_future();
    coil_future *same[] = {one, one}, *both[] = {one, two};
    coil_task *ticks = start(ticker, TURNS(2));

    if (ticks == NULL)
        return -ENOMEM;
    trace("nothing: %s", outcome(coil_gather(NULL, 0, 0, NULL)));
    trace("nothing, all: %s", outcome(coil_gather(NULL, 0, COIL_GATHER_ALL, NULL)));
    coil_future_set(one, 1, NULL, NULL);
    coil_future_set(two, -EIO, NULL, NULL);
    trace("done: %s", outcome(coil_gather(same, 2, 0, NULL)));
    trace("failed: %s", outcome(coil_gather(both, 2, 0, NULL)));
    trace("no turn has passed");
    return coil_task_await(ticks);
}

static coil_future *gather_of_shields_futures[2], *gather_of_shields_tasks[2];

static int waiter(void *future)
{
    return trace_outcome(future == gather_of_shields_futures[0] ? "waiter 0" : "waiter 1",
                         coil_shield(future));
}

static int gatherer(void *arg)
{
    (void)arg;
    return trace_outcome("gather", coil_gather(gather_of_shields_tasks, 2, 0, NULL));
}

/*
 * Cancelling a gather cancels tasks that await shielded futures, but not those futures.
 */
SCENARIO(gather_of_shields_leaves_the_futures_alone)
{
    coil_task *parent;

    for (int i = 0; i < 2; i++)
        gather_of_shields_futures[i] = new_future();
    for (int i = 0; i < 2; i++) {
        coil_task *task = start(waiter, gather_of_shields_futures[i]);

        if (task == NULL)
            return -ENOMEM;
        gather_of_shields_tasks[i] = coil_task_future(task);
    }
    parent = start(gatherer, NULL);
    if (parent == NULL)
        return -ENOMEM;
    turns(1);
    coil_task_cancel(parent, NULL);
    trace("parent: %s", outcome(coil_task_await(parent)));
    trace("tasks %s %s", state(gather_of_shields_tasks[0]),
          state(gather_of_shields_tasks[1]));
    trace("futures %s %s", state(gather_of_shields_futures[0]),
          state(gather_of_shields_futures[1]));
    coil_future_set(gather_of_shields_futures[0], 1, NULL, NULL);
    turns(2);
    trace("futures %s %s", state(gather_of_shields_futures[0]),
          state(gather_of_shields_futures[1]));
    return 0;
}

static int gather_of_tasks_body(void *arg)
{
    int delay = (int)(intptr_t)arg, rc;

    trace("%d begins", delay);
    rc = coil_sleep(COIL_SEC(delay));
    trace("%d ends", delay);
    return rc < 0 ? rc : delay;
}

/*
 * A gather of tasks takes as long as the longest task. The results are in the order of
 * the arguments.
 */
SCENARIO(gather_of_tasks_runs_them_side_by_side)
{
    static const int delays[] = {2, 3, 1};

    for (unsigned flags = 0; flags <= COIL_GATHER_ALL; flags++) {
        coil_future *futures[3];
        int rcs[3], rc;

        for (int i = 0; i < 3; i++) {
            coil_task *task = start(gather_of_tasks_body, (void *)(intptr_t)delays[i]);

            if (task == NULL)
                return -ENOMEM;
            futures[i] = coil_task_future(task);
        }
        rc = coil_gather(futures, 3, flags, rcs);
        if (rc < 0)
            return rc;
        trace("gathered %d %d %d", rcs[0], rcs[1], rcs[2]);
    }
    return 0;
}

static int gather_takes_note_body(void *futures)
{
    return trace_outcome("gather", coil_gather(futures, 2, 0, NULL));
}

static int fail_both(coil_future *futures[2], int delay)
{
    coil_task *task = start(gather_takes_note_body, futures);

    if (task == NULL)
        return -ENOMEM;
    turns(1);
    coil_future_set(futures[0], -EIO, NULL, NULL);
    turns(delay);
    coil_future_set(futures[1], -ENOENT, NULL, NULL);
    trace("both have failed: %s", state(coil_task_future(task)));
    turns(4);
    trace("awaited: %s", outcome(coil_task_await(task)));
    return 0;
}

/*
 * If a future fails after its gather has already failed, the failure is not reported as
 * never retrieved.
 */
SCENARIO(gather_takes_note_of_failures_that_come_too_late)
{
    coil_set_exception_handler(trace_exception, NULL);
    for (int delay = 0; delay < 4; delay++) {
        coil_future *futures[2] = {NULL, NULL};
        int rc = coil_future_create(&futures[0]);

        trace("%d turns later", delay);
        if (rc == 0)
            rc = coil_future_create(&futures[1]);
        if (rc == 0)
            rc = fail_both(futures, delay);
        coil_future_release(futures[0]);
        coil_future_release(futures[1]);
        if (rc < 0)
            return rc;
    }
    return 0;
}

static int gather_takes_one_task_body(void *arg)
{
    int value = (int)(intptr_t)arg, rc;

    trace("runs for %d", value);
    rc = coil_sleep(COIL_SEC(1));
    return rc < 0 ? rc : value;
}

/*
 * A task that is passed to gather several times runs once, and its result appears in each
 * of its positions.
 */
SCENARIO(gather_takes_one_task_several_times)
{
    coil_task *a = start(gather_takes_one_task_body, (void *)(intptr_t)1),
              *b = start(gather_takes_one_task_body, (void *)(intptr_t)2);
    int rcs[4], rc;

    if (b == NULL)
        return -ENOMEM;
    coil_future *futures[] = {coil_task_future(a), coil_task_future(a),
                              coil_task_future(b), coil_task_future(a)};
    rc = coil_gather(futures, 4, 0, rcs);
    if (rc < 0)
        return rc;
    trace("gathered %d %d %d %d", rcs[0], rcs[1], rcs[2], rcs[3]);
    return 0;
}

struct gathering {
    const char *name;
    size_t n;
    coil_future *futures[2];
};

static int child(void *arg)
{
    (void)arg;
    return trace_outcome("child", coil_sleep(COIL_SEC(10)));
}

static int gathers_of_one_task_body(void *arg)
{
    struct gathering *g = arg;
    int rc = trace_outcome(g->name, coil_gather(g->futures, g->n, 0, NULL));

    trace("%s counted %d", g->name, coil_task_cancelling(coil_task_current()));
    return rc;
}

/*
 * If two tasks gather the same child, cancelling one of these tasks cancels the child,
 * and the other task gets the child's cancellation.
 */
SCENARIO(gathers_of_one_task_end_together)
{
    static struct gathering first = {"first", 1, {NULL}}, second = {"second", 2, {NULL}};
    coil_task *shared = start(child, NULL), *a, *b;
    coil_future *future = new_future();

    if (future == NULL)
        return -ENOMEM;
    first.futures[0] = second.futures[1] = coil_task_future(shared);
    second.futures[0] = future;
    a = start(gathers_of_one_task_body, &first);
    b = start(gathers_of_one_task_body, &second);
    if (b == NULL)
        return -ENOMEM;
    coil_future *both[] = {coil_task_future(a), coil_task_future(b)};
    coil_sleep(COIL_SEC(1));
    if (allocation_failed())
        return -ENOMEM; /* one of the two tasks has already returned from gather */
    trace("cancel: %d", coil_task_cancel(a, NULL));
    coil_wait(both, 2, COIL_WAIT_ALL, COIL_NEVER);
    trace("first %s, second %s, future %s", state(both[0]), state(both[1]),
          state(future));
    return 0;
}

static coil_future *there[3], *back[3];

static int gathers_share_body(void *futures)
{
    int rcs[3], rc = coil_gather(futures, 3, 0, rcs);

    if (rc == 0)
        trace("%s: %d %d %d", futures == there ? "there" : "back", rcs[0], rcs[1],
              rcs[2]);
    return rc;
}

/* Two tasks that gather the same futures in different orders both get all results. */
SCENARIO(gathers_share_their_futures)
{
    static const int order[] = {1, 2, 0};
    coil_task *tasks[2];

    for (int i = 0; i < 3; i++)
        there[i] = back[2 - i] = new_future();
    tasks[0] = start(gathers_share_body, there);
    tasks[1] = start(gathers_share_body, back);
    if (tasks[1] == NULL)
        return -ENOMEM;
    turns(1);
    for (int i = 0; i < 3; i++) {
        coil_future_set(there[order[i]], 10 + order[i], NULL, NULL);
        coil_sleep(COIL_SEC(1));
        trace("%d is set: %s %s", order[i], state(coil_task_future(tasks[0])),
              state(coil_task_future(tasks[1])));
    }
    return 0;
}
