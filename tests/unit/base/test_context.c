/*
 * test_context.c - task-local variables.
 */
#include "../../harness/harness.h"

#include <coil.h>

#include <pthread.h>
#include <unistd.h>

static coil_var color = COIL_VAR_INIT("color", (void *)"none");
static coil_var shape = COIL_VAR_INIT("shape", (void *)"none");

static void *text(const char *literal)
{
    return (void *)(uintptr_t)literal;
}

static const char *get(const coil_var *var)
{
    return coil_var_get(var);
}

static void set(const coil_var *var, const char *value)
{
    CHECK_INT(coil_var_set(var, text(value), NULL), 0);
}

static int run(coil_task_fn fn, void *arg, const coil_spawn_opts *opts)
{
    coil_task *task;

    CHECK_INT(coil_spawn(fn, arg, opts, &task), 0);
    return test_join(task);
}

/* ---- set, get, reset --------------------------------------------------------------- */

TASK_TEST(var_has_its_initial_value_until_it_is_set)
{
    CHECK_STR(get(&color), "none");
    set(&color, "red");
    CHECK_STR(get(&color), "red");
    CHECK_STR(get(&shape), "none");
    set(&color, "green");
    set(&shape, "round");
    CHECK_STR(get(&color), "green");
    CHECK_STR(get(&shape), "round");
}

TASK_TEST(var_reset_goes_back_to_what_was)
{
    coil_var_token first, second;

    CHECK_INT(coil_var_set(&color, text("red"), &first), 0);
    CHECK_INT(coil_var_set(&color, text("green"), &second), 0);
    CHECK_INT(coil_var_reset(&color, &second), 0);
    CHECK_STR(get(&color), "red");
    CHECK_INT(coil_var_reset(&color, &first), 0);
    CHECK_STR(get(&color), "none");
}

TASK_TEST(var_resets_need_not_nest)
{
    coil_var_token c, s;

    CHECK_INT(coil_var_set(&color, text("red"), &c), 0);
    CHECK_INT(coil_var_set(&shape, text("round"), &s), 0);
    set(&shape, "square");
    CHECK_INT(coil_var_reset(&color, &c), 0);
    CHECK_STR(get(&color), "none");
    CHECK_STR(get(&shape), "square");
    CHECK_INT(coil_var_reset(&shape, &s), 0);
    CHECK_STR(get(&shape), "none");
}

TASK_TEST(var_reset_that_nests_needs_no_memory)
{
    coil_var_token token;
    coil_context *copy;

    set(&shape, "round");
    CHECK_INT(coil_var_set(&color, text("red"), &token), 0);
    copy = coil_context_copy(); /* shares the bindings */
    test_fail_allocation(1);
    CHECK_INT(coil_var_reset(&color, &token), 0);
    test_fail_allocation(0);
    CHECK_STR(get(&color), "none");
    CHECK_STR(get(&shape), "round");
    coil_context_release(copy);
}

TASK_TEST(var_without_memory_is_an_error_return)
{
    coil_var_token token;

    test_fail_allocation(1);
    CHECK_INT(coil_var_set(&color, text("red"), NULL), -ENOMEM);
    CHECK_STR(get(&color), "none");
    test_fail_allocation(0);
    CHECK_INT(coil_var_set(&color, text("red"), &token), 0);
    set(&shape, "round");
    test_fail_allocation(1);
    CHECK_INT(coil_var_reset(&color, &token), -ENOMEM);
    test_fail_allocation(0);
    CHECK_STR(get(&color), "red");
    CHECK_INT(coil_var_reset(&color, &token), 0);
    CHECK_STR(get(&color), "none");
    test_fail_allocation(1);
    CHECK(coil_context_copy() == NULL);
    test_fail_allocation(0);
}

static int reset_elsewhere(void *token)
{
    return coil_var_reset(&color, token);
}

static int misuse_token(void *how)
{
    coil_var_token token;

    coil_var_set(&color, text("red"), &token);
    if (strcmp(how, "twice") == 0)
        coil_var_reset(&color, &token);
    if (strcmp(how, "task") == 0)
        return run(reset_elsewhere, &token, NULL);
    return coil_var_reset(strcmp(how, "var") == 0 ? &shape : &color, &token);
}

static void run_misuse(void *how)
{
    coil_run(misuse_token, how, NULL);
}

TEST(var_token_is_good_for_one_reset_in_its_context)
{
    test_dies(run_misuse, text("twice"), "was already used");
    test_dies(run_misuse, text("task"), "belongs to another context");
    test_dies(run_misuse, text("var"), "belongs to another context or variable");
}

/* ---- values with references -------------------------------------------------------- */

struct counted {
    _Atomic int refs;
};

static void *retain_counted(void *value)
{
    ((struct counted *)value)->refs++;
    return value;
}

static void release_counted(void *value)
{
    ((struct counted *)value)->refs--;
}

static coil_var counted = {"counted", NULL, retain_counted, release_counted};

static int replace_counted(void *other)
{
    CHECK_INT(coil_var_set(&counted, other, NULL), 0);
    return coil_yield();
}

TASK_TEST(var_values_are_retained_while_a_context_has_them)
{
    struct counted one = {1}, other = {1};
    coil_var_token token;
    coil_task *task;

    CHECK_INT(coil_var_set(&counted, &one, &token), 0);
    CHECK_INT(one.refs, 2);
    CHECK_INT(coil_spawn(replace_counted, &other, NULL, &task), 0);
    CHECK_INT(coil_var_reset(&counted, &token), 0);
    CHECK_INT(one.refs, 2); /* the child has a reference */
    CHECK_INT(coil_yield(), 0);
    CHECK_INT(one.refs, 1);
    CHECK_INT(other.refs, 2);
    CHECK_INT(coil_task_await(task), 0);
    /* an ended task releases its context, even if references to it remain */
    CHECK_INT(other.refs, 1);
    coil_task_release(task);
}

static int never_run(void *arg)
{
    (void)arg;
    return 0;
}

TASK_TEST(var_values_are_released_by_a_task_that_never_began)
{
    struct counted one = {1};
    coil_var_token token;
    coil_task *task;

    CHECK_INT(coil_var_set(&counted, &one, &token), 0);
    CHECK_INT(coil_spawn(never_run, NULL, NULL, &task), 0);
    CHECK_INT(coil_var_reset(&counted, &token), 0);
    coil_task_cancel(task, NULL);
    CHECK_INT(test_join(task), -ECANCELED);
    CHECK_INT(one.refs, 1);
}

/* ---- tasks ------------------------------------------------------------------------- */

static int set_and_sleep(void *value)
{
    test_trace("%s ", get(&color));
    set(&color, value);
    coil_yield();
    test_trace("%s ", get(&color));
    return 0;
}

TASK_TEST(context_of_a_task_is_a_copy_of_its_spawners)
{
    coil_task *a, *b;

    set(&color, "red");
    CHECK_INT(coil_spawn(set_and_sleep, text("green"), NULL, &a), 0);
    CHECK_INT(coil_spawn(set_and_sleep, text("blue"), NULL, &b), 0);
    set(&color, "black"); /* the tasks have already copied the context */
    CHECK_INT(test_join(a), 0);
    CHECK_INT(test_join(b), 0);
    CHECK_TRACE("red red green blue ");
    CHECK_STR(get(&color), "black");
}

TASK_TEST(context_of_an_eager_task_is_a_copy_too)
{
    coil_task *task;

    set(&color, "red");
    CHECK_INT(coil_spawn(set_and_sleep, text("green"), &(coil_spawn_opts){.eager = true},
                         &task),
              0);
    CHECK_TRACE("red ");
    CHECK_STR(get(&color), "red");
    CHECK_INT(test_join(task), 0);
    CHECK_TRACE("green ");
}

TASK_TEST(context_may_be_shared)
{
    coil_context *context = coil_context_copy();
    coil_spawn_opts opts = {.context = context};

    set(&color, "red");
    CHECK_INT(run(set_and_sleep, text("green"), &opts), 0);
    CHECK_INT(run(set_and_sleep, text("blue"), &opts), 0);
    coil_context_release(context);
    CHECK_TRACE("none green green blue ");
    CHECK_STR(get(&color), "red");
}

static int generate(coil_gen *gen, void *arg)
{
    (void)gen;
    (void)arg;
    test_trace("%s ", get(&color));
    set(&color, "green");
    return coil_gen_yield(NULL, NULL);
}

TASK_TEST(context_of_a_generator_is_its_callers)
{
    coil_gen *gen;

    set(&color, "red");
    CHECK_INT(coil_gen_create(generate, NULL, NULL, &gen), 0);
    CHECK_INT(coil_gen_next(gen, NULL), COIL_GEN_YIELDED);
    CHECK_STR(get(&color), "green");
    CHECK_INT(coil_gen_next(gen, NULL), COIL_GEN_ENDED);
    coil_gen_destroy(gen);
    CHECK_TRACE("red ");
}

/* ---- entering ---------------------------------------------------------------------- */

TASK_TEST(context_run_sees_and_keeps_what_is_set_in_it)
{
    coil_context *context;

    set(&color, "red");
    context = coil_context_copy();
    set(&color, "green");
    CHECK_INT(coil_context_run(context, set_and_sleep, text("blue")), 0);
    CHECK_STR(get(&color), "green");
    CHECK_INT(coil_context_run(context, set_and_sleep, text("black")), 0);
    CHECK_TRACE("red blue blue black ");
    coil_context_release(context);
}

static int enter_again(void *context)
{
    set(&color, "green");
    coil_context_run(context, set_and_sleep, text("blue"));
    test_trace("%s ", get(&color));
    return 0;
}

TASK_TEST(context_may_be_entered_again)
{
    coil_context *context = coil_context_copy();

    CHECK_INT(coil_context_run(context, enter_again, context), 0);
    coil_context_release(context);
    CHECK_TRACE("green blue blue ");
    CHECK_STR(get(&color), "none");
}

/* ---- calls ------------------------------------------------------------------------- */

static void call(void *arg)
{
    test_trace("%s:%s ", (const char *)arg, get(&color));
    set(&color, "changed"); /* changes only the call's own copy */
}

static void done(coil_future *future, void *arg)
{
    (void)future;
    call(arg);
}

TASK_TEST(context_of_a_call_is_a_copy_of_the_askers)
{
    coil_future *future;

    set(&color, "red");
    CHECK_INT(coil_future_create(&future), 0);
    CHECK_INT(coil_call_soon(call, text("soon"), NULL), 0);
    CHECK_INT(coil_call_later(1, call, text("later"), NULL), 0);
    CHECK_INT(coil_call_at(coil_in(2), call, text("at"), NULL), 0);
    CHECK_INT(coil_post(coil_loop_current(), call, text("post")), 0);
    CHECK_INT(coil_future_add_callback(future, done, text("done")), 0);
    coil_future_set(future, 0, NULL, NULL);
    set(&color, "green");
    CHECK_INT(coil_sleep(10), 0);
    CHECK_TRACE("soon:red post:red done:red later:red at:red ");
    CHECK_STR(get(&color), "green");
    coil_future_release(future);
}

TASK_TEST(context_of_a_cancelled_call_is_released)
{
    struct counted one = {1};
    coil_future *future;
    coil_handle *handle;

    CHECK_INT(coil_var_set(&counted, &one, NULL), 0);
    CHECK_INT(coil_future_create(&future), 0);
    CHECK_INT(coil_call_later(COIL_SEC(1), call, NULL, &handle), 0);
    CHECK_INT(coil_future_add_callback(future, done, NULL), 0);
    CHECK_INT(coil_var_set(&counted, NULL, NULL), 0);
    CHECK_INT(one.refs, 2); /* the handle and the callback share one copy */
    coil_handle_cancel(handle);
    coil_handle_release(handle);
    CHECK_INT(coil_future_remove_callback(future, done, NULL), 1);
    CHECK_INT(one.refs, 1);
    coil_future_release(future);
}

struct reading {
    int fds[2];
    coil_future *read;
};

static void on_readable(void *arg)
{
    struct reading *reading = arg;

    call(text("reader"));
    coil_remove_reader(reading->fds[0]);
    coil_future_set(reading->read, 0, NULL, NULL);
}

IO_TEST(context_of_a_reader_is_a_copy_of_the_askers)
{
    struct reading reading;

    CHECK_INT(pipe(reading.fds), 0);
    CHECK_INT(coil_future_create(&reading.read), 0);
    set(&color, "red");
    CHECK_INT(coil_add_reader(reading.fds[0], call, text("replaced")), 0);
    CHECK_INT(coil_add_reader(reading.fds[0], on_readable, &reading), 0);
    set(&color, "green");
    CHECK_INT(write(reading.fds[1], "x", 1), 1);
    CHECK_INT(coil_await(reading.read), 0);
    CHECK_TRACE("reader:red ");
    CHECK_STR(get(&color), "green");
    coil_future_release(reading.read);
    close(reading.fds[0]);
    close(reading.fds[1]);
}

/* ---- threads ----------------------------------------------------------------------- */

static void *set_in_thread(void *value)
{
    test_trace("%s ", get(&color));
    CHECK_INT(coil_var_set(&counted, value, NULL), 0);
    set(&color, "green");
    test_trace("%s ", get(&color));
    return NULL;
}

TEST(context_of_a_thread_is_its_own_and_ends_with_it)
{
    struct counted one = {1};
    coil_var_token token;
    pthread_t thread;

    CHECK_INT(coil_var_set(&color, text("red"), &token), 0);
    CHECK_INT(pthread_create(&thread, NULL, set_in_thread, &one), 0);
    pthread_join(thread, NULL);
    CHECK_TRACE("none green ");
    CHECK_INT(one.refs, 1);
    CHECK_STR(get(&color), "red");
    CHECK_INT(coil_var_reset(&color, &token), 0);
}

static int show_and_set(void *arg)
{
    (void)arg;
    test_trace("%s ", get(&color));
    set(&color, "green");
    return 0;
}

TEST(context_of_a_main_task_is_a_copy_of_the_threads)
{
    coil_var_token token;

    CHECK_INT(coil_var_set(&color, text("red"), &token), 0);
    CHECK_INT(coil_run(show_and_set, NULL, NULL), 0);
    CHECK_TRACE("red ");
    CHECK_STR(get(&color), "red");
    CHECK_INT(coil_var_reset(&color, &token), 0);
}

struct posting {
    coil_loop *loop;
    struct counted *value;
    coil_future *called;
};

static void on_post(void *arg)
{
    struct posting *posting = arg;

    CHECK_PTR(coil_var_get(&counted), posting->value);
    coil_future_set(posting->called, 0, NULL, NULL);
}

static void *post_from_thread(void *arg)
{
    struct posting *posting = arg;

    CHECK_INT(coil_var_set(&counted, posting->value, NULL), 0);
    CHECK_INT(coil_post(posting->loop, on_post, posting), 0);
    return NULL;
}

TASK_TEST(context_crosses_threads_with_a_post)
{
    struct counted one = {1};
    struct posting posting = {.loop = coil_loop_current(), .value = &one};
    pthread_t thread;

    CHECK_INT(coil_future_create(&posting.called), 0);
    CHECK_INT(pthread_create(&thread, NULL, post_from_thread, &posting), 0);
    CHECK_INT(coil_await(posting.called), 0);
    pthread_join(thread, NULL);
    coil_future_release(posting.called);
    CHECK_INT(one.refs, 1);
    CHECK(coil_var_get(&counted) == NULL);
}
