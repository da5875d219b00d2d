/*
 * context.c - the contexts in which tasks, callbacks and children run.
 */
#include "../scenario.h"

static coil_var color = COIL_VAR_INIT("color", (void *)"none");

static const char *get(void)
{
    return coil_var_get(&color);
}

static int set(const char *value)
{
    return coil_var_set(&color, (void *)(uintptr_t)value, NULL);
}

static int context_given_body(void *value)
{
    int rc;

    trace("%s finds %s", (char *)value, get());
    rc = coil_sleep(COIL_SEC(1));
    return rc < 0 ? rc : set(value);
}

static int spawn_and_await(coil_group *group, char *value, coil_context *context)
{
    coil_spawn_opts opts = {.context = context};
    coil_task *task;
    int rc = coil_group_spawn(group, context_given_body, value, &opts, &task);

    return rc < 0 ? rc : coil_task_await(task);
}

static int trace_color(void *who)
{
    trace("%s: %s", (char *)who, get());
    return 0;
}

/* A child of a group can also be spawned with a given context. */
SCENARIO(context_given_to_children_of_a_group)
{
    coil_context *context = coil_context_copy();
    coil_group group;
    int rc;

    if (context == NULL)
        return -ENOMEM;
    coil_group_enter(&group);
    rc = spawn_and_await(&group, "red", context);
    if (rc == 0)
        rc = spawn_and_await(&group, "green", context);
    if (rc == 0)
        rc = spawn_and_await(&group, "own", NULL);
    trace_color("group");
    rc = coil_group_exit(&group, rc);
    coil_context_run(context, trace_color, "context");
    coil_context_release(context);
    return rc;
}

static int context_is_shared_body(void *value)
{
    int rc;

    trace("%s finds %s", (char *)value, get());
    rc = set(value);
    if (rc == 0)
        rc = coil_sleep(COIL_SEC(1));
    trace("%s has %s", (char *)value, get());
    return rc;
}

static int read_color(void *out)
{
    *(const char **)out = get();
    return 0;
}

static void context_is_shared_show(coil_context *context)
{
    const char *inside = NULL;

    coil_context_run(context, read_color, &inside);
    trace("main: %s, context: %s", get(), inside);
}

static int run_three(coil_context *context)
{
    coil_spawn_opts opts = {.context = context};
    coil_task *red = start_with(context_is_shared_body, "red", &opts), *green, *blue;

    if (red == NULL)
        return -ENOMEM;
    coil_task_await(red);
    context_is_shared_show(context);
    green = start_with(context_is_shared_body, "green", &opts);
    blue = start_with(context_is_shared_body, "blue", &opts);
    if (green == NULL || blue == NULL)
        return -ENOMEM;
    coil_task_await(green);
    coil_task_await(blue);
    context_is_shared_show(context);
    return 0;
}

/*
 * Tasks that are started in the same context share it, whether they run concurrently or
 * not: each sees the values that the others set.
 */
SCENARIO(context_is_shared_by_tasks_that_are_given_it)
{
    coil_context *context;
    int rc = set("white");

    context = rc == 0 ? coil_context_copy() : NULL;
    if (context == NULL)
        return -ENOMEM;
    rc = set("main's");
    if (rc == 0)
        rc = run_three(context);
    coil_context_release(context);
    return rc;
}

static coil_var digits = COIL_VAR_INIT("digits", (void *)2);

static long third_of(long n)
{
    for (long i = (long)(intptr_t)coil_var_get(&digits); i > 0; i--)
        n *= 10;
    return n / 3;
}

static int fractions(void *arg)
{
    long precision = (long)(intptr_t)arg, before;
    coil_var_token token;
    int rc = coil_var_set(&digits, arg, &token);

    if (rc < 0)
        return rc;
    before = third_of(1);
    rc = coil_sleep(COIL_SEC(precision / 3));
    trace("%ld digits: %ld, then %ld", precision, before, third_of(2));
    coil_var_reset(&digits, &token);
    trace("and without: %ld", third_of(1));
    return rc;
}

/* Two tasks that calculate concurrently do not affect each other's precision. */
SCENARIO(context_keeps_the_precision_of_each_task)
{
    coil_task *three = start(fractions, TURNS(3)), *six = start(fractions, TURNS(6));

    if (three == NULL || six == NULL)
        return -ENOMEM;
    coil_task_await(three);
    coil_task_await(six);
    trace("main: %ld", third_of(1));
    return 0;
}

static void call(void *how)
{
    trace("%s: %s", (char *)how, get());
    set("gone");
}

static int ask(void)
{
    int rc = set("red");

    if (rc == 0)
        rc = coil_call_later(COIL_SEC(2), call, "later", NULL);
    if (rc == 0)
        rc = coil_call_at(coil_in(COIL_SEC(1)), call, "at", NULL);
    if (rc == 0)
        rc = coil_call_soon(call, "soon", NULL);
    if (rc == 0)
        rc = coil_post(coil_loop_current(), call, "post");
    if (rc == 0)
        rc = set("green");
    if (rc == 0)
        rc = coil_call_soon(call, "soon", NULL);
    return rc == 0 ? set("blue") : rc;
}

/*
 * A callback that is scheduled with call_soon, call_later, call_at or
 * call_soon_threadsafe runs in a copy of the current context.
 */
SCENARIO(context_of_a_call_is_that_of_its_asking)
{
    int rc = ask();

    if (rc == 0)
        rc = coil_sleep(COIL_SEC(3));
    trace("main: %s", get());
    return rc;
}

static int context_of_a_child_child(void *arg)
{
    int rc;

    (void)arg;
    trace("child: %s", get());
    rc = coil_sleep(COIL_SEC(2));
    trace("child: %s", get());
    if (rc == 0)
        rc = set("green");
    trace("child: %s", get());
    return rc;
}

/*
 * A child begins with the values that the variables have when it is spawned. Neither
 * parent nor child sees what the other sets later.
 */
SCENARIO(context_of_a_child_is_a_copy)
{
    coil_task *early = start(context_of_a_child_child, NULL),
              *late = set("red") == 0 ? start(context_of_a_child_child, NULL) : NULL;

    if (early == NULL || late == NULL)
        return -ENOMEM;
    coil_sleep(COIL_SEC(1));
    set("blue");
    trace("main: %s", get());
    coil_task_await(early);
    coil_task_await(late);
    trace("main: %s", get());
    return 0;
}

static void on_done(coil_future *future, void *arg)
{
    (void)future;
    (void)arg;
    trace("callback: %s", get());
    set("gone");
}

static int context_of_a_done_child(void *future)
{
    int rc = set("green");

    if (rc == 0)
        rc = coil_future_add_callback(future, on_done, NULL);
    if (rc == 0)
        rc = coil_await(future);
    trace("child: %s", get());
    return rc;
}

/*
 * A done callback runs in a copy of the context in which it was added. Values that the
 * callback sets are not visible elsewhere.
 */
SCENARIO(context_of_a_done_callback_is_that_of_its_adding)
{
    coil_future *future = new_future();
    coil_task *task;

    if (future == NULL || set("red") < 0 ||
        coil_future_add_callback(future, on_done, NULL) < 0)
        return -ENOMEM;
    task = start(context_of_a_done_child, future);
    set("blue");
    coil_sleep(COIL_SEC(1));
    coil_future_set(future, 0, NULL, NULL);
    if (task != NULL)
        coil_task_await(task);
    trace("main: %s", get());
    coil_future_add_callback(future, on_done, NULL);
    set("black");
    turns(1);
    trace("main: %s", get());
    return 0;
}

static int context_of_a_late_child(void *name)
{
    int rc = coil_sleep(COIL_SEC(1));

    trace("%s: %s", (char *)name, get());
    return rc;
}

static coil_task *serve(char *name)
{
    coil_var_token token;
    coil_task *task;

    if (coil_var_set(&color, name, &token) < 0)
        return NULL;
    task = start(context_of_a_late_child, name);
    coil_yield();
    coil_var_reset(&color, &token);
    trace("after %s: %s", name, get());
    return task;
}

/*
 * A task that is spawned while a variable is set temporarily inherits this value, and
 * still has it after the spawner has reset the variable.
 */
SCENARIO(context_of_a_late_reset_is_its_own)
{
    coil_task *red = serve("red"), *green = serve("green");

    if (red == NULL || green == NULL)
        return -ENOMEM;
    coil_task_await(red);
    return coil_task_await(green);
}

static coil_var number = COIL_VAR_INIT("number", NULL);

static int context_of_many_set(long value)
{
    return coil_var_set(&number, (void *)(intptr_t)value, NULL);
}

static long context_of_many_get(void)
{
    return (long)(intptr_t)coil_var_get(&number);
}

static int context_of_many_body(void *arg)
{
    long i = (long)(intptr_t)arg;
    int rc = 0, wrong = 0;

    for (long round = 0; round < 3 && rc == 0; round++) {
        rc = context_of_many_set(10 * i + round);
        if (rc == 0)
            rc = coil_sleep(COIL_SEC(1));
        wrong += context_of_many_get() != 10 * i + round;
    }
    trace("task %ld: %ld at the end, %d wrong", i, context_of_many_get(), wrong);
    return rc;
}

/* Ten tasks set the same variable, and each sees its own value. */
SCENARIO(context_of_many_tasks_side_by_side)
{
    coil_future *futures[10];
    int rc = context_of_many_set(1000);

    for (int i = 0; i < 10 && rc == 0; i++) {
        coil_task *task = start(context_of_many_body, TURNS(i));

        rc = task != NULL ? 0 : -ENOMEM;
        futures[i] = task != NULL ? coil_task_future(task) : NULL;
    }
    if (rc == 0)
        rc = coil_gather(futures, 10, 0, NULL);
    trace("main: %ld", context_of_many_get());
    return rc;
}

static coil_var shape = COIL_VAR_INIT("shape", (void *)"none");

static void context_reset_show(const char *what)
{
    trace("%s: %s, %s", what, (char *)coil_var_get(&color), (char *)coil_var_get(&shape));
}

static int mix_sets(coil_var_token *first)
{
    coil_var_token other;
    int rc = coil_var_set(&shape, "round", &other);

    if (rc < 0) {
        coil_var_reset(&color, first);
        return rc;
    }
    rc = turns(1);
    if (rc == 0)
        rc = coil_var_set(&shape, "square", NULL);
    while (coil_var_reset(&color, first) < 0)
        continue; /* memory ran out on this bad day */
    context_reset_show("reset out of order");
    while (coil_var_reset(&shape, &other) < 0)
        continue;
    return rc;
}

/* Each reset restores the value from before the corresponding set, nested or not. */
SCENARIO(context_reset_goes_back_to_the_set_it_is_of)
{
    coil_var_token first, second;
    int rc = coil_var_set(&color, "red", &first);

    if (rc < 0)
        return rc;
    rc = coil_var_set(&color, "green", &second);
    context_reset_show("set twice");
    if (rc == 0) {
        coil_var_reset(&color, &second);
        context_reset_show("reset once");
        rc = mix_sets(&first);
    } else {
        coil_var_reset(&color, &first);
    }
    context_reset_show("reset all");
    return rc;
}

static void called_soon(void *arg)
{
    (void)arg;
    trace("called soon: %s", get());
}

static int swap(void *value)
{
    int rc;

    trace("found %s", get());
    rc = set(value);
    if (rc == 0)
        rc = coil_call_soon(called_soon, NULL, NULL);
    return rc < 0 ? rc : 3;
}

/*
 * A function that runs in a context sees its values, and the values that the function
 * sets stay in that context.
 */
SCENARIO(context_run_keeps_what_is_set_in_it)
{
    coil_context *context;
    int rc = set("red");

    context = rc == 0 ? coil_context_copy() : NULL;
    if (context == NULL)
        return -ENOMEM;
    rc = set("green");
    trace("returned %s", outcome(coil_context_run(context, swap, "blue")));
    trace("main: %s", get());
    trace("returned %s", outcome(coil_context_run(context, swap, "black")));
    coil_context_release(context);
    return rc < 0 ? rc : turns(1);
}
