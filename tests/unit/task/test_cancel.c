/*
 * test_cancel.c - how cancellation requests are passed from task to task, and how their
 * origins are recorded.
 */
#include "../../harness/harness.h"

#include "../../../src/base/compiler.h"

#include <coil.h>

#include <signal.h>
#include <unistd.h>

static coil_task *spawn(coil_task_fn fn, void *arg, const char *name)
{
    coil_task *t = NULL;

    CHECK_INT(coil_spawn(fn, arg, &(coil_spawn_opts){.name = name}, &t), 0);
    return t;
}

static int sleep_long(void *arg)
{
    int rc = coil_sleep(COIL_SEC(1000));

    if (arg != NULL)
        test_trace("%s:%d ", coil_task_name(coil_task_current()), rc);
    return rc;
}

/* ---- through gathers --------------------------------------------------------------- */

struct tree {
    coil_task *children[2];
    unsigned flags;
};

static int gather_two(void *arg)
{
    struct tree *tree = arg;
    coil_future *futures[2] = {coil_task_future(tree->children[0]),
                               coil_task_future(tree->children[1])};
    int rc = coil_gather(futures, 2, tree->flags, NULL);

    test_trace("%s:%d ", coil_task_name(coil_task_current()), rc);
    coil_task_release(tree->children[0]);
    coil_task_release(tree->children[1]);
    return rc;
}

TASK_TEST(cancellation_goes_down_a_tree_of_gathers_depth_first)
{
    struct tree left = {.flags = COIL_GATHER_ALL}, root = {.flags = COIL_GATHER_ALL};
    coil_task *task;

    left.children[0] = spawn(sleep_long, "", "a");
    left.children[1] = spawn(sleep_long, "", "b");
    root.children[0] = spawn(gather_two, &left, "left");
    root.children[1] = spawn(sleep_long, "", "c");
    task = spawn(gather_two, &root, "root");
    CHECK_INT(coil_sleep(1), 0);
    CHECK(coil_task_cancel(task, "enough"));
    CHECK_INT(coil_task_cancelling(left.children[1]), 1);
    CHECK_INT(coil_task_cancelling(root.children[1]), 1);
    CHECK_INT(test_join(task), -ECANCELED);
    CHECK_TRACE("a:-125 b:-125 c:-125 left:-125 root:-125 ");
}

TASK_TEST(a_task_reached_along_two_ways_is_asked_twice)
{
    coil_task *shared = spawn(sleep_long, "", "shared");
    struct tree left = {.children = {coil_task_retain(shared), coil_task_retain(shared)}},
                right = {
                    .children = {coil_task_retain(shared), coil_task_retain(shared)}};
    struct tree root = {.children = {spawn(gather_two, &left, "left"),
                                     spawn(gather_two, &right, "right")},
                        .flags = COIL_GATHER_ALL};
    coil_task *task = spawn(gather_two, &root, "root");

    CHECK_INT(coil_sleep(1), 0);
    coil_task_cancel(task, NULL);
    CHECK_INT(coil_task_cancelling(shared), 4);
    CHECK_INT(test_join(task), -ECANCELED);
    CHECK_TRACE("shared:-125 left:-125 right:-125 root:-125 ");
    coil_task_release(shared);
}

static int gather_self_cancelled(void *arg)
{
    coil_task *task = coil_task_current();

    coil_task_cancel(task, "myself");
    return gather_two(arg);
}

TASK_TEST(gather_of_a_task_cancelled_before_cancels_what_it_begins_to_wait_for)
{
    struct tree tree = {
        .children = {spawn(sleep_long, "", "a"), spawn(sleep_long, "", "b")},
        .flags = COIL_GATHER_ALL};
    coil_task *a = coil_task_retain(tree.children[0]);
    coil_cancel_origin origin;

    CHECK_INT(test_join(spawn(gather_self_cancelled, &tree, "g")), -ECANCELED);
    CHECK_TRACE("a:-125 b:-125 g:-125 ");
    CHECK(coil_task_cancel_origin(a, &origin));
    CHECK_STR(origin.task, "g");
    CHECK_STR(origin.reason, "myself");
    coil_task_release(a);
}

static int gather_the_next(void *arg)
{
    coil_task **next = arg;
    coil_future *future;

    if (*next == NULL)
        return coil_sleep(COIL_SEC(1000));
    future = coil_task_future(*next);
    return coil_gather(&future, 1, 0, NULL);
}

static int cancel_it(void *arg)
{
    CHECK(coil_task_cancel(arg, "chain"));
    return 0;
}

/*
 * Cancel the outermost of `depth` nested gathers. Another task does this, with a stack of
 * the usual size, because the main stack is large enough to hide a recursion.
 */
static void cancel_down_gathers(int depth)
{
    coil_task **chain = calloc((size_t)depth + 1, sizeof(coil_task *));

    for (int i = depth; i-- > 0;)
        chain[i] = spawn(gather_the_next, &chain[i + 1], NULL);
    CHECK_INT(coil_sleep(1), 0);
    CHECK_INT(test_join(spawn(cancel_it, chain[0], NULL)), 0);
    CHECK_INT(coil_task_cancelling(chain[depth - 1]), 1);
    for (int i = 0; i < depth; i++)
        CHECK_INT(test_join(chain[i]), -ECANCELED);
    free(chain);
}

TASK_TEST(cancelling_down_gathers_a_million_deep_needs_no_deep_stack)
{
    if (COIL__ASAN || COIL__TSAN || test_under_valgrind())
        test_skip("sanitizers and valgrind use much more memory");
    if (test_proc_kib("/proc/meminfo", "MemAvailable") < 6L * 1024 * 1024)
        test_skip("needs 6 GiB of free memory");
    cancel_down_gathers(test_million());
}

/* Like the previous test, but with a depth that every build can run. */
TASK_TEST(cancelling_down_gathers_two_thousand_deep)
{
    cancel_down_gathers(2000);
}

static int start_the_next(void *arg)
{
    int *left = arg, rc;
    coil_group g;

    if (--*left == 0)
        return coil_sleep(COIL_SEC(1000));
    coil_group_enter(&g);
    rc = coil_group_start(&g, start_the_next, left, NULL, NULL);
    return coil_group_exit(&g, rc);
}

TASK_TEST(cancelling_down_starts_two_thousand_deep)
{
    int left = 2000;
    coil_task *outermost = spawn(start_the_next, &left, "outermost");

    CHECK_INT(coil_sleep(1), 0);
    CHECK_INT(left, 0);
    CHECK_INT(test_join(spawn(cancel_it, outermost, NULL)), 0);
    CHECK_INT(test_join(outermost), -ECANCELED);
    CHECK_INT(coil_now(), 1);
}

static int cancel_a_circle(void *arg)
{
    static coil_task *circle[2];

    (void)arg;
    circle[0] = spawn(gather_the_next, &circle[1], "a");
    circle[1] = spawn(gather_the_next, &circle[0], "b");
    coil_yield();
    coil_task_cancel(circle[0], NULL);
    return 0;
}

static void run_circle(void *arg)
{
    (void)arg;
    coil_run(cancel_a_circle, NULL, NULL);
}

TEST(gathers_that_wait_for_each_other_stop_the_program)
{
    test_dies(run_circle, NULL, "awaits tasks that await each other");
}

/* ---- origin ------------------------------------------------------------------------ */

static int cancel_from_task(void *arg)
{
    CHECK(coil_task_cancel(arg, "enough"));
    return 0;
}

static void cancel_from_callback(void *arg)
{
    /*
     * CHECK() prevents a tail call, without which this function would not be the recorded
     * origin of the cancellation.
     */
    CHECK(coil_task_cancel(arg, NULL));
}

static int await_it(void *arg)
{
    return coil_task_await(arg);
}

/* Return true if the address is in the first 1,024 bytes of `function`. */
static bool lies_in(const void *address, const void *function)
{
    return (const char *)address > (const char *)function &&
           (const char *)address < (const char *)function + 1024;
}

TASK_TEST(origin_says_who_asked_and_from_where_along_a_chain)
{
    coil_task *inner = spawn(sleep_long, NULL, "inner");
    coil_task *outer = spawn(await_it, inner, "outer");
    coil_cancel_origin origin = {.reason = "untouched"};

    CHECK(!coil_task_cancel_origin(inner, &origin));
    CHECK_STR(origin.reason, "untouched");
    CHECK_INT(coil_yield(), 0);
    CHECK_INT(test_join(spawn(cancel_from_task, outer, "canceller")), 0);
    CHECK(coil_task_cancel_origin(inner, &origin));
    CHECK_STR(origin.reason, "enough");
    CHECK_STR(origin.task, "canceller");
    CHECK(lies_in(origin.address, (const void *)(uintptr_t)cancel_from_task));
    CHECK_INT(test_join(outer), -ECANCELED);
    CHECK_INT(test_join(inner), -ECANCELED);
}

TASK_TEST(origin_of_a_callback_has_no_task)
{
    coil_task *task = spawn(sleep_long, NULL, "t");
    coil_cancel_origin origin;

    CHECK_INT(coil_call_soon(cancel_from_callback, task, NULL), 0);
    CHECK_INT(coil_task_await(task), -ECANCELED);
    CHECK(coil_task_cancel_origin(task, &origin));
    CHECK_STR(origin.task, "");
    CHECK_PTR(origin.reason, NULL);
    CHECK(lies_in(origin.address, (const void *)(uintptr_t)cancel_from_callback));
    coil_task_release(task);
}

TASK_TEST(origin_of_a_future_that_is_a_task_is_whoever_cancels_the_future)
{
    coil_task *task = spawn(sleep_long, NULL, "t");
    coil_cancel_origin origin;

    coil_future_cancel(coil_task_future(task), "by the future");
    CHECK(coil_task_cancel_origin(task, &origin));
    CHECK_STR(origin.task, "main");
    CHECK_STR(origin.reason, "by the future");
    CHECK_INT(test_join(task), -ECANCELED);
}

static int sleep_in_a_scope(void *arg)
{
    coil_scope s;

    (void)arg;
    CHECK_INT(coil_scope_enter(&s, coil_in(COIL_SEC(1))), 0);
    return coil_scope_exit(&s, coil_sleep(COIL_SEC(2)));
}

TASK_TEST(origin_of_a_scope_is_where_it_was_opened)
{
    coil_task *task = spawn(sleep_in_a_scope, NULL, "t");
    coil_cancel_origin origin;

    CHECK_INT(coil_task_await(task), -ETIMEDOUT);
    CHECK(coil_task_cancel_origin(task, &origin));
    CHECK_STR(origin.reason, "deadline");
    CHECK_STR(origin.task, "");
    CHECK(lies_in(origin.address, (const void *)(uintptr_t)sleep_in_a_scope));
    coil_task_release(task);
}

static int fail(void *arg)
{
    (void)arg;
    return -EIO;
}

static int own_a_group(void *arg)
{
    coil_task **sibling = arg;
    coil_group g;

    coil_group_enter(&g);
    CHECK_INT(coil_group_spawn(&g, sleep_long, NULL, NULL, sibling), 0);
    coil_task_retain(*sibling);
    CHECK_INT(coil_group_spawn(&g, fail, NULL, &(coil_spawn_opts){.name = "bad"}, NULL),
              0);
    return coil_group_exit(&g, coil_sleep(COIL_SEC(1)));
}

TASK_TEST(origin_of_a_group_is_the_child_that_failed_and_where_it_was_opened)
{
    coil_task *sibling = NULL, *owner = spawn(own_a_group, &sibling, "owner");
    coil_cancel_origin origin;

    CHECK_INT(coil_task_await(owner), -EIO);
    for (int i = 0; i < 2; i++) {
        CHECK(coil_task_cancel_origin(i == 0 ? owner : sibling, &origin));
        CHECK_STR(origin.reason, "a task of its group failed");
        CHECK_STR(origin.task, "bad");
        CHECK(lies_in(origin.address, (const void *)(uintptr_t)own_a_group));
    }
    coil_task_release(owner);
    coil_task_release(sibling);
}

/* ---- two requests at once ---------------------------------------------------------- */

/* A call that waits for an event that never occurs. */
struct call {
    int (*fn)(struct call *call);
    coil_stream *ends[2];
    int pipe;
    coil_listener *listener;
    coil_channel *channel; /* a full channel with a capacity of one item */
    bool waits_again;
};

static int call_read(struct call *call)
{
    char byte;

    return (int)coil_read(call->ends[0], &byte, 1);
}

static int call_wait_fd(struct call *call)
{
    return coil_wait_fd(call->pipe, COIL_READABLE);
}

static int call_accept(struct call *call)
{
    coil_stream *stream;

    return coil_accept(call->listener, &stream);
}

static int call_put(struct call *call)
{
    int item = 2;

    return coil_channel_put(call->channel, &item);
}

static int call_get(struct call *call)
{
    int item;

    CHECK_INT(coil_channel_get_nowait(call->channel, &item), 0);
    return coil_channel_get(call->channel, &item);
}

static int call_signal_wait(struct call *call)
{
    sigset_t set;

    (void)call;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    return coil_signal_wait(&set, NULL);
}

static int catch_once(void *arg)
{
    struct call *call = arg;

    CHECK_INT(call->fn(call), -ECANCELED);
    CHECK_INT(coil_task_cancelling(coil_task_current()), 2);
    coil_cancel_caught();
    return call->waits_again ? coil_yield() : 0;
}

static void cancel_twice(struct call *call)
{
    coil_task *task = test_spawn(catch_once, call);

    CHECK_INT(coil_yield(), 0);
    CHECK(coil_task_cancel(task, NULL));
    CHECK(coil_task_cancel(task, NULL));
    CHECK_INT(test_join(task), 0);
}

/*
 * In asyncio, the second request is a call of Task.cancel() while the future that the
 * task awaits is already cancelled.
 */
IO_TEST(two_requests_in_one_turn_are_delivered_once)
{
    int (*const calls[])(struct call *) = {call_read, call_wait_fd, call_accept,
                                           call_put,  call_get,     call_signal_wait};
    struct call common = {.fn = NULL};
    int item = 1, ends[2];
    sigset_t all;

    CHECK_INT(pipe(ends), 0);
    common.pipe = ends[0];
    CHECK_INT(coil_stream_pair(common.ends), 0);
    CHECK_INT(coil_listen("127.0.0.1", "0", 1, &common.listener), 0);
    CHECK_INT(coil_channel_create(sizeof item, 1, &common.channel), 0);
    for (size_t i = 0; i < 2 * sizeof calls / sizeof calls[0]; i++) {
        struct call call = common;

        call.fn = calls[i / 2];
        call.waits_again = i % 2 == 0;
        coil_channel_put_nowait(call.channel, &item);
        cancel_twice(&call);
    }
    sigfillset(&all);
    coil_signal_restore(&all);
    close(ends[0]);
    close(ends[1]);
    coil_stream_destroy(common.ends[0]);
    coil_stream_destroy(common.ends[1]);
    coil_listener_destroy(common.listener);
    coil_channel_release(common.channel);
}

/* ---- the state of a cancellation --------------------------------------------------- */

static int ask_until_caught(void *arg)
{
    (void)arg;
    CHECK(coil_cancel_held());
    CHECK(!coil_cancel_delivered());
    CHECK_INT(coil_cancel_refusals(), 0);
    CHECK_INT(coil_sleep(COIL_SEC(1000)), -ECANCELED);
    CHECK(coil_cancel_delivered());
    CHECK_INT(coil_cancel_refusals(), 0);
    CHECK_INT(coil_sleep(1), -ECANCELED);
    CHECK_INT(coil_sleep(1), -ECANCELED);
    CHECK_INT(coil_cancel_refusals(), 2);
    coil_cancel_caught();
    CHECK(!coil_cancel_delivered());
    CHECK_INT(coil_cancel_refusals(), 0);
    return coil_sleep(1);
}

TASK_TEST(cancel_delivered_and_refusals_hold_until_it_is_caught)
{
    coil_task *task;

    CHECK(!coil_cancel_held());
    CHECK_INT(coil_spawn(ask_until_caught, NULL, &(coil_spawn_opts){.hold_cancel = true},
                         &task),
              0);
    coil_yield();
    coil_task_cancel(task, NULL);
    CHECK_INT(test_join(task), 0);
}

/* Replace each error with -EIO, as some libraries do. */
static int fail_as_a_library(void *arg)
{
    int rc = coil_sleep(COIL_SEC(60)) < 0 ? -EIO : 0;

    (void)arg;
    CHECK_INT(coil_cancel_result(3), 3);
    return coil_cancel_result(rc);
}

TASK_TEST(cancel_result_of_a_library)
{
    coil_task *task = test_spawn(fail_as_a_library, NULL);

    CHECK_INT(coil_cancel_result(-EIO), -EIO);
    coil_yield();
    coil_task_cancel(task, NULL);
    CHECK_INT(test_join(task), -ECANCELED);
}

TEST(cancel_result_outside_of_tasks)
{
    CHECK_INT(coil_cancel_result(-EIO), -EIO);
}
