/* task.c - how tasks begin, take turns, sleep and end. */
#include "tasks.h"

static int add_name(coil_task *task, void *text)
{
    if (task == coil_task_current())
        return 0;
    if (*(char *)text != '\0')
        strcat(text, " ");
    strcat(text, coil_task_name(task));
    return 0;
}

static void look(void)
{
    char text[256] = "";

    coil_task_each(add_name, text);
    trace("tasks: %s", text);
}

static coil_task *start_named(coil_task_fn fn, void *arg, const char *name)
{
    coil_task *task = start(fn, arg);

    if (task != NULL)
        coil_task_set_name(task, name);
    return task;
}

/*
 * The list of all tasks contains waiting tasks and tasks that have not begun, but no task
 * that has ended.
 */
SCENARIO(all_tasks_are_those_that_have_not_ended)
{
    coil_future *future = new_future();
    coil_task *waiter;

    start_named(sleeper, SECONDS(1), "sleeper-1");
    start_named(sleeper, SECONDS(2), "sleeper-2");
    start_named(sleeper, SECONDS(3), "sleeper-3");
    look();
    waiter = start_named(awaiter, future, "waiter");
    if (waiter == NULL)
        return -ENOMEM;
    coil_sleep(COIL_SEC(2));
    look();
    coil_future_set(future, 0, NULL, NULL);
    look();
    turns(1);
    look();
    coil_sleep(COIL_SEC(1));
    look();
    trace("waiter: %s", state(coil_task_future(waiter)));
    return 0;
}

struct countdown {
    coil_awaitable awaitable;
    int ticks;
};

static int count_down(void *self)
{
    struct countdown *countdown = self;
    int rc = 0;

    while (rc == 0 && countdown->ticks > 0) {
        trace("countdown: %d", countdown->ticks--);
        rc = coil_yield();
    }
    return rc < 0 ? rc : 99;
}

static int awaitable_of_ones_body(void *countdown)
{
    return coil_awaitable_await(countdown);
}

/*
 * A user-defined awaitable waits in several steps, between which other tasks run, and
 * then returns a result.
 */
SCENARIO(awaitable_of_ones_own_waits_inside_its_task)
{
    struct countdown first = {{count_down}, 2};
    static struct countdown second = {{count_down}, 2};
    coil_task *ticks = start(ticker, TURNS(3)), *task;

    if (ticks == NULL)
        return -ENOMEM;
    trace("awaited: %s", outcome(coil_awaitable_await(&first.awaitable)));
    task = start(awaitable_of_ones_body, &second);
    if (task == NULL)
        return -ENOMEM;
    turns(1);
    trace("cancel: %d", coil_task_cancel(task, NULL));
    trace("in a task: %s", outcome(coil_task_await(task)));
    return coil_task_await(ticks);
}

static int callback_of_a_task_body(void *arg)
{
    int i = (int)(intptr_t)arg, rc = coil_sleep(COIL_SEC(2));

    if (rc < 0)
        return rc;
    trace("body %d ends", i);
    return i == 1 ? -EIO : i;
}

static void callback_of_a_task_callback(coil_future *future, void *i)
{
    trace("callback %d: %s", (int)(intptr_t)i, state(future));
}

/*
 * The callbacks of a task are called in the turn after it has ended, whether it has
 * succeeded, failed or been cancelled.
 */
SCENARIO(callback_of_a_task_sees_how_it_ended)
{
    coil_future *futures[3];
    coil_task *last = NULL;

    for (int i = 0; i < 3; i++) {
        last = start(callback_of_a_task_body, (void *)(intptr_t)i);
        if (last == NULL)
            return -ENOMEM;
        futures[i] = coil_task_future(last);
        if (coil_future_add_callback(futures[i], callback_of_a_task_callback,
                                     (void *)(intptr_t)i) < 0)
            return -ENOMEM;
    }
    coil_sleep(COIL_SEC(1));
    trace("cancel: %d", coil_task_cancel(last, NULL));
    trace("done: %d", coil_wait(futures, 3, COIL_WAIT_ALL, COIL_NEVER));
    return 0;
}

static coil_future *current_task_changes_first, *current_task_changes_second;

static int one(void *arg)
{
    (void)arg;
    trace("one: %s", coil_task_name(coil_task_current()));
    coil_await(current_task_changes_first);
    trace("one: %s", coil_task_name(coil_task_current()));
    return coil_future_set(current_task_changes_second, 1, NULL, NULL);
}

static int two(void *arg)
{
    (void)arg;
    trace("two: %s", coil_task_name(coil_task_current()));
    coil_future_set(current_task_changes_first, 1, NULL, NULL);
    coil_await(current_task_changes_second);
    trace("two: %s", coil_task_name(coil_task_current()));
    return 0;
}

/*
 * Two tasks wake each other through futures. Whenever one of them runs, it is the current
 * task.
 */
SCENARIO(current_task_changes_with_each_switch)
{
    coil_task *a, *b;

    current_task_changes_first = new_future();
    current_task_changes_second = new_future();
    a = start(one, NULL);
    b = start(two, NULL);
    if (b == NULL)
        return -ENOMEM;
    coil_task_set_name(a, "a");
    coil_task_set_name(b, "b");
    coil_future *futures[] = {coil_task_future(a), coil_task_future(b)};
    trace("done: %d", coil_wait(futures, 2, COIL_WAIT_ALL, COIL_NEVER));
    return 0;
}

static const char *name_of_current(void)
{
    coil_task *task = coil_task_current();

    return task != NULL ? coil_task_name(task) : "none";
}

static void current_task_is_the_one_that_runs_callback(void *arg)
{
    (void)arg;
    trace("in a callback: %s", name_of_current());
}

static int current_task_is_the_one_that_runs_body(void *arg)
{
    int rc;

    (void)arg;
    trace("in a task: %s", name_of_current());
    rc = coil_call_soon(current_task_is_the_one_that_runs_callback, NULL, NULL);
    if (rc == 0)
        rc = coil_yield();
    trace("in a task: %s", name_of_current());
    return rc < 0 ? rc : 3;
}

/*
 * While a task runs, it is the current task. In callbacks and outside the loop there is
 * no current task.
 */
PLAIN_SCENARIO(current_task_is_the_one_that_runs)
{
    coil_loop_opts opts = {.virtual_clock = true};
    coil_loop *loop;
    coil_task *task;
    int rc = coil_loop_create(&opts, &loop);

    if (rc < 0)
        return rc;
    trace("outside: %s", name_of_current());
    task = start(current_task_is_the_one_that_runs_body, NULL);
    if (task != NULL) {
        coil_task_set_name(task, "worker");
        trace("outside: %s", name_of_current());
        trace("result: %d", coil_run_until_complete(coil_task_future(task)));
        trace("outside: %s", name_of_current());
    }
    coil_loop_close(loop);
    return task != NULL ? 0 : -ENOMEM;
}

/*
 * A failure that is never retrieved is reported, unless the failed task was cancelled
 * later.
 */
SCENARIO(failure_is_not_reported_after_cancel)
{
    coil_set_exception_handler(trace_exception, NULL);
    for (int cancels = 1; cancels >= 0; cancels--) {
        coil_task *task;
        int rc = coil_spawn(failer, NULL, NULL, &task);

        if (rc < 0)
            return rc;
        trace(cancels ? "cancels" : "leaves it");
        coil_sleep(COIL_SEC(1));
        if (cancels)
            trace("cancel: %d", coil_task_cancel(task, NULL));
        coil_task_release(task);
        trace("gone");
    }
    return 0;
}

static void future_set_by_a_callback_set(void *future)
{
    coil_future_set(future, 11, NULL, NULL);
}

static int future_set_by_a_callback_body(void *arg)
{
    coil_future *future = new_future();

    (void)arg;
    if (future == NULL || coil_call_soon(future_set_by_a_callback_set, future, NULL) < 0)
        return -ENOMEM;
    return trace_outcome("body", coil_await(future));
}

/*
 * If a callback sets the future that a task awaits, the callback runs in the next turn
 * and the task in the turn after it.
 */
SCENARIO(future_set_by_a_callback_wakes_its_task)
{
    coil_task *task = start(future_set_by_a_callback_body, NULL),
              *ticks = start(ticker, TURNS(4));

    if (ticks == NULL)
        return -ENOMEM;
    trace("awaited: %s", outcome(coil_task_await(task)));
    return coil_task_await(ticks);
}

static void future_set_by_a_timer_set(void *future)
{
    coil_future_set(future, 1, NULL, NULL);
}

static int future_set_by_a_timer_body(void *future)
{
    int rc = trace_outcome("future", coil_await(future));

    return rc < 0 ? rc : 7;
}

/* A timer sets the future that a task awaits, and the task continues at that time. */
SCENARIO(future_set_by_a_timer_wakes_its_task)
{
    coil_future *future = new_future();
    coil_task *task = start(future_set_by_a_timer_body, future);

    if (task == NULL ||
        coil_call_later(COIL_SEC(3), future_set_by_a_timer_set, future, NULL) < 0)
        return -ENOMEM;
    coil_sleep(COIL_SEC(2));
    trace("future %s, task %s", state(future), state(coil_task_future(task)));
    trace("awaited: %s", outcome(coil_task_await(task)));
    return 0;
}

static int result;

static void add(void *number)
{
    result += (int)(intptr_t)number;
    trace("now %d", result);
    if ((intptr_t)number == 1)
        coil_call_soon(add, (void *)(intptr_t)100, NULL);
}

/*
 * A sleep of zero takes one turn. Callbacks that were scheduled before the sleep run
 * before it returns.
 */
SCENARIO(sleep_of_zero_runs_what_was_called_soon)
{
    int rc = coil_call_soon(add, (void *)(intptr_t)1, NULL);

    if (rc < 0)
        return rc;
    trace("before: %d", result);
    coil_sleep(0);
    trace("after one: %d", result);
    coil_sleep(0);
    trace("after two: %d", result);
    return 0;
}

/* A sleep takes exactly its delay on the loop's clock. */
SCENARIO(sleep_returns_after_its_delay)
{
    trace("sleeps");
    trace("slept: %s", outcome(coil_sleep(COIL_SEC(3))));
    return 0;
}

static int sleeps_add_body(void *arg)
{
    int rc = 0;

    (void)arg;
    for (int i = 0; rc == 0 && i < 2; i++)
        rc = trace_outcome("slept", coil_sleep(COIL_SEC(2)));
    return rc < 0 ? rc : 7;
}

/* Two consecutive sleeps take exactly the sum of their delays on the loop's clock. */
SCENARIO(sleeps_add_up)
{
    coil_task *task = start(sleeps_add_body, NULL);

    if (task == NULL)
        return -ENOMEM;
    coil_sleep(COIL_SEC(3));
    trace("state: %s", state(coil_task_future(task)));
    trace("awaited: %s", outcome(coil_task_await(task)));
    return 0;
}

struct nap {
    char name;
    int seconds;
};

static int sleeps_of_one_deadline_body(void *arg)
{
    const struct nap *nap = arg;
    int rc = coil_sleep(COIL_SEC(nap->seconds));

    trace("%c after %d", nap->name, nap->seconds);
    return rc;
}

/*
 * Sleeping tasks wake in the order of their deadlines. Tasks with equal deadlines wake in
 * the order in which they began to sleep.
 */
SCENARIO(sleeps_of_one_deadline_wake_in_their_order)
{
    static struct nap naps[] = {{'a', 2}, {'b', 1}, {'c', 2},
                                {'d', 0}, {'e', 1}, {'f', -1}};
    coil_future *futures[6];

    for (int i = 0; i < 6; i++) {
        coil_task *task = start(sleeps_of_one_deadline_body, &naps[i]);

        if (task == NULL)
            return -ENOMEM;
        futures[i] = coil_task_future(task);
    }
    coil_wait(futures, 6, COIL_WAIT_ALL, COIL_NEVER);
    return 0;
}

static int count;

static int stopped_loop_body(void *loop)
{
    while (count < 5) {
        int rc = coil_sleep(COIL_SEC(1));

        if (rc < 0)
            return rc;
        trace("counts %d", ++count);
        if (count == 2)
            coil_loop_stop(loop);
    }
    return count;
}

/*
 * If a loop is stopped, its tasks continue to wait, and resume when the loop runs again.
 */
PLAIN_SCENARIO(stopped_loop_leaves_its_task_pending)
{
    coil_loop_opts opts = {.virtual_clock = true};
    coil_loop *loop;
    coil_task *task;
    int rc = coil_loop_create(&opts, &loop);

    if (rc < 0)
        return rc;
    task = start(stopped_loop_body, loop);
    if (task != NULL) {
        coil_future *future = coil_task_future(task);

        if (coil_run_until_complete(future) == -EDEADLK)
            trace("stopped at %d: %s", count, state(future));
        trace("again: %d", coil_run_until_complete(future));
        trace("task: %s", state(future));
    }
    coil_loop_close(loop);
    return task != NULL ? 0 : -ENOMEM;
}

static coil_task *task_end_task;

static int task_end_body(void *future)
{
    int rc = trace_outcome("body", coil_await(future));

    return rc < 0 ? rc : 4;
}

static int waiter(void *i)
{
    trace("waiter %d: %s", (int)(intptr_t)i, outcome(coil_task_await(task_end_task)));
    return 0;
}

/*
 * All awaiters of a task continue one turn after its end. Tasks that await the ended task
 * later do not wait at all.
 */
SCENARIO(task_end_wakes_its_awaiters_in_the_next_turn)
{
    coil_future *future = new_future();
    coil_task *waiters[3], *ticks;

    task_end_task = start(task_end_body, future);
    for (int i = 0; i < 3; i++)
        waiters[i] = start(waiter, (void *)(intptr_t)i);
    if (waiters[2] == NULL)
        return -ENOMEM;
    turns(1);
    ticks = start(ticker, TURNS(3));
    if (ticks == NULL)
        return -ENOMEM;
    turns(1);
    coil_future_set(future, 0, NULL, NULL);
    coil_task_await(ticks);
    trace("late: %s", outcome(coil_task_await(task_end_task)));
    trace("waiters: %s %s %s", state(coil_task_future(waiters[0])),
          state(coil_task_future(waiters[1])), state(coil_task_future(waiters[2])));
    return 0;
}

static int task_goes_body(void *future)
{
    int rc = coil_await(future);

    if (rc == 0)
        trace("got %s", (const char *)coil_future_value(future));
    return rc;
}

/* A future wakes its awaiting task in the next turn, with its value. */
SCENARIO(task_goes_on_with_the_value_of_its_future)
{
    coil_future *future = new_future();
    coil_task *task = start(task_goes_body, future);

    if (task == NULL)
        return -ENOMEM;
    turns(1);
    coil_future_set(future, 0, "a value", NULL);
    trace("set: task %s", state(coil_task_future(task)));
    turns(1);
    trace("one turn later: task %s", state(coil_task_future(task)));
    return 0;
}

static void task_hands_set(void *future)
{
    coil_future_set(future, 9, NULL, NULL);
}

static int giver(void *out)
{
    coil_future *future = new_future();

    *(coil_future **)out = future;
    return future != NULL ? coil_call_later(COIL_SEC(2), task_hands_set, future, NULL)
                          : -ENOMEM;
}

/*
 * If a task returns a future, the task ends without waiting for it. The parent awaits the
 * future.
 */
SCENARIO(task_hands_out_a_future_without_awaiting_it)
{
    coil_future *future = NULL;
    coil_task *task = start(giver, &future);
    int rc = task != NULL ? coil_task_await(task) : -ENOMEM;

    if (rc < 0)
        return rc;
    trace("the task is done; the future: %s", state(future));
    trace("the future: %s", outcome(coil_await(future)));
    return 0;
}

static int task_has_the_name_body(void *arg)
{
    coil_task *task = coil_task_current();
    int rc;

    (void)arg;
    trace("begins as %s", coil_task_name(task));
    rc = coil_sleep(COIL_SEC(1));
    trace("goes on as %s", coil_task_name(task));
    return rc;
}

/*
 * A task's name is the same when read by the task or by other tasks, and may be changed.
 */
SCENARIO(task_has_the_name_it_was_given)
{
    coil_spawn_opts opts = {.name = "no-op"};
    coil_task *task;
    int rc = coil_spawn(task_has_the_name_body, NULL, &opts, &task);

    if (rc < 0)
        return rc;
    trace("created: %s", coil_task_name(task));
    turns(1);
    coil_task_set_name(task, "op");
    trace("renamed: %s", coil_task_name(task));
    coil_task_await(task);
    trace("ended: %s", coil_task_name(task));
    coil_task_release(task);
    return 0;
}

static int forgotten(void *future)
{
    for (int i = 0; i < 3; i++) {
        int rc = coil_sleep(COIL_SEC(1));

        if (rc < 0)
            return coil_future_set(future, rc, NULL, NULL);
        trace("step %d", i);
    }
    return coil_future_set(future, 3, NULL, NULL);
}

/*
 * A task to which no reference exists still runs to its end, as long as something can
 * wake it.
 */
SCENARIO(task_nobody_holds_runs_to_its_end)
{
    coil_future *future = new_future();
    int rc = future != NULL ? coil_spawn(forgotten, future, NULL, NULL) : -ENOMEM;

    if (rc < 0)
        return rc;
    trace("started");
    trace("future: %s", outcome(coil_await(future)));
    return 0;
}

static coil_task *child_task;

static int child(void *arg)
{
    int rc = coil_sleep(COIL_SEC(2));

    (void)arg;
    trace("child ends");
    return rc < 0 ? rc : 6;
}

static int parent(void *arg)
{
    int rc;

    (void)arg;
    child_task = start(child, NULL);
    if (child_task == NULL)
        return -ENOMEM;
    rc = coil_sleep(COIL_SEC(1));
    trace("parent ends");
    return rc;
}

/* When a parent returns, its child continues to run. Another task may await the child. */
SCENARIO(task_outlives_the_parent_that_started_it)
{
    coil_task *task = start(parent, NULL);

    if (task == NULL)
        return -ENOMEM;
    trace("parent: %s", outcome(coil_task_await(task)));
    if (child_task == NULL)
        return -ENOMEM;
    trace("cancel the parent: %d", coil_task_cancel(task, NULL));
    trace("child: %s, counted %d", state(coil_task_future(child_task)),
          coil_task_cancelling(child_task));
    trace("child: %s", outcome(coil_task_await(child_task)));
    return 0;
}

static int inner(void *arg)
{
    int value = (int)(intptr_t)arg, rc;

    trace("inner %d begins", value);
    rc = coil_sleep(COIL_SEC(1));
    return rc < 0 ? rc : value;
}

static int result_of_inner(int value)
{
    coil_task *task = start(inner, (void *)(intptr_t)value);
    int rc = task != NULL ? coil_task_await(task) : -ENOMEM;

    trace("got %d", rc);
    return rc;
}

static int outer(void *arg)
{
    int left, right;

    (void)arg;
    left = result_of_inner(42);
    if (left < 0)
        return left;
    right = result_of_inner(1000);
    return right < 0 ? right : left + right;
}

/*
 * A task awaits two others one after the other, and returns a result computed from their
 * results.
 */
SCENARIO(task_results_are_added_up)
{
    coil_task *task = start(outer, NULL);

    if (task == NULL)
        return -ENOMEM;
    trace("before: %s", state(coil_task_future(task)));
    trace("sum: %s", outcome(coil_task_await(task)));
    return 0;
}

static int task_runs_body(void *delay)
{
    int seconds = (int)(intptr_t)delay, rc;

    trace("begins");
    rc = coil_sleep(COIL_SEC(seconds));
    trace("ends");
    return rc < 0 ? rc : seconds;
}

/*
 * If several loops run one after the other, each with its own task, the result of a task
 * can still be read when its loop is closed.
 */
PLAIN_SCENARIO(task_runs_on_the_loop_it_was_made_for)
{
    coil_loop_opts opts = {.virtual_clock = true};
    coil_task *tasks[2];

    for (int i = 0; i < 2; i++) {
        coil_loop *loop;
        int rc = coil_loop_create(&opts, &loop);

        if (rc < 0)
            return rc;
        tasks[i] = start(task_runs_body, (void *)(intptr_t)(i + 2));
        if (tasks[i] != NULL)
            trace("result: %d", coil_run_until_complete(coil_task_future(tasks[i])));
        coil_loop_close(loop);
        if (tasks[i] == NULL)
            return -ENOMEM;
    }
    trace("kept: %s %s", state(coil_task_future(tasks[0])),
          state(coil_task_future(tasks[1])));
    return 0;
}

struct part {
    char name[16];
    int children;
};

static int tasks_begin_body(void *arg)
{
    static struct part parts[4];
    static int used;
    const struct part *self = arg;
    coil_task *tasks[2] = {NULL};
    int rc;

    trace("%s begins", self->name);
    for (int i = 0; i < self->children; i++) {
        struct part *part = &parts[used++];

        snprintf(part->name, sizeof part->name, "%.2s%d", self->name, i);
        tasks[i] = start(tasks_begin_body, part);
        if (tasks[i] == NULL)
            return -ENOMEM;
    }
    rc = coil_yield();
    trace("%s goes on", self->name);
    for (int i = 0; rc == 0 && i < self->children; i++)
        rc = coil_task_await(tasks[i]);
    return rc;
}

static void tasks_begin_callback(void *arg)
{
    (void)arg;
    trace("a callback");
}

/*
 * New tasks and callbacks start in the order in which they were created and scheduled.
 * The children of these tasks start after all of them.
 */
SCENARIO(tasks_begin_in_the_order_of_their_making)
{
    static struct part a = {"a", 2}, b = {"b", 1};
    coil_task *first = start(tasks_begin_body, &a), *second;
    int rc = coil_call_soon(tasks_begin_callback, NULL, NULL);

    second = start(tasks_begin_body, &b);
    if (rc < 0 || second == NULL)
        return -ENOMEM;
    trace("made");
    coil_task_await(first);
    return coil_task_await(second);
}

static coil_future *balls[7];

static int play(const char *name, int i)
{
    for (; i < 6; i += 2) {
        int rc = coil_await(balls[i]);

        if (rc < 0)
            return rc;
        trace("%s catches ball %d", name, i);
        coil_future_set(balls[i + 1], 0, NULL, NULL);
    }
    return 0;
}

static int left(void *arg)
{
    (void)arg;
    return play("left", 0);
}

static int right(void *arg)
{
    (void)arg;
    return play("right", 1);
}

/*
 * Two tasks that wake each other through futures take one turn per wakeup, and other
 * tasks run between the wakeups.
 */
SCENARIO(tasks_hand_a_ball_to_each_other)
{
    coil_task *a, *b, *ticks;

    for (int i = 0; i < 7; i++)
        balls[i] = new_future();
    a = start(left, NULL);
    b = start(right, NULL);
    ticks = start(ticker, TURNS(7));
    if (ticks == NULL)
        return -ENOMEM;
    coil_future *tasks[] = {coil_task_future(a), coil_task_future(b),
                            coil_task_future(ticks)};
    turns(1);
    coil_future_set(balls[0], 0, NULL, NULL);
    trace("service");
    coil_wait(tasks, 3, COIL_WAIT_ALL, COIL_NEVER);
    trace("the last ball: %s", state(balls[6]));
    return 0;
}
