/*
 * test_testing.c - waiting until all tasks are blocked, running tasks in random order,
 * and injecting failures.
 */
#include "../../harness/harness.h"

#include <coil.h>

#include <unistd.h>

/* ---- all tasks wait ---------------------------------------------------------------- */

static int yield_times(void *arg)
{
    for (int i = 0; i < *(int *)arg; i++)
        if (coil_yield() < 0)
            return -ECANCELED;
    test_trace("yielded ");
    return 0;
}

static int sleep_long(void *arg)
{
    int rc = coil_sleep(COIL_SEC(1));

    (void)arg;
    test_trace("slept ");
    return rc;
}

TASK_TEST(all_blocked_waits_for_those_that_still_run_and_moves_no_clock)
{
    int ten = 10, two = 2;

    CHECK_INT(coil_spawn(yield_times, &ten, NULL, NULL), 0);
    CHECK_INT(coil_spawn(sleep_long, NULL, NULL, NULL), 0);
    CHECK_INT(coil_spawn(yield_times, &two, NULL, NULL), 0);
    CHECK_INT(coil_wait_all_blocked(), 0);
    CHECK_TRACE("yielded yielded ");
    CHECK_INT(coil_now(), 0);
    CHECK_INT(coil_wait_all_blocked(), 0);
    CHECK_TRACE("");
    CHECK_INT(coil_sleep(COIL_SEC(2)), 0);
    CHECK_TRACE("slept ");
}

static int rest(void *arg)
{
    int rc = coil_wait_all_blocked();

    test_trace("%s:%d ", (const char *)arg, rc);
    return rc;
}

TASK_TEST(all_blocked_is_for_several_at_once_and_can_be_cancelled)
{
    int three = 3;
    coil_task *c;

    CHECK_INT(coil_spawn(rest, "a", NULL, NULL), 0);
    CHECK_INT(coil_spawn(yield_times, &three, NULL, NULL), 0);
    CHECK_INT(coil_spawn(rest, "b", NULL, NULL), 0);
    CHECK_INT(coil_spawn(rest, "c", NULL, &c), 0);
    CHECK_INT(coil_yield(), 0);
    coil_task_cancel(c, NULL);
    coil_task_release(c);
    CHECK_INT(coil_sleep(COIL_SEC(1)), 0);
    CHECK_TRACE("c:-125 yielded a:0 b:0 ");
}

static int read_byte(void *arg)
{
    char byte;

    test_trace("read:%zd ", coil_read(arg, &byte, 1));
    return 0;
}

IO_TEST(all_blocked_sees_what_is_there_to_be_read)
{
    coil_stream *in;
    coil_task *reader;
    int fds[2];

    CHECK_INT(pipe(fds), 0);
    CHECK_INT(coil_stream_adopt(fds[0], &in), 0);
    CHECK_INT(coil_spawn(read_byte, in, NULL, &reader), 0);
    CHECK_INT(coil_wait_all_blocked(), 0);
    CHECK_TRACE("");
    CHECK_INT(write(fds[1], "x", 1), 1);
    CHECK_INT(coil_wait_all_blocked(), 0);
    CHECK_TRACE("read:1 ");
    CHECK_INT(coil_task_await(reader), 0);
    coil_task_release(reader);
    coil_stream_destroy(in);
    close(fds[1]);
}

static int rest_at_last(void *arg)
{
    (void)arg;
    CHECK_INT(coil_wait_all_blocked(), -ECANCELED);
    return coil_wait_all_blocked(); /* a cancelled task cannot wait */
}

TASK_TEST(all_blocked_is_refused_to_a_task_that_was_cancelled)
{
    int hundred = 100;
    coil_task *task;

    CHECK_INT(coil_spawn(rest_at_last, NULL, NULL, &task), 0);
    CHECK_INT(coil_spawn(yield_times, &hundred, NULL, NULL), 0);
    CHECK_INT(coil_yield(), 0);
    coil_task_cancel(task, NULL);
    CHECK_INT(coil_task_await(task), -ECANCELED);
    CHECK_TRACE("");
    coil_task_release(task);
    CHECK_INT(coil_wait_all_blocked(), 0);
}

/* ---- random orders ----------------------------------------------------------------- */

static int say(void *arg)
{
    test_trace("%d", (int)(intptr_t)arg);
    if (coil_yield() < 0)
        return -ECANCELED;
    test_trace("%d", (int)(intptr_t)arg);
    return 0;
}

/*
 * Run eight tasks, each of which prints its number in two successive turns. So each turn
 * prints half of the output.
 */
static int say_all(void *arg)
{
    (void)arg;
    for (intptr_t i = 1; i <= 8; i++)
        CHECK_INT(coil_spawn(say, (void *)i, NULL, NULL), 0);
    return coil_sleep(1);
}

/*
 * Run say_all() with this seed, store the order in which the tasks have printed, and
 * check that each half contains each task once.
 */
static void shuffled(uint64_t seed, bool virtual_clock, char order[17])
{
    coil_run_opts opts = {.loop = {.virtual_clock = virtual_clock}};

    coil_testing_shuffle(seed);
    CHECK_INT(coil_run(say_all, NULL, &opts), 0);
    coil_testing_shuffle(0);
    snprintf(order, 17, "%s", test_trace_text());
    test_trace_clear();
    for (char c = '1'; c <= '8'; c++) {
        CHECK(memchr(order, c, 8) != NULL);
        CHECK(memchr(order + 8, c, 8) != NULL);
    }
}

TEST(a_shuffles_order_depends_only_on_its_seed)
{
    char a[17], again[17], b[17], none[17];

    for (int virtual_clock = 0; virtual_clock <= 1; virtual_clock++) {
        shuffled(1, virtual_clock, a);
        shuffled(1, virtual_clock, again);
        shuffled(2, virtual_clock, b);
        shuffled(0, virtual_clock, none);
        CHECK_STR(again, a);
        CHECK(strcmp(a, b) != 0);
        CHECK(memcmp(a, a + 8, 8) != 0);
        CHECK_STR(none, "1234567812345678");
    }
}

static int place_of_first(void *arg)
{
    int rc = coil_yield();

    test_trace("%c", *(char *)arg);
    return rc;
}

/* Task 'a' must be equally likely to get each position in a turn. */
TEST(a_shuffle_is_uniform)
{
    static char names[] = "abcd";
    int places[4] = {0};
    coil_loop *loop;

    CHECK_INT(coil_loop_create(&(coil_loop_opts){.virtual_clock = true}, &loop), 0);
    coil_testing_shuffle(7);
    for (int i = 0; i < 1000; i++) {
        for (int j = 0; j < 4; j++)
            CHECK_INT(coil_spawn(place_of_first, names + j, NULL, NULL), 0);
        for (int turns = 0; turns < 3; turns++) {
            coil_loop_stop(loop);
            CHECK_INT(coil_loop_run_forever(loop), 0);
        }
        CHECK_INT(strlen(test_trace_text()), 4);
        places[strchr(test_trace_text(), 'a') - test_trace_text()]++;
        test_trace_clear();
    }
    coil_loop_close(loop);
    coil_testing_shuffle(0);
    for (int i = 0; i < 4; i++)
        CHECK(places[i] > 180 && places[i] < 320);
}

TASK_TEST(a_shuffle_can_begin_and_end_while_the_loop_runs)
{
    coil_testing_shuffle(3);
    CHECK_INT(say_all(NULL), 0);
    CHECK_INT(strlen(test_trace_text()), 16);
    test_trace_clear();
    coil_testing_shuffle(0);
    CHECK_INT(say_all(NULL), 0);
    CHECK_TRACE("1234567812345678");
}

/* ---- failing calls ----------------------------------------------------------------- */

TASK_TEST(the_nth_allocation_fails_once)
{
    coil_future *f, *g;
    int64_t blocks = coil_testing_blocks();
    uint64_t made = coil_testing_allocations();

    coil_testing_fail_allocation(2);
    CHECK_INT(coil_future_create(&f), 0);
    CHECK_PTR(coil_testing_failed(), NULL);
    CHECK_INT(coil_future_create(&g), -ENOMEM);
    CHECK_STR(coil_testing_failed(), "an allocation");
    CHECK_INT(coil_future_create(&g), 0);
    CHECK_INT(coil_testing_allocations() - made, 3);
    CHECK_INT(coil_testing_blocks() - blocks, 2);
    coil_future_release(f);
    coil_future_release(g);
    CHECK_INT(coil_testing_blocks(), blocks);
}

TASK_TEST(an_order_to_fail_is_taken_back)
{
    coil_future *f;

    coil_testing_fail_allocation(1);
    coil_testing_fail_allocation(0);
    CHECK_INT(coil_future_create(&f), 0);
    CHECK_PTR(coil_testing_failed(), NULL);
    coil_future_release(f);
}

TEST(the_nth_system_call_fails_with_its_errno)
{
    coil_loop_opts opts = {.backend = "epoll"};
    coil_loop *loop;
    uint64_t made;

    coil_testing_fail_system_call(1, EPERM);
    CHECK_INT(coil_loop_create(&opts, &loop), -EPERM);
    CHECK_STR(coil_testing_failed(), "epoll_create1(EPOLL_CLOEXEC)");
    coil_testing_fail_system_call(2, 0);
    CHECK_INT(coil_loop_create(&opts, &loop), -EMFILE);
    CHECK(strstr(coil_testing_failed(), "eventfd") != NULL);
    made = coil_testing_system_calls();
    coil_testing_fail_system_call(5, 0); /* coil_loop_create() makes only four calls */
    CHECK_INT(coil_loop_create(&opts, &loop), 0);
    CHECK_PTR(coil_testing_failed(), NULL);
    CHECK_INT(coil_testing_system_calls() - made, 4);
    coil_testing_fail_system_call(0, 0);
    coil_loop_close(loop);
}

IO_TEST(a_system_call_that_is_interrupted_is_made_again)
{
    coil_stream *in;
    char byte;
    int fds[2];

    CHECK_INT(pipe(fds), 0);
    CHECK_INT(coil_stream_adopt(fds[0], &in), 0);
    CHECK_INT(write(fds[1], "xy", 2), 2);
    coil_testing_fail_system_call(1, EINTR);
    CHECK_INT(coil_read(in, &byte, 1), 1);
    CHECK(strncmp(coil_testing_failed(), "read(", 5) == 0);
    coil_testing_fail_system_call(1, 0);
    CHECK_INT(coil_read(in, &byte, 1), -EIO);
    CHECK_INT(coil_read(in, &byte, 1), 1);
    coil_stream_destroy(in);
    close(fds[1]);
}

/*
 * A small program, which is run while each of its calls fails in turn. The program must
 * end without leaking anything.
 */
static int converse(void *arg)
{
    coil_listener *listener = NULL;
    coil_stream *ours = NULL, *theirs = NULL;
    char port[8], byte;
    int rc = coil_listen("127.0.0.1", "0", 0, &listener);

    (void)arg;
    if (rc < 0)
        return rc;
    snprintf(port, sizeof port, "%u", coil_listener_port(listener));
    rc = coil_connect("127.0.0.1", port, &ours);
    if (rc == 0)
        rc = coil_accept(listener, &theirs);
    if (rc == 0)
        rc = coil_write(ours, "x", 1) == 1 ? 0 : -EIO;
    if (rc == 0)
        rc = coil_read(theirs, &byte, 1) == 1 ? 0 : -EIO;
    coil_stream_destroy(ours);
    coil_stream_destroy(theirs);
    coil_listener_destroy(listener);
    return rc;
}

/*
 * Run the program with a time limit, because a task may wait forever for something that
 * could not be created.
 */
static int converse_in_time(void *arg)
{
    coil_scope scope;
    int rc = coil_scope_enter(&scope, coil_in(COIL_SEC(1) / 10));

    return rc < 0 ? rc : coil_scope_exit(&scope, converse(arg));
}

/*
 * Run the program while its n-th call fails, for n = 1, 2, ..., until there are fewer
 * calls. On a busy machine, a run may time out before that call; such a run is repeated.
 */
static uint64_t fail_each_call(const coil_run_opts *opts, int error)
{
    for (uint64_t n = 1;; n++) {
        int rc;

        do {
            coil_testing_fail_system_call(n, error);
            rc = coil_run(converse_in_time, NULL, opts);
        } while (rc < 0 && coil_testing_failed() == NULL);
        if (coil_testing_failed() == NULL || n == 100)
            return n;
    }
}

static bool is_there(const coil_loop_opts *opts)
{
    coil_loop *loop;

    if (coil_loop_create(opts, &loop) < 0)
        return false;
    coil_loop_close(loop);
    return true;
}

TEST(a_conversation_survives_each_of_its_system_calls)
{
    static const int errors[] = {0, EINTR, ENOMEM};
    static const char *const backends[] = {"io_uring", "epoll", "poll", "select"};

    for (int i = 0; i < 12; i++) {
        coil_run_opts opts = {.loop = {.backend = backends[i / 3]}};
        uint64_t n;

        if (!is_there(&opts.loop))
            continue;
        n = fail_each_call(&opts, errors[i % 3]);
        CHECK(n > 10 && n < 100);
        coil_testing_fail_system_call(0, 0);
    }
}

/* ---- under a virtual clock --------------------------------------------------------- */

static int sleep_a_day(void *arg)
{
    int rc = coil_sleep(COIL_SEC(24 * 3600));

    *(int64_t *)arg = coil_now();
    return rc < 0 ? rc : 3;
}

TEST(a_testing_run_has_a_clock_that_jumps)
{
    int64_t now = 0;

    CHECK_INT(coil_testing_run(sleep_a_day, &now), 3);
    CHECK_INT(now, COIL_SEC(24 * 3600));
}
