/* condition.c - conditions. */
#include "../scenario.h"

static coil_lock lock = COIL_LOCK_INIT;
static coil_condition changed = COIL_CONDITION_INIT(&lock);
static bool ready;

static int is_ready(void *arg)
{
    (void)arg;
    return ready;
}

static int cancelled_waiter(void *arg)
{
    int rc = coil_lock_acquire(&lock);

    if (rc < 0)
        return rc;
    rc = coil_condition_wait_for(&changed, is_ready, arg);
    if (rc == -ECANCELED)
        trace("cancelled: %s, locked %d", coil_cancel_reason(), coil_lock_locked(&lock));
    coil_lock_release(&lock);
    return rc;
}

/*
 * A notified task that is cancelled while it reacquires the lock gets the reason of the
 * cancellation.
 */
SCENARIO(condition_cancelled_while_taking_the_lock_keeps_the_reason)
{
    coil_task *task = start(cancelled_waiter, NULL);

    if (task == NULL)
        return -ENOMEM;
    turns(1);
    coil_lock_acquire(&lock);
    ready = true;
    coil_condition_notify(&changed, 1);
    turns(1);
    trace("it wants the lock");
    coil_task_cancel(task, "tired");
    coil_lock_release(&lock);
    trace("waiter: %s", outcome(coil_task_await(task)));
    trace("locked %d", coil_lock_locked(&lock));
    return 0;
}

static int block(void *arg)
{
    int rc = coil_lock_acquire(&lock);

    (void)arg;
    if (rc < 0)
        return rc;
    trace("inside: locked %d", coil_lock_locked(&lock));
    rc = coil_condition_wait(&changed);
    trace("woken: locked %d", coil_lock_locked(&lock));
    coil_lock_release(&lock);
    trace("after: locked %d", coil_lock_locked(&lock));
    return rc;
}

/*
 * Inside a block that uses a condition, its lock is held except during waits. After the
 * block, the lock is free.
 */
SCENARIO(condition_held_for_a_block)
{
    coil_task *task;
    int rc;

    trace("locked %d", coil_lock_locked(&lock));
    task = start(block, NULL);
    if (task == NULL)
        return -ENOMEM;
    rc = coil_sleep(COIL_SEC(1));
    if (rc < 0)
        return rc;
    trace("it waits: locked %d", coil_lock_locked(&lock));
    coil_lock_acquire(&lock);
    trace("ours: locked %d", coil_lock_locked(&lock));
    coil_condition_notify(&changed, 1);
    coil_lock_release(&lock);
    trace("released: locked %d", coil_lock_locked(&lock));
    trace("block: %s", outcome(coil_task_await(task)));
    return 0;
}

static int waiter(void *name)
{
    int rc = coil_lock_acquire(&lock);

    if (rc < 0)
        return rc;
    rc = coil_condition_wait(&changed);
    if (rc == 0)
        trace("%s goes on", (char *)name);
    coil_lock_release(&lock);
    return rc;
}

static void condition_notify_all_wakes_notify_all(int times)
{
    coil_lock_acquire(&lock);
    while (times-- > 0)
        coil_condition_notify_all(&changed);
    coil_lock_release(&lock);
}

/*
 * notify_all() wakes all tasks that are waiting, but not those that begin to wait later.
 */
SCENARIO(condition_notify_all_wakes_everybody)
{
    coil_task *a = start(waiter, "a"), *b = start(waiter, "b"), *c;

    if (a == NULL || b == NULL)
        return -ENOMEM;
    turns(1);
    condition_notify_all_wakes_notify_all(2);
    c = start(waiter, "c");
    if (c == NULL)
        return -ENOMEM;
    turns(2);
    trace("a %s, b %s, c %s", state(coil_task_future(a)), state(coil_task_future(b)),
          state(coil_task_future(c)));
    condition_notify_all_wakes_notify_all(1);
    trace("c: %s", outcome(coil_task_await(c)));
    return 0;
}

static int holder(void *arg)
{
    int rc = coil_lock_acquire(&lock);

    (void)arg;
    if (rc == 0)
        trace("held by another");
    return rc;
}

static void condition_notify_all_without_notify_all(void)
{
    trace("notify_all: %s", outcome(coil_condition_notify_all(&changed)));
}

/*
 * notify_all() is an error while the lock is free, even if no task is waiting. Any task
 * may hold the lock.
 */
SCENARIO(condition_notify_all_without_the_lock_is_an_error)
{
    condition_notify_all_without_notify_all();
    if (start(holder, NULL) == NULL)
        return -ENOMEM;
    turns(1);
    condition_notify_all_without_notify_all();
    coil_lock_release(&lock);
    condition_notify_all_without_notify_all();
    return 0;
}

static void condition_notify_wakes_notify(size_t first, size_t then)
{
    coil_lock_acquire(&lock);
    coil_condition_notify(&changed, first);
    coil_condition_notify(&changed, then);
    coil_lock_release(&lock);
    turns(1);
    trace("that was it");
}

/*
 * If notify() is called for more waiters than there are, each waiter is woken once, in
 * order.
 */
SCENARIO(condition_notify_wakes_so_many)
{
    static const char *const names[] = {"a", "b", "c", "d"};

    for (int i = 0; i < 4; i++)
        if (start(waiter, (void *)names[i]) == NULL)
            return -ENOMEM;
    turns(1);
    condition_notify_wakes_notify(0, 0);
    condition_notify_wakes_notify(1, 0);
    condition_notify_wakes_notify(1, 2048);
    condition_notify_wakes_notify(1, 0);
    return 0;
}

static int condition_notify_without_waiter(void *arg)
{
    int rc = coil_lock_acquire(&lock);

    (void)arg;
    if (rc < 0)
        return rc;
    rc = coil_condition_wait(&changed);
    if (rc == 0)
        trace("goes on");
    coil_lock_release(&lock);
    return rc;
}

static void condition_notify_without_notify(void)
{
    trace("notify: %s", outcome(coil_condition_notify(&changed, 1)));
}

/* notify() is an error while the lock is free, and wakes no task. */
SCENARIO(condition_notify_without_the_lock_is_an_error)
{
    coil_task *task;

    condition_notify_without_notify();
    task = start(condition_notify_without_waiter, NULL);
    if (task == NULL)
        return -ENOMEM;
    turns(1);
    condition_notify_without_notify();
    turns(2);
    trace("waiter: %s", state(coil_task_future(task)));
    coil_lock_acquire(&lock);
    condition_notify_without_notify();
    coil_lock_release(&lock);
    trace("waiter: %s", outcome(coil_task_await(task)));
    return 0;
}

static int value_of(void *arg)
{
    return *(int *)arg;
}

/*
 * If the predicate is already true, wait_for() returns at once and does not check the
 * lock. If the predicate is false, the lock must be held.
 */
SCENARIO(condition_predicate_that_holds_needs_no_lock)
{
    int seven = 7, zero = 0;

    if (start(ticker, TURNS(1)) == NULL)
        return -ENOMEM;
    trace("holds: %s", outcome(coil_condition_wait_for(&changed, value_of, &seven)));
    trace("does not: %s", outcome(coil_condition_wait_for(&changed, value_of, &zero)));
    trace("locked %d", coil_lock_locked(&lock));
    return 0;
}

static coil_condition full = COIL_CONDITION_INIT(&lock);
static coil_condition empty = COIL_CONDITION_INIT(&lock);

static void trace_locks(const char *name)
{
    trace("%slock %d, full %d, empty %d", name, coil_lock_locked(&lock),
          coil_lock_locked(full.lock), coil_lock_locked(empty.lock));
}

static int wait_for(const char *name, coil_condition *condition)
{
    int rc = coil_lock_acquire(condition->lock);

    if (rc < 0)
        return rc;
    trace_locks(name[0] == 'f' ? "f: " : "e: ");
    rc = coil_condition_wait(condition);
    if (rc == 0)
        trace("%s goes on", name);
    coil_lock_release(condition->lock);
    return rc;
}

static int condition_shares_waiter(void *name)
{
    return wait_for(name, *(char *)name == 'f' ? &full : &empty);
}

/*
 * Two conditions may share a lock. A notification reaches only the waiters of its own
 * condition.
 */
SCENARIO(condition_shares_its_lock)
{
    coil_task *f = start(condition_shares_waiter, "f"),
              *e = start(condition_shares_waiter, "e");

    if (f == NULL || e == NULL)
        return -ENOMEM;
    turns(1);
    trace_locks("");
    coil_lock_acquire(&lock);
    trace_locks("");
    coil_condition_notify_all(&empty);
    coil_lock_release(&lock);
    turns(2);
    trace("f %s, e %s", state(coil_task_future(f)), state(coil_task_future(e)));
    coil_lock_acquire(&lock);
    coil_condition_notify_all(&full);
    coil_lock_release(&lock);
    trace("f: %s", outcome(coil_task_await(f)));
    return 0;
}

/*
 * If two of three waiters are notified and the first is cancelled, the second and the
 * third waiter continue.
 */
SCENARIO(condition_two_notified_and_the_first_cancelled_wakes_a_third)
{
    coil_task *a = start(waiter, "a"), *b = start(waiter, "b"), *c = start(waiter, "c");

    if (a == NULL || b == NULL || c == NULL)
        return -ENOMEM;
    turns(1);
    coil_lock_acquire(&lock);
    coil_condition_notify(&changed, 2);
    coil_task_cancel(a, NULL);
    coil_lock_release(&lock);
    for (int i = 0; i < 2; i++) {
        turns(1);
        trace("a %s, b %s, c %s", state(coil_task_future(a)), state(coil_task_future(b)),
              state(coil_task_future(c)));
    }
    return 0;
}

static int condition_wait_cancelled_again_waiter(void *arg)
{
    int rc = coil_lock_acquire(&lock);

    (void)arg;
    if (rc < 0)
        return rc;
    rc = coil_condition_wait(&changed);
    if (rc == -ECANCELED) {
        trace("cancelled: locked %d", coil_lock_locked(&lock));
        coil_cancel_caught();
    }
    rc = coil_sleep(COIL_SEC(1));
    if (rc == 0)
        trace("slept");
    coil_lock_release(&lock);
    return rc < 0 ? rc : coil_task_cancelling(coil_task_current());
}

/*
 * If a wait is cancelled twice, the second time while it reacquires the lock, it returns
 * a single cancellation, with the lock held.
 */
SCENARIO(condition_wait_cancelled_again_and_again_has_the_lock)
{
    coil_task *task = start(condition_wait_cancelled_again_waiter, NULL);

    if (task == NULL)
        return -ENOMEM;
    turns(2);
    coil_lock_acquire(&lock);
    for (int i = 0; i < 3; i++) {
        coil_task_cancel(task, NULL);
        turns(1);
        trace("the lock is held: %s", state(coil_task_future(task)));
    }
    coil_lock_release(&lock);
    trace("requests: %s", outcome(coil_task_await(task)));
    return 0;
}

static int condition_wait_cancelled_has_the_lock_waiter(void *arg)
{
    int rc;

    (void)arg;
    trace("waits: locked %d", coil_lock_locked(&lock));
    rc = coil_condition_wait(&changed);
    if (rc == -ECANCELED)
        trace("cancelled: locked %d", coil_lock_locked(&lock));
    return rc;
}

static void cancel(void *task)
{
    coil_task_cancel(task, NULL);
}

/* A cancelled wait still returns with the lock held. */
SCENARIO(condition_wait_cancelled_has_the_lock)
{
    coil_task *task = start(condition_wait_cancelled_has_the_lock_waiter, NULL);
    int rc;

    if (task == NULL)
        return -ENOMEM;
    coil_lock_acquire(&lock);
    rc = coil_call_soon(cancel, task, NULL);
    if (rc < 0)
        return rc;
    trace("waiter: %s", outcome(coil_task_await(task)));
    trace("locked %d", coil_lock_locked(&lock));
    coil_lock_release(&lock);
    trace("locked %d", coil_lock_locked(&lock));
    return 0;
}

/*
 * A task that is cancelled while it waits for a notification gets the reason of the
 * cancellation.
 */
SCENARIO(condition_wait_cancelled_keeps_the_reason)
{
    coil_task *task = start(cancelled_waiter, NULL);

    if (task == NULL)
        return -ENOMEM;
    turns(1);
    coil_task_cancel(task, "tired");
    trace("waiter: %s", outcome(coil_task_await(task)));
    trace("locked %d", coil_lock_locked(&lock));
    return 0;
}

static int wait_two_seconds(void)
{
    coil_scope scope;
    int rc = coil_scope_enter(&scope, coil_in(COIL_SEC(2)));

    return rc < 0 ? rc : coil_scope_exit(&scope, coil_condition_wait(&changed));
}

/* If a wait for a condition times out, it still returns with the lock held. */
SCENARIO(condition_wait_times_out_with_the_lock_held)
{
    coil_lock_acquire(&lock);
    trace("waits: locked %d", coil_lock_locked(&lock));
    trace("wait: %s", outcome(wait_two_seconds()));
    trace("locked %d", coil_lock_locked(&lock));
    trace("wait: %s", outcome(wait_two_seconds()));
    coil_lock_release(&lock);
    trace("locked %d", coil_lock_locked(&lock));
    return 0;
}

static int condition_wait_without_waiter(void *name)
{
    int rc = coil_condition_wait(&changed);

    if (rc == -EPERM)
        return rc;
    if (rc == 0)
        trace("%s goes on", (char *)name);
    coil_lock_release(&lock);
    return rc;
}

/*
 * Waiting for a condition while its lock is free fails at once, and does not affect tasks
 * that wait correctly.
 */
SCENARIO(condition_wait_without_the_lock_is_an_error)
{
    coil_task *b, *c;

    if (start(ticker, TURNS(6)) == NULL)
        return -ENOMEM;
    trace("nobody holds it: %s", outcome(condition_wait_without_waiter("a")));
    coil_lock_acquire(&lock);
    b = start(condition_wait_without_waiter, "b");
    turns(2);
    c = start(condition_wait_without_waiter, "c");
    turns(2);
    if (b == NULL || c == NULL)
        return -ENOMEM;
    trace("b %s, c %s", state(coil_task_future(b)), state(coil_task_future(c)));
    coil_lock_acquire(&lock);
    coil_condition_notify(&changed, 1);
    coil_lock_release(&lock);
    turns(2);
    trace("b %s", state(coil_task_future(b)));
    return 0;
}

static int condition_waiter_cancelled_while_it_takes_waiter(void *arg)
{
    int rc = coil_lock_acquire(&lock);

    (void)arg;
    if (rc < 0)
        return rc;
    trace("waits");
    rc = coil_condition_wait(&changed);
    if (rc == -ECANCELED)
        trace("cancelled: locked %d", coil_lock_locked(&lock));
    coil_lock_release(&lock);
    return rc;
}

/*
 * If a notified waiter is cancelled while it waits for the lock, its wait returns the
 * cancellation only after it has acquired the lock.
 */
SCENARIO(condition_waiter_cancelled_while_it_takes_the_lock_back)
{
    coil_task *task = start(condition_waiter_cancelled_while_it_takes_waiter, NULL);

    if (task == NULL)
        return -ENOMEM;
    turns(1);
    coil_lock_acquire(&lock);
    coil_condition_notify(&changed, 1);
    turns(1);
    coil_task_cancel(task, NULL);
    turns(1);
    trace("cancelled, the lock is held: %s", state(coil_task_future(task)));
    coil_lock_release(&lock);
    turns(1);
    trace("released: %s, locked %d", state(coil_task_future(task)),
          coil_lock_locked(&lock));
    return 0;
}

static int condition_waiter_cancelled_while_the_lock_waiter(void *arg)
{
    int rc = coil_condition_wait(&changed);

    (void)arg;
    trace("%s: locked %d", rc == 0 ? "goes on" : "cancelled", coil_lock_locked(&lock));
    return rc;
}

static void release(void *arg)
{
    coil_lock_release(arg);
}

/*
 * If a notified waiter is cancelled while it waits for the lock, it holds the lock when
 * its wait returns the cancellation.
 */
SCENARIO(condition_waiter_cancelled_while_the_lock_is_contested)
{
    coil_task *task = start(condition_waiter_cancelled_while_the_lock_waiter, NULL);
    int rc;

    if (task == NULL)
        return -ENOMEM;
    coil_lock_acquire(&lock);
    turns(1);
    trace("it waits: locked %d", coil_lock_locked(&lock));
    coil_lock_acquire(&lock);
    coil_condition_notify(&changed, 1);
    rc = coil_call_soon(cancel, task, NULL);
    if (rc == 0)
        rc = coil_call_soon(release, &lock, NULL);
    if (rc < 0) {
        coil_lock_release(&lock);
        return rc;
    }
    trace("waiter: %s", outcome(coil_task_await(task)));
    trace("locked %d", coil_lock_locked(&lock));
    return 0;
}

static int condition_waiters_waiter(void *name)
{
    int rc = coil_lock_acquire(&lock);

    if (rc < 0)
        return rc;
    rc = coil_condition_wait(&changed);
    if (rc == 0) {
        trace("%s goes on: locked %d", (char *)name, coil_lock_locked(&lock));
        rc = coil_sleep(COIL_SEC(2));
    }
    coil_lock_release(&lock);
    trace("%s is done: locked %d", (char *)name, coil_lock_locked(&lock));
    return rc;
}

static void condition_waiters_notify(int n)
{
    if (coil_lock_acquire(&lock) < 0)
        return;
    coil_condition_notify(&changed, (size_t)n);
    coil_sleep(COIL_SEC(1));
    trace("%d notified: locked %d", n, coil_lock_locked(&lock));
    coil_lock_release(&lock);
    coil_sleep(COIL_SEC(7));
}

/*
 * A notified waiter continues when it has acquired the lock. Several notified waiters
 * continue one after another, in order.
 */
SCENARIO(condition_waiters_go_on_one_lock_at_a_time)
{
    if (start(condition_waiters_waiter, "a") == NULL ||
        start(condition_waiters_waiter, "b") == NULL ||
        start(condition_waiters_waiter, "c") == NULL)
        return -ENOMEM;
    turns(1);
    trace("they wait: locked %d", coil_lock_locked(&lock));
    condition_waiters_notify(1);
    condition_waiters_notify(2);
    return 0;
}

static int level;

static int two_or_more(void *arg)
{
    (void)arg;
    trace("asked at level %d: locked %d", level, coil_lock_locked(&lock));
    return level >= 2 ? level : 0;
}

static int condition_waits_waiter(void *arg)
{
    int rc = coil_lock_acquire(&lock);

    if (rc < 0)
        return rc;
    rc = coil_condition_wait_for(&changed, two_or_more, arg);
    coil_lock_release(&lock);
    if (rc < 0)
        return rc;
    trace("the predicate: %d", rc);
    return 0;
}

static void set_level(int value)
{
    level = value;
    coil_lock_acquire(&lock);
    coil_condition_notify(&changed, 1);
    coil_lock_release(&lock);
    turns(1);
}

/*
 * wait_for() evaluates the predicate at once and after each notification. When the
 * predicate is true, wait_for() returns its value.
 */
SCENARIO(condition_waits_until_the_predicate_holds)
{
    coil_task *task = start(condition_waits_waiter, NULL);

    if (task == NULL)
        return -ENOMEM;
    turns(1);
    set_level(1);
    trace("waiter: %s", state(coil_task_future(task)));
    set_level(3);
    trace("waiter: %s", state(coil_task_future(task)));
    return 0;
}

static int items;

static int are(void *wanted)
{
    return (items > 0) == *(bool *)wanted;
}

static int consumer(void *name)
{
    bool some = true;
    int rc = coil_lock_acquire(&lock);

    if (rc < 0)
        return rc;
    rc = coil_condition_wait_for(&changed, are, &some);
    if (rc > 0) {
        items--;
        trace("%s takes it", (char *)name);
        coil_condition_notify_all(&changed);
    }
    coil_lock_release(&lock);
    return rc < 0 ? rc : 0;
}

/*
 * A notification is not lost if the notified task is cancelled while it reacquires the
 * lock.
 */
SCENARIO(condition_wakeup_is_passed_on_by_who_is_cancelled_at_the_lock)
{
    coil_task *a = start(consumer, "a"), *b = start(consumer, "b");
    coil_scope scope;
    bool some = false;
    int rc;

    if (a == NULL || b == NULL)
        return -ENOMEM;
    turns(1);
    coil_lock_acquire(&lock);
    items = 1;
    coil_condition_notify(&changed, 1);
    turns(1);
    coil_task_cancel(a, NULL);
    trace("one item, a %s", state(coil_task_future(a)));
    rc = coil_scope_enter(&scope, coil_in(COIL_SEC(5)));
    if (rc == 0)
        rc = coil_scope_exit(&scope, coil_condition_wait_for(&changed, are, &some));
    coil_lock_release(&lock);
    if (rc < 0)
        return rc;
    trace("taken");
    trace("a: %s", outcome(coil_task_await(a)));
    trace("b: %s", outcome(coil_task_await(b)));
    return 0;
}

/*
 * A notification is not lost if the notified task is cancelled before it continues.
 * Another consumer takes the item.
 */
SCENARIO(condition_wakeup_of_a_cancelled_waiter_is_passed_on)
{
    coil_task *a = start(consumer, "a"), *b = start(consumer, "b");
    coil_scope scope;
    bool some = false;
    int rc;

    if (a == NULL || b == NULL)
        return -ENOMEM;
    turns(1);
    coil_lock_acquire(&lock);
    items = 1;
    coil_condition_notify(&changed, 1);
    coil_task_cancel(a, NULL);
    trace("one item, a %s", state(coil_task_future(a)));
    rc = coil_scope_enter(&scope, coil_in(COIL_SEC(5)));
    if (rc == 0)
        rc = coil_scope_exit(&scope, coil_condition_wait_for(&changed, are, &some));
    coil_lock_release(&lock);
    if (rc < 0)
        return rc;
    trace("taken");
    trace("a: %s", outcome(coil_task_await(a)));
    trace("b: %s", outcome(coil_task_await(b)));
    return 0;
}
