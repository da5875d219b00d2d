/* lock.c - locks. */
#include "../scenario.h"

static coil_lock lock = COIL_LOCK_INIT;

static int lock_acquire_cancelled_taker(void *arg)
{
    (void)arg;
    trace("wants it");
    return coil_lock_acquire(&lock);
}

static void cancel(void *task)
{
    coil_task_cancel(task, NULL);
}

/*
 * A task that is cancelled while it waits for a lock does not get the lock. The state of
 * the lock does not change.
 */
SCENARIO(lock_acquire_cancelled_leaves_the_line)
{
    coil_task *task = start(lock_acquire_cancelled_taker, NULL);
    int rc;

    coil_lock_acquire(&lock);
    if (task == NULL)
        return -ENOMEM;
    rc = coil_call_soon(cancel, task, NULL);
    if (rc < 0)
        return rc;
    trace("taker: %s", outcome(coil_task_await(task)));
    trace("locked %d", coil_lock_locked(&lock));
    coil_lock_release(&lock);
    turns(1);
    trace("locked %d", coil_lock_locked(&lock));
    return 0;
}

static int impatient(void *arg)
{
    coil_scope scope;
    int rc = coil_scope_enter(&scope, coil_in(COIL_SEC(2)));

    (void)arg;
    return rc < 0 ? rc : coil_scope_exit(&scope, coil_lock_acquire(&lock));
}

static int patient(void *arg)
{
    int rc = coil_lock_acquire(&lock);

    (void)arg;
    if (rc == 0)
        trace("the patient one has it");
    return rc;
}

/* If a waiter times out before the lock is released, the next waiter gets the lock. */
SCENARIO(lock_acquire_times_out_while_another_holds_it)
{
    coil_task *a = start(impatient, NULL), *b = start(patient, NULL);

    if (a == NULL || b == NULL)
        return -ENOMEM;
    coil_lock_acquire(&lock);
    trace("a: %s", outcome(coil_task_await(a)));
    coil_sleep(COIL_SEC(1));
    coil_lock_release(&lock);
    turns(1);
    trace("b: %s, locked %d", state(coil_task_future(b)), coil_lock_locked(&lock));
    return 0;
}

static int lock_cancelled_taker(void *name)
{
    int rc;

    trace("%s wants it", (char *)name);
    rc = coil_lock_acquire(&lock);
    if (rc == 0)
        trace("%s has it", (char *)name);
    return rc;
}

static void trigger(void *a)
{
    coil_task_cancel(a, NULL);
    coil_lock_release(&lock);
}

/*
 * If a callback cancels the first waiter and releases the lock, exactly one other task
 * gets the lock.
 */
SCENARIO(lock_cancelled_and_released_in_one_turn_goes_to_one)
{
    coil_task *a = start(lock_cancelled_taker, "a"),
              *b = start(lock_cancelled_taker, "b"),
              *c = start(lock_cancelled_taker, "c");
    int rc;

    if (a == NULL || b == NULL || c == NULL)
        return -ENOMEM;
    coil_lock_acquire(&lock);
    turns(1);
    rc = coil_call_soon(trigger, a, NULL);
    if (rc < 0)
        return rc;
    trace("a: %s", outcome(coil_task_await(a)));
    trace("b %s, c %s", state(coil_task_future(b)), state(coil_task_future(c)));
    coil_task_cancel(c, NULL);
    turns(1);
    trace("b %s, c %s", state(coil_task_future(b)), state(coil_task_future(c)));
    return 0;
}

struct block {
    const char *name;
    int failure;
};

static int block(void *arg)
{
    struct block *self = arg;
    int rc = coil_lock_acquire(&lock);

    if (rc < 0)
        return rc;
    trace("%s: locked %d", self->name, coil_lock_locked(&lock));
    rc = coil_sleep(COIL_SEC(2));
    coil_lock_release(&lock);
    return rc < 0 ? rc : self->failure;
}

static void await_it(const char *name, coil_task *task)
{
    const char *end = outcome(coil_task_await(task));

    trace("%s: %s, locked %d", name, end, coil_lock_locked(&lock));
}

/*
 * A lock is held inside its block and free after it, even if the block fails or is
 * cancelled.
 */
SCENARIO(lock_held_for_a_block)
{
    static struct block blocks[] = {{"a", 0}, {"b", -EIO}, {"c", 0}};
    coil_task *tasks[3];

    trace("locked %d", coil_lock_locked(&lock));
    for (int i = 0; i < 3; i++) {
        tasks[i] = start(block, &blocks[i]);
        if (tasks[i] == NULL)
            return -ENOMEM;
    }
    await_it("a", tasks[0]);
    await_it("b", tasks[1]);
    coil_sleep(COIL_SEC(1));
    coil_task_cancel(tasks[2], NULL);
    await_it("c", tasks[2]);
    return 0;
}

static int taker(void *name)
{
    int rc = coil_lock_acquire(&lock);

    if (rc == 0)
        trace("%s has it", (char *)name);
    return rc;
}

/*
 * If a lock is released right after its only waiter was cancelled, the next task that
 * requests the lock gets it.
 */
SCENARIO(lock_is_not_lost_on_a_cancelled_waiter)
{
    coil_task *b = start(taker, "b"), *c;

    if (b == NULL)
        return -ENOMEM;
    coil_lock_acquire(&lock);
    turns(1);
    c = start(taker, "c");
    if (c == NULL)
        return -ENOMEM;
    coil_task_cancel(b, NULL);
    coil_lock_release(&lock);
    trace("locked %d", coil_lock_locked(&lock));
    turns(1);
    trace("locked %d; b %s", coil_lock_locked(&lock), state(coil_task_future(b)));
    trace("c: %s", outcome(coil_task_await(c)));
    return 0;
}

static int releaser(void *arg)
{
    int rc = coil_sleep(COIL_SEC(2));

    (void)arg;
    coil_lock_release(&lock);
    trace("released");
    return rc;
}

/* A lock has no owner: one task may acquire it and another release it. */
SCENARIO(lock_may_be_released_by_another_task)
{
    coil_lock_acquire(&lock);
    if (start(releaser, NULL) == NULL)
        return -ENOMEM;
    trace("taken");
    coil_lock_acquire(&lock);
    trace("taken again");
    return 0;
}

static int lock_newcomer_taker(void *name)
{
    int rc;

    trace("%s wants it: locked %d", (char *)name, coil_lock_locked(&lock));
    rc = coil_lock_acquire(&lock);
    if (rc < 0)
        return rc;
    trace("%s has it", (char *)name);
    coil_lock_release(&lock);
    return 0;
}

/*
 * A released lock is free until the woken waiter continues, but a task that requests it
 * in the meantime must wait until that waiter has released it.
 */
SCENARIO(lock_newcomer_does_not_overtake_who_was_woken)
{
    coil_lock_acquire(&lock);
    if (start(lock_newcomer_taker, "a") == NULL)
        return -ENOMEM;
    turns(1);
    coil_lock_release(&lock);
    lock_newcomer_taker("newcomer");
    trace("locked %d", coil_lock_locked(&lock));
    return 0;
}

struct holder {
    const char *name;
    coil_future *until;
};

static int hold(const struct holder *self)
{
    int rc = coil_lock_acquire(&lock);

    if (rc < 0)
        return rc;
    trace("%s has it", self->name);
    rc = self->until != NULL ? coil_await(self->until) : 0;
    if (rc < 0)
        return rc;
    coil_lock_release(&lock);
    trace("%s gave it back", self->name);
    return 0;
}

static int holder(void *arg)
{
    struct holder *self = arg;
    int rc = hold(self);

    if (rc == -ECANCELED)
        trace("%s was cancelled", self->name);
    return rc;
}

/*
 * If the first waiter is cancelled in the turn in which the lock is released, the lock
 * goes to the second.
 */
SCENARIO(lock_release_passes_over_a_cancelled_waiter)
{
    static struct holder holders[] = {{"a", NULL}, {"b", NULL}, {"c", NULL}};
    coil_task *tasks[3];

    holders[0].until = new_future();
    if (holders[0].until == NULL)
        return -ENOMEM;
    for (int i = 0; i < 3; i++) {
        tasks[i] = start(holder, &holders[i]);
        if (tasks[i] == NULL)
            return -ENOMEM;
        turns(1);
    }
    coil_future_set(holders[0].until, 0, NULL, NULL);
    coil_task_cancel(tasks[1], NULL);
    turns(1);
    trace("locked %d; a %s, b %s", coil_lock_locked(&lock),
          state(coil_task_future(tasks[0])), state(coil_task_future(tasks[1])));
    trace("c: %s", outcome(coil_task_await(tasks[2])));
    return 0;
}

static void try_to_release(const char *when)
{
    const char *rc = outcome(coil_lock_release(&lock));

    trace("%s: %s, locked %d", when, rc, coil_lock_locked(&lock));
}

/* Releasing a free lock is an error, and changes nothing. */
SCENARIO(lock_released_twice_is_an_error)
{
    try_to_release("before");
    coil_lock_acquire(&lock);
    try_to_release("held");
    try_to_release("after");
    coil_lock_acquire(&lock);
    trace("again: locked %d", coil_lock_locked(&lock));
    return 0;
}

/*
 * A lock without waiters is free at once when it is released, and can be acquired without
 * waiting.
 */
SCENARIO(lock_released_without_waiters_is_free)
{
    if (start(ticker, TURNS(3)) == NULL)
        return -ENOMEM;
    coil_lock_acquire(&lock);
    trace("locked %d", coil_lock_locked(&lock));
    coil_lock_release(&lock);
    trace("locked %d", coil_lock_locked(&lock));
    coil_lock_acquire(&lock);
    trace("locked %d", coil_lock_locked(&lock));
    turns(1);
    coil_lock_release(&lock);
    trace("locked %d", coil_lock_locked(&lock));
    turns(1);
    return 0;
}

/*
 * When a lock is released, the task that has waited longest gets it in the next turn. The
 * other waiters continue to wait.
 */
SCENARIO(lock_serves_waiters_in_order)
{
    coil_lock_acquire(&lock);
    if (start(taker, "a") == NULL || start(taker, "b") == NULL)
        return -ENOMEM;
    turns(1);
    trace("they wait");
    coil_lock_release(&lock);
    trace("released: locked %d", coil_lock_locked(&lock));
    turns(1);
    trace("locked %d", coil_lock_locked(&lock));
    turns(1);
    if (start(taker, "c") == NULL)
        return -ENOMEM;
    coil_lock_release(&lock);
    turns(1);
    coil_lock_release(&lock);
    trace("released again");
    turns(1);
    trace("locked %d", coil_lock_locked(&lock));
    return 0;
}

/*
 * A waiter that is cancelled in the turn in which it gets the lock passes the lock to the
 * next waiter.
 */
SCENARIO(lock_woken_waiter_cancelled_wakes_the_next)
{
    coil_task *b = start(taker, "b"), *c = start(taker, "c");

    if (b == NULL || c == NULL)
        return -ENOMEM;
    coil_lock_acquire(&lock);
    turns(1);
    coil_lock_release(&lock);
    coil_task_cancel(b, NULL);
    for (int i = 0; i < 2; i++) {
        turns(1);
        trace("b %s, c %s, locked %d", state(coil_task_future(b)),
              state(coil_task_future(c)), coil_lock_locked(&lock));
    }
    return 0;
}
