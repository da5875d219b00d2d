/*
 * semaphore.c - semaphores and bounded semaphores.
 */
#include "../scenario.h"

static coil_bounded_semaphore bounded_semaphore_release_slots =
    COIL_BOUNDED_SEMAPHORE_INIT(1);

static int bounded_semaphore_release_user(void *name)
{
    int rc = coil_bounded_semaphore_acquire(&bounded_semaphore_release_slots);

    if (rc < 0)
        return rc;
    trace("%s is in", (char *)name);
    rc = coil_sleep(COIL_SEC(2));
    coil_bounded_semaphore_release(&bounded_semaphore_release_slots);
    trace("%s is out: locked %d", (char *)name,
          coil_bounded_semaphore_locked(&bounded_semaphore_release_slots));
    return rc;
}

/*
 * If a task is waiting for a bounded semaphore, a release wakes this task and does not
 * increase the value.
 */
SCENARIO(bounded_semaphore_release_is_for_who_waits)
{
    coil_task *a = start(bounded_semaphore_release_user, "a"),
              *b = start(bounded_semaphore_release_user, "b");

    if (a == NULL || b == NULL)
        return -ENOMEM;
    coil_bounded_semaphore_acquire(&bounded_semaphore_release_slots);
    coil_sleep(COIL_SEC(1));
    coil_bounded_semaphore_release(&bounded_semaphore_release_slots);
    trace("released: locked %d",
          coil_bounded_semaphore_locked(&bounded_semaphore_release_slots));
    trace("a: %s", outcome(coil_task_await(a)));
    trace("b: %s", outcome(coil_task_await(b)));
    trace("locked %d", coil_bounded_semaphore_locked(&bounded_semaphore_release_slots));
    return 0;
}

static coil_bounded_semaphore bounded_semaphore_released_slots =
    COIL_BOUNDED_SEMAPHORE_INIT(2);

static void bounded_semaphore_released_take(const char *how_many)
{
    coil_bounded_semaphore_acquire(&bounded_semaphore_released_slots);
    if (how_many != NULL)
        trace("%s taken: locked %d", how_many,
              coil_bounded_semaphore_locked(&bounded_semaphore_released_slots));
}

/*
 * The value of a bounded semaphore cannot exceed its initial value. A surplus release is
 * an error, and changes nothing.
 */
SCENARIO(bounded_semaphore_released_too_often)
{
    trace("all are free: %s",
          outcome(coil_bounded_semaphore_release(&bounded_semaphore_released_slots)));
    bounded_semaphore_released_take("one is");
    bounded_semaphore_released_take("two are");
    for (int i = 0; i < 3; i++) {
        const char *rc =
            outcome(coil_bounded_semaphore_release(&bounded_semaphore_released_slots));

        trace("%s: locked %d", rc,
              coil_bounded_semaphore_locked(&bounded_semaphore_released_slots));
    }
    bounded_semaphore_released_take(NULL);
    bounded_semaphore_released_take("two are");
    return 0;
}

static coil_semaphore one_slot = COIL_SEMAPHORE_INIT(1);

static int semaphore_acquire_taker(void *arg)
{
    (void)arg;
    trace("wants in");
    return coil_semaphore_acquire(&one_slot);
}

static void cancel(void *task)
{
    coil_task_cancel(task, NULL);
}

/*
 * A task that is cancelled while it waits for a semaphore does not acquire it: the next
 * release wakes the next task.
 */
SCENARIO(semaphore_acquire_cancelled_leaves_the_line)
{
    coil_task *task = start(semaphore_acquire_taker, NULL);
    int rc;

    if (task == NULL)
        return -ENOMEM;
    coil_semaphore_acquire(&one_slot);
    rc = coil_call_soon(cancel, task, NULL);
    if (rc < 0)
        return rc;
    trace("taker: %s", outcome(coil_task_await(task)));
    trace("locked %d", coil_semaphore_locked(&one_slot));
    coil_semaphore_release(&one_slot);
    trace("locked %d", coil_semaphore_locked(&one_slot));
    coil_semaphore_acquire(&one_slot);
    trace("locked %d", coil_semaphore_locked(&one_slot));
    return 0;
}

static coil_semaphore three_slots = COIL_SEMAPHORE_INIT(3);

static int semaphore_admits_taker(void *name)
{
    int rc = coil_semaphore_acquire(&three_slots);

    if (rc == 0)
        trace("%s is in", (char *)name);
    return rc;
}

/*
 * A semaphore with the value 3 admits three tasks. Later tasks continue in order, one per
 * release.
 */
SCENARIO(semaphore_admits_so_many_in_order)
{
    coil_semaphore_acquire(&three_slots);
    coil_semaphore_acquire(&three_slots);
    trace("two are in: locked %d", coil_semaphore_locked(&three_slots));
    if (start(semaphore_admits_taker, "a") == NULL ||
        start(semaphore_admits_taker, "b") == NULL ||
        start(semaphore_admits_taker, "c") == NULL)
        return -ENOMEM;
    turns(1);
    trace("locked %d", coil_semaphore_locked(&three_slots));
    if (start(semaphore_admits_taker, "d") == NULL)
        return -ENOMEM;
    coil_semaphore_release(&three_slots);
    coil_semaphore_release(&three_slots);
    turns(1);
    trace("two released: locked %d", coil_semaphore_locked(&three_slots));
    coil_semaphore_release(&three_slots);
    turns(1);
    trace("three released: locked %d", coil_semaphore_locked(&three_slots));
    return 0;
}

static int once(void *name)
{
    int rc = coil_semaphore_acquire(&one_slot);

    if (rc == 0)
        trace("%s is in", (char *)name);
    return rc;
}

static int twice(void *name)
{
    int rc = once(name);

    if (rc < 0)
        return rc;
    coil_semaphore_release(&one_slot);
    return once("b again");
}

/*
 * A task that releases a semaphore and immediately acquires it again must wait behind the
 * waiting tasks.
 */
SCENARIO(semaphore_is_not_overtaken_by_who_releases)
{
    coil_task *a = start(once, "a"), *b = start(twice, "b"), *c = start(once, "c");
    coil_future *all[3];
    int rc;

    if (a == NULL || b == NULL || c == NULL)
        return -ENOMEM;
    turns(1);
    coil_semaphore_release(&one_slot);
    coil_semaphore_release(&one_slot);
    trace("released twice");
    all[0] = coil_task_future(a);
    all[1] = coil_task_future(b);
    all[2] = coil_task_future(c);
    rc = coil_gather(all, 3, 0, NULL);
    if (rc < 0)
        return rc;
    trace("locked %d", coil_semaphore_locked(&one_slot));
    return 0;
}

static coil_semaphore no_slots = COIL_SEMAPHORE_INIT(0);

static int semaphore_of_zero_taker(void *arg)
{
    int rc = coil_semaphore_acquire(&no_slots);

    (void)arg;
    if (rc == 0)
        trace("taken: locked %d", coil_semaphore_locked(&no_slots));
    return rc;
}

/* A semaphore with the initial value 0 is locked until it is released. */
SCENARIO(semaphore_of_zero_is_locked)
{
    trace("locked %d", coil_semaphore_locked(&no_slots));
    if (start(semaphore_of_zero_taker, NULL) == NULL)
        return -ENOMEM;
    coil_sleep(COIL_SEC(1));
    trace("it waits: locked %d", coil_semaphore_locked(&no_slots));
    coil_semaphore_release(&no_slots);
    coil_semaphore_release(&no_slots);
    trace("released twice: locked %d", coil_semaphore_locked(&no_slots));
    turns(1);
    trace("locked %d", coil_semaphore_locked(&no_slots));
    return 0;
}

static int taker(void *name)
{
    int rc = coil_semaphore_acquire(&no_slots);

    if (rc == 0)
        trace("%s is in", (char *)name);
    return rc;
}

/*
 * If the first two waiters are cancelled in the turn in which the semaphore is released,
 * only the third waiter continues.
 */
SCENARIO(semaphore_release_passes_over_cancelled_waiters)
{
    coil_task *a = start(taker, "a"), *b = start(taker, "b"), *c = start(taker, "c"),
              *d = start(taker, "d");

    if (a == NULL || b == NULL || c == NULL || d == NULL)
        return -ENOMEM;
    turns(1);
    coil_task_cancel(a, NULL);
    coil_task_cancel(b, NULL);
    coil_semaphore_release(&no_slots);
    trace("released");
    turns(2);
    trace("a %s, b %s, c %s, d %s", state(coil_task_future(a)),
          state(coil_task_future(b)), state(coil_task_future(c)),
          state(coil_task_future(d)));
    coil_task_cancel(d, NULL);
    turns(1);
    trace("d %s, locked %d", state(coil_task_future(d)),
          coil_semaphore_locked(&no_slots));
    return 0;
}

/*
 * If a semaphore is released just after its first waiter was cancelled, the release is
 * not lost: the next waiter continues.
 */
SCENARIO(semaphore_released_after_a_cancellation_wakes_the_next)
{
    coil_task *a = start(taker, "a"), *b = start(taker, "b");

    if (a == NULL || b == NULL)
        return -ENOMEM;
    turns(1);
    coil_task_cancel(a, NULL);
    coil_semaphore_release(&no_slots);
    trace("locked %d", coil_semaphore_locked(&no_slots));
    for (int i = 0; i < 2; i++) {
        turns(1);
        trace("a %s, b %s, locked %d", state(coil_task_future(a)),
              state(coil_task_future(b)), coil_semaphore_locked(&no_slots));
    }
    return 0;
}

/*
 * A semaphore without waiters is free at once when it is released, and its value may
 * exceed the initial value.
 */
SCENARIO(semaphore_released_without_waiters_is_free)
{
    if (start(ticker, TURNS(1)) == NULL)
        return -ENOMEM;
    coil_semaphore_acquire(&one_slot);
    trace("locked %d", coil_semaphore_locked(&one_slot));
    coil_semaphore_release(&one_slot);
    trace("locked %d", coil_semaphore_locked(&one_slot));
    coil_semaphore_release(&one_slot);
    coil_semaphore_acquire(&one_slot);
    trace("one is taken: locked %d", coil_semaphore_locked(&one_slot));
    coil_semaphore_acquire(&one_slot);
    trace("two are taken: locked %d", coil_semaphore_locked(&one_slot));
    return 0;
}

static int semaphore_takes_user(void *name)
{
    for (int visit = 1; visit <= 2; visit++) {
        int rc = coil_semaphore_acquire(&one_slot);

        if (rc < 0)
            return rc;
        trace("%s's visit %d", (char *)name, visit);
        rc = coil_sleep(COIL_SEC(1));
        coil_semaphore_release(&one_slot);
        if (rc < 0)
            return rc;
    }
    return 0;
}

/*
 * Tasks that release a semaphore and immediately acquire it again take turns: no task
 * gets it twice before every other task has had it once.
 */
SCENARIO(semaphore_takes_turns)
{
    static const char *const names[] = {"a", "b", "c"};
    coil_group group;
    int rc = 0;

    coil_group_enter(&group);
    for (int i = 0; i < 3 && rc == 0; i++)
        rc = coil_group_spawn(&group, semaphore_takes_user, (void *)names[i], NULL, NULL);
    rc = coil_group_exit(&group, rc);
    if (rc < 0)
        return rc;
    trace("end");
    return 0;
}

static int use(const char *name)
{
    int rc = coil_semaphore_acquire(&one_slot);

    if (rc < 0)
        return rc;
    trace("%s is in", name);
    rc = coil_sleep(COIL_SEC(1));
    coil_semaphore_release(&one_slot);
    return rc == 0 && *name == 'b' ? -EIO : rc;
}

static int semaphore_users_user(void *name)
{
    int rc = use(name);

    if (rc == -ECANCELED)
        trace("%s was cancelled", (char *)name);
    return rc;
}

/*
 * If a child of a group fails while it holds a semaphore, the group cancels the children
 * that wait for the semaphore. Afterwards the semaphore can be acquired.
 */
SCENARIO(semaphore_users_of_a_group_that_fails)
{
    coil_group group;
    int rc;

    coil_group_enter(&group);
    rc = coil_group_spawn(&group, semaphore_users_user, "a", NULL, NULL);
    if (rc == 0)
        rc = coil_group_spawn(&group, semaphore_users_user, "b", NULL, NULL);
    if (rc == 0)
        rc = coil_group_spawn(&group, semaphore_users_user, "c", NULL, NULL);
    rc = coil_group_exit(&group, rc);
    trace("the group: %s", outcome(rc));
    trace("locked %d", coil_semaphore_locked(&one_slot));
    return 0;
}

static int late(void *name)
{
    trace("%s begins", (char *)name);
    return 0;
}

static int semaphore_waiter_take(void *name)
{
    int rc = coil_semaphore_acquire(&no_slots);

    if (rc == 0 && *(char *)name == 'a' && start(late, "d") == NULL)
        return -ENOMEM;
    if (rc == 0)
        trace("%s is in: locked %d", (char *)name, coil_semaphore_locked(&no_slots));
    return rc;
}

static int release_and_take(void *name)
{
    for (int i = 0; i < 3; i++)
        coil_semaphore_release(&no_slots);
    trace("b released three: locked %d", coil_semaphore_locked(&no_slots));
    return semaphore_waiter_take(name);
}

/*
 * After three releases in one turn, the first waiter wakes the next two. These three
 * waiters continue before any task that begins later.
 */
SCENARIO(semaphore_waiter_wakes_as_many_as_the_value_allows)
{
    coil_task *a = start(semaphore_waiter_take, "a"), *b = start(release_and_take, "b"),
              *c = start(semaphore_waiter_take, "c");
    coil_future *all[3];
    int rc;

    if (a == NULL || b == NULL || c == NULL)
        return -ENOMEM;
    turns(1);
    trace("locked %d", coil_semaphore_locked(&no_slots));
    all[0] = coil_task_future(a);
    all[1] = coil_task_future(b);
    all[2] = coil_task_future(c);
    rc = coil_gather(all, 3, 0, NULL);
    if (rc < 0)
        return rc;
    trace("locked %d", coil_semaphore_locked(&no_slots));
    return 0;
}

/* If a waiter is cancelled, the waiters behind it continue in order. */
SCENARIO(semaphore_waiters_behind_a_cancelled_one_go_on)
{
    coil_task *a = start(taker, "a"), *b = start(taker, "b"), *c = start(taker, "c");
    coil_future *all[3];
    int rc;

    if (a == NULL || b == NULL || c == NULL)
        return -ENOMEM;
    turns(1);
    coil_task_cancel(a, NULL);
    turns(1);
    trace("a %s, locked %d", state(coil_task_future(a)),
          coil_semaphore_locked(&no_slots));
    coil_semaphore_release(&no_slots);
    coil_semaphore_release(&no_slots);
    all[0] = coil_task_future(a);
    all[1] = coil_task_future(b);
    all[2] = coil_task_future(c);
    rc = coil_gather(all, 3, COIL_GATHER_ALL, NULL);
    if (rc < 0)
        return rc;
    trace("a %s, b %s, c %s, locked %d", state(all[0]), state(all[1]), state(all[2]),
          coil_semaphore_locked(&no_slots));
    return 0;
}

static coil_task *second_task;

static int first(void *arg)
{
    int rc = coil_semaphore_acquire(&one_slot);

    (void)arg;
    if (rc < 0)
        return rc;
    trace("first is in");
    turns(1);
    coil_semaphore_release(&one_slot);
    trace("first is out");
    if (second_task != NULL)
        coil_task_cancel(second_task, NULL);
    return 0;
}

static int second(void *arg)
{
    int rc = coil_semaphore_acquire(&one_slot);

    (void)arg;
    if (rc < 0)
        return rc;
    trace("never printed");
    coil_semaphore_release(&one_slot);
    return 0;
}

static int take_within_a_second(void)
{
    coil_scope scope;
    int rc = coil_scope_enter(&scope, coil_in(COIL_SEC(1)));

    return rc < 0 ? rc : coil_scope_exit(&scope, coil_semaphore_acquire(&one_slot));
}

/*
 * If a waiter is cancelled after a release has woken it, it releases the semaphore again,
 * so that another task can acquire it.
 */
SCENARIO(semaphore_woken_waiter_cancelled_gives_back)
{
    coil_task *first_task = start(first, NULL);

    second_task = first_task != NULL ? start(second, NULL) : NULL;
    if (second_task == NULL)
        return -ENOMEM;
    trace("first: %s", outcome(coil_task_await(first_task)));
    trace("locked %d", coil_semaphore_locked(&one_slot));
    trace("second: %s", outcome(coil_task_await(second_task)));
    trace("locked %d", coil_semaphore_locked(&one_slot));
    trace("we: %s", outcome(take_within_a_second()));
    return 0;
}
