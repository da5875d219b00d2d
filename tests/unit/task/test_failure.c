/*
 * test_failure.c - creating, storing, propagating and printing errors, and reports of
 * errors that were never retrieved.
 */
#include "../../harness/harness.h"

#include "../../../src/base/compiler.h"

#include <coil.h>

#include <fcntl.h>
#include <pthread.h>

/* ---- three calls deep -------------------------------------------------------------- */

enum { LINE_OF_FAILURE = __LINE__ + 4 };

static COIL__NOINLINE int parse_line(int number)
{
    int rc = coil_fail(-EINVAL, "line %d has no colon", number);

    __asm__ volatile("");
    return rc;
}

static COIL__NOINLINE int parse_lines(int count)
{
    int rc = parse_line(count);

    __asm__ volatile("");
    return rc;
}

static COIL__NOINLINE int parse_task(void *arg)
{
    int rc = parse_lines(3);

    (void)arg;
    __asm__ volatile("");
    return rc;
}

static const coil_spawn_opts named_parser = {.name = "parser"};

static coil_task *spawn_parser(void)
{
    coil_task *task;

    CHECK_INT(coil_spawn(parse_task, NULL, &named_parser, &task), 0);
    return task;
}

/*
 * Three functions that end with a call of a failing function, as is usual in real
 * programs. The compiler may turn such calls into jumps.
 */

static COIL__NOINLINE int end_by_failing(void)
{
    return coil_fail(-EBADF, "the last thing it does");
}

static COIL__NOINLINE int end_by_failing_from(coil_error *cause)
{
    return coil_fail_from(cause, -EBADF, NULL);
}

static COIL__NOINLINE int end_by_failing_a_future(coil_future *future)
{
    return coil_future_set_error(future, -EBADF, "the last thing it does");
}

/* ---- what is printed --------------------------------------------------------------- */

static char text[16384];

static const char *printed(const coil_error *error)
{
    FILE *out = fmemopen(text, sizeof text, "w");

    coil_error_print(error, out);
    fclose(out);
    return text;
}

/* Print the error to `text`, and return the first line. */
static const char *printed_line(const coil_error *error)
{
    text[strcspn(printed(error), "\n")] = '\0';
    return text;
}

/* Return true if the text contains these parts in this order. */
static bool says_in_order(const char *where, const char *const parts[], size_t n)
{
    for (size_t i = 0; i < n && where != NULL; i++) {
        where = strstr(where, parts[i]);
        if (where != NULL)
            where += strlen(parts[i]);
    }
    return where != NULL;
}

#define CHECK_PRINTED(error, ...)                                                        \
    do {                                                                                 \
        static const char *const parts[] = {__VA_ARGS__};                                \
        CHECK(says_in_order(printed(error), parts, sizeof parts / sizeof *parts));       \
    } while (0)

static bool has_lines_of(const coil_error *error)
{
    return strstr(printed(error), "test_failure.c:") != NULL;
}

/* Returns false in a program without debug data, or without libdw. */
static bool has_lines(void)
{
    coil_task *task = spawn_parser();

    coil_task_await(task);
    coil_task_release(task);
    return has_lines_of(coil_last_error());
}

static void skip_without_lines(void)
{
    if (!has_lines())
        test_skip("no debug data here, or no libdw");
}

/* ---- an error ---------------------------------------------------------------------- */

TASK_TEST(fail_keeps_sentence_rc_and_task)
{
    coil_error *error;

    CHECK(coil_last_error() == NULL);
    CHECK_INT(coil_fail(-EIO, "disk %d is %s", 3, "gone"), -EIO);
    error = coil_last_error();
    CHECK_INT(coil_error_rc(error), -EIO);
    CHECK_STR(coil_error_message(error), "disk 3 is gone");
    CHECK_STR(coil_error_task(error), "main");
    CHECK(coil_error_cause(error) == NULL);
}

TASK_TEST(fail_without_a_sentence_says_what_the_rc_means)
{
    coil_fail(-EIO, NULL);
    CHECK_STR(coil_error_message(coil_last_error()), strerror(EIO));
}

TASK_TEST(fail_keeps_errno_and_prints_it)
{
    errno = ENOENT;
    coil_fail(-EIO, "%m");
    CHECK_INT(errno, ENOENT);
    CHECK_STR(coil_error_message(coil_last_error()), strerror(ENOENT));
}

TASK_TEST(the_next_failure_takes_the_place_of_the_last)
{
    coil_error *first;

    coil_fail(-EIO, "first");
    first = coil_error_retain(coil_last_error());
    coil_fail(-EINVAL, "second");
    CHECK_STR(coil_error_message(coil_last_error()), "second");
    CHECK_STR(coil_error_message(first), "first");
    coil_error_release(first);
    coil_error_release(NULL);
}

TASK_TEST(fail_out_of_memory_leaves_the_rc)
{
    coil_fail(-EIO, "first");
    test_fail_allocation(1);
    CHECK_INT(coil_fail(-EINVAL, "second"), -EINVAL);
    CHECK(coil_last_error() == NULL);
}

TASK_TEST(fail_from_keeps_the_cause)
{
    coil_fail(-ENOENT, "no file app.conf");
    CHECK_INT(coil_fail_from(coil_last_error(), -EINVAL, "cannot start"), -EINVAL);
    CHECK_STR(coil_error_message(coil_error_cause(coil_last_error())),
              "no file app.conf");
    CHECK_PRINTED(coil_last_error(), "no file app.conf (No such file or directory)\n",
                  "  in task 'main'\n", "which led to: cannot start (Invalid argument)\n",
                  "  in task 'main'\n");
}

TASK_TEST(report_prints_the_message_first_and_what_the_errno_adds)
{
    coil_fail(-ETIMEDOUT, "slow takes too long");
    CHECK_STR(printed_line(coil_last_error()),
              "slow takes too long (Connection timed out)");
    coil_fail(-ECONNREFUSED, "cannot connect to ::1: Connection refused");
    CHECK_STR(printed_line(coil_last_error()),
              "cannot connect to ::1: Connection refused");
    coil_fail(-ENOSPC, NULL);
    CHECK_STR(printed_line(coil_last_error()), "No space left on device");
}

TASK_TEST(failure_of_the_application_has_a_code_that_adds_nothing_to_its_message)
{
    CHECK_INT(coil_fail(-COIL_EFAILED, "slow takes too long"), -COIL_EFAILED);
    CHECK_STR(printed_line(coil_last_error()), "slow takes too long");
    CHECK_INT(coil_fail(-COIL_EFAILED, NULL), -COIL_EFAILED);
    CHECK_STR(coil_error_message(coil_last_error()), "the application failed");
    CHECK_STR(coil_strerror(-COIL_EFAILED), "the application failed");
    CHECK_STR(coil_strerror(-ENOENT), "No such file or directory");
}

static void fail_with_a_positive_number(void *arg)
{
    (void)arg;
    coil_fail(5, NULL);
}

TEST(fail_wants_a_negative_errno)
{
    test_dies(fail_with_a_positive_number, NULL, "coil_fail: 5 is not a negative errno");
}

static void fail_in_callback(void *arg)
{
    *(int *)arg = coil_fail(-EIO, "disk %d", 3);
    CHECK_STR(coil_error_message(coil_last_error()), "disk 3");
    CHECK_STR(coil_error_task(coil_last_error()), "");
    CHECK_PRINTED(coil_last_error(), "disk 3 (Input/output error)\n", "in no task\n");
}

TASK_TEST(fail_in_a_callback_is_no_tasks_failure)
{
    int rc = 0;

    CHECK_INT(coil_call_soon(fail_in_callback, &rc, NULL), 0);
    CHECK_INT(coil_yield(), 0);
    CHECK_INT(rc, -EIO);
    CHECK(coil_last_error() == NULL);
}

static int fail_in_generator(coil_gen *self, void *arg)
{
    (void)self, (void)arg;
    return coil_fail(-EIO, "no more");
}

TEST(fail_works_in_a_generator_without_a_loop)
{
    coil_gen *gen;

    CHECK_INT(coil_gen_create(fail_in_generator, NULL, NULL, &gen), 0);
    CHECK_INT(coil_gen_next(gen, NULL), -EIO);
    CHECK(coil_last_error() != NULL);
    CHECK_STR(coil_error_message(coil_last_error()), "no more");
    coil_gen_destroy(gen);
    coil_clear_error();
    CHECK(coil_last_error() == NULL);
}

static void *fail_on_thread(void *arg)
{
    (void)arg;
    coil_fail(-EIO, "on a thread"); /* the thread frees the error when it ends */
    CHECK_STR(coil_error_message(coil_last_error()), "on a thread");
    return NULL;
}

TEST(fail_works_on_a_thread_without_a_loop)
{
    pthread_t thread;

    CHECK_INT(pthread_create(&thread, NULL, fail_on_thread, NULL), 0);
    CHECK_INT(pthread_join(thread, NULL), 0);
    CHECK(coil_last_error() == NULL);
}

TASK_TEST(a_failure_that_was_dealt_with_can_be_forgotten)
{
    coil_fail(-EIO, "dealt with");
    coil_clear_error();
    CHECK(coil_last_error() == NULL);
}

/*
 * Recurse, `further` levels deep, and fail at each level. At the last levels the
 * remaining stack is too small for a backtrace.
 */
static COIL__NOINLINE int fail_until_full(int further)
{
    volatile char room[256];
    int rc = coil_fail(-EIO, "%d", further);

    room[0] = 0;
    if (coil_last_error() == NULL)
        return -ENOMEM;
    if (further > 0)
        rc = fail_until_full(further - 1);
    __asm__ volatile("" : : "r"(room));
    return rc;
}

static int fail_on_small_stack(void *arg)
{
    (void)arg;
    return fail_until_full(60);
}

TASK_TEST(fail_on_a_stack_that_is_nearly_full)
{
    coil_spawn_opts opts = {.stack_bytes = 32768};
    coil_task *task;

    if (COIL__ASAN || COIL__TSAN)
        opts.stack_bytes = 131072;
    CHECK_INT(coil_spawn(fail_on_small_stack, NULL, &opts, &task), 0);
    CHECK_INT(coil_task_await(task), -EIO);
    CHECK_STR(coil_error_message(coil_last_error()), "0");
    coil_task_release(task);
}

/* ---- of a task, of a future -------------------------------------------------------- */

TASK_TEST(a_task_that_failed_has_the_error)
{
    coil_task *task = spawn_parser();
    coil_error *error;

    CHECK(coil_future_error(coil_task_future(task)) == NULL);
    CHECK_INT(coil_task_await(task), -EINVAL);
    error = coil_future_error(coil_task_future(task));
    CHECK_STR(coil_error_message(error), "line 3 has no colon");
    CHECK_STR(coil_error_task(error), "parser");
    coil_task_release(task);
}

static int deal_with_a_failure(void *arg)
{
    coil_fail(-EIO, "dealt with");
    return *(int *)arg;
}

TASK_TEST(an_error_with_another_rc_is_not_the_tasks)
{
    int rcs[] = {0, -EINVAL, -ECANCELED};

    for (size_t i = 0; i < sizeof rcs / sizeof rcs[0]; i++) {
        coil_task *task;

        CHECK_INT(coil_spawn(deal_with_a_failure, &rcs[i], NULL, &task), 0);
        CHECK_INT(coil_task_await(task), rcs[i]);
        CHECK(coil_future_error(coil_task_future(task)) == NULL);
        CHECK(coil_last_error() == NULL);
        coil_task_release(task);
    }
}

TASK_TEST(a_future_is_set_with_an_error)
{
    coil_future *future;

    CHECK_INT(coil_future_create(&future), 0);
    CHECK_INT(coil_future_set_error(future, -EPROTO, "bad %s", "header"), 0);
    CHECK_INT(coil_future_set_error(future, -EIO, "again"), -EALREADY);
    CHECK_STR(coil_error_message(coil_future_error(future)), "bad header");
    CHECK_INT(coil_await(future), -EPROTO);
    CHECK(coil_error_cause(coil_last_error()) == coil_future_error(future));
    coil_future_release(future);
}

TASK_TEST(a_future_set_out_of_memory_has_the_rc)
{
    coil_future *future;

    CHECK_INT(coil_future_create(&future), 0);
    test_fail_allocation(1);
    CHECK_INT(coil_future_set_error(future, -EPROTO, "bad"), 0);
    CHECK(coil_future_error(future) == NULL);
    CHECK_INT(coil_await(future), -EPROTO);
    coil_future_release(future);
}

/* ---- handed on --------------------------------------------------------------------- */

static COIL__NOINLINE int load(coil_task *parser)
{
    int rc = coil_task_await(parser);

    __asm__ volatile("");
    return rc;
}

TASK_TEST(awaiting_hands_the_error_on)
{
    coil_task *parser = spawn_parser();
    coil_error *error;

    CHECK_INT(load(parser), -EINVAL);
    error = coil_last_error();
    CHECK_STR(coil_error_task(error), "main");
    CHECK_STR(coil_error_message(error), "line 3 has no colon");
    CHECK(coil_error_cause(error) == coil_future_error(coil_task_future(parser)));
    /* has the same result although the parser has already ended */
    CHECK_INT(load(parser), -EINVAL);
    CHECK_STR(coil_error_task(coil_error_cause(coil_last_error())), "parser");
    coil_task_release(parser);
}

TASK_TEST(asking_for_the_result_hands_the_error_on)
{
    coil_task *parser = spawn_parser();

    CHECK_INT(coil_future_result(coil_task_future(parser)), -EINPROGRESS);
    CHECK(coil_last_error() == NULL);
    CHECK_INT(coil_yield(), 0);
    CHECK_INT(coil_future_result(coil_task_future(parser)), -EINVAL);
    CHECK_STR(coil_error_task(coil_error_cause(coil_last_error())), "parser");
    coil_task_release(parser);
}

static int fail_without_error(void *arg)
{
    (void)arg;
    return -EIO;
}

TASK_TEST(awaiting_a_failure_without_error_forgets_the_last_one)
{
    coil_task *task;

    coil_fail(-EIO, "long ago");
    CHECK_INT(coil_spawn(fail_without_error, NULL, NULL, &task), 0);
    CHECK_INT(coil_task_await(task), -EIO);
    CHECK(coil_last_error() == NULL);
    coil_task_release(task);
}

static int sleep_long(void *arg)
{
    (void)arg;
    return coil_sleep(COIL_SEC(100));
}

TASK_TEST(a_cancellation_leaves_the_last_error_alone)
{
    coil_task *task;

    coil_fail(-EIO, "before");
    CHECK_INT(coil_spawn(sleep_long, NULL, NULL, &task), 0);
    coil_task_cancel(task, NULL);
    CHECK_INT(coil_task_await(task), -ECANCELED);
    CHECK_STR(coil_error_message(coil_last_error()), "before");
    coil_task_release(task);
}

TASK_TEST(handing_on_out_of_memory_leaves_the_rc)
{
    coil_task *parser = spawn_parser();

    CHECK_INT(coil_yield(), 0);
    test_fail_allocation(1);
    CHECK_INT(coil_task_await(parser), -EINVAL);
    CHECK(coil_last_error() == NULL);
    coil_task_release(parser);
}

TASK_TEST(shield_hands_the_error_on)
{
    coil_task *parser = spawn_parser();

    CHECK_INT(coil_shield(coil_task_future(parser)), -EINVAL);
    CHECK_STR(coil_error_task(coil_error_cause(coil_last_error())), "parser");
    coil_task_release(parser);
}

static int fail_second(void *arg)
{
    int rc = coil_sleep(COIL_SEC(1));

    (void)arg;
    return rc < 0 ? rc : coil_fail(-EIO, "second");
}

TASK_TEST(gather_hands_on_the_first_failures_error)
{
    coil_task *parser, *second;
    coil_future *both[2];

    CHECK_INT(coil_spawn(fail_second, NULL, NULL, &second), 0);
    parser = spawn_parser();
    both[0] = coil_task_future(second);
    both[1] = coil_task_future(parser);
    CHECK_INT(coil_gather(both, 2, 0, NULL), -EINVAL);
    CHECK_STR(coil_error_message(coil_last_error()), "line 3 has no colon");
    CHECK_INT(coil_task_await(second), -EIO);
    coil_task_release(parser);
    coil_task_release(second);
}

TASK_TEST(a_group_hands_on_the_first_failures_error)
{
    coil_group group;

    coil_group_enter(&group);
    CHECK_INT(coil_group_spawn(&group, fail_second, NULL, NULL, NULL), 0);
    CHECK_INT(coil_group_spawn(&group, parse_task, NULL, &named_parser, NULL), 0);
    CHECK_INT(coil_group_exit(&group, 0), -EINVAL);
    CHECK_STR(coil_error_message(coil_last_error()), "line 3 has no colon");
    CHECK_STR(coil_error_task(coil_error_cause(coil_last_error())), "parser");
}

TASK_TEST(a_groups_body_that_fails_has_its_own_error)
{
    coil_group group;

    coil_group_enter(&group);
    CHECK_INT(coil_group_exit(&group, coil_fail(-EIO, "the body's")), -EIO);
    CHECK_STR(coil_error_message(coil_last_error()), "the body's");
    CHECK(coil_error_cause(coil_last_error()) == NULL);
}

static int fail_when_cancelled(void *arg)
{
    (void)arg;
    return coil_sleep(COIL_SEC(9)) == -ECANCELED ? coil_fail(-EIO, "no time") : 0;
}

TASK_TEST(wait_for_hands_the_error_on)
{
    coil_task *parser = spawn_parser(), *slow;

    CHECK_INT(coil_wait_for(coil_task_future(parser), coil_in(COIL_SEC(1))), -EINVAL);
    CHECK_STR(coil_error_task(coil_error_cause(coil_last_error())), "parser");
    CHECK_INT(coil_wait_for(coil_task_future(parser), coil_now()), -EINVAL);
    coil_task_release(parser);
    CHECK_INT(coil_spawn(fail_when_cancelled, NULL, NULL, &slow), 0);
    CHECK_INT(coil_yield(), 0);
    CHECK_INT(coil_wait_for(coil_task_future(slow), coil_now()), -EIO);
    CHECK_STR(coil_error_message(coil_last_error()), "no time");
    coil_task_release(slow);
}

TASK_TEST(a_race_that_all_lose_hands_on_the_first_ones_error)
{
    const coil_work works[] = {{parse_task, NULL}, {fail_second, NULL}};

    CHECK_INT(coil_staggered_race(works, 2, COIL_SEC(5), NULL, NULL), -EINVAL);
    CHECK_STR(coil_error_message(coil_last_error()), "line 3 has no colon");
}

static int fail_before_it_is_ready(void *arg)
{
    (void)arg;
    return coil_fail(-EIO, "not ready");
}

TASK_TEST(a_child_that_does_not_get_ready_hands_its_error_on)
{
    coil_group group;

    coil_group_enter(&group);
    CHECK_INT(coil_group_start(&group, fail_before_it_is_ready, NULL, NULL, NULL), -EIO);
    CHECK_STR(coil_error_message(coil_last_error()), "not ready");
    CHECK_INT(coil_group_exit(&group, 0), 0);
}

static int fail_in_main(void *arg)
{
    return arg != NULL ? coil_fail(-EPROTO, "%s", (char *)arg) : -EIO;
}

TEST(what_the_main_task_fails_with_outlives_its_loop)
{
    coil_error *error;
    coil_run_opts opts = {.error = &error};

    CHECK_INT(coil_run(fail_in_main, "in main", &opts), -EPROTO);
    CHECK_STR(coil_error_message(error), "in main");
    CHECK_PRINTED(error, "in main (Protocol error)\n  in task 'main'\n");
    coil_error_release(error);
    CHECK_INT(coil_run(fail_in_main, NULL, &opts), -EIO);
    CHECK(error == NULL);
    error = (coil_error *)&opts;
    opts.loop.backend = "unheard of";
    CHECK_INT(coil_run(fail_in_main, NULL, &opts), -EINVAL);
    CHECK(error == NULL);
}

/* ---- tracebacks -------------------------------------------------------------------- */

static COIL__NOINLINE int load_task(void *arg)
{
    coil_task *parser = spawn_parser();
    int rc = load(parser);

    (void)arg;
    coil_task_release(parser);
    return rc;
}

TASK_TEST(a_traceback_names_functions_and_lines_three_calls_deep)
{
    coil_task *parser = spawn_parser();
    const char *place = test_place("parse_line"), *line;

    coil_task_await(parser);
    coil_task_release(parser);
    skip_without_lines();
    CHECK_PRINTED(coil_last_error(), "line 3 has no colon (Invalid argument)\n",
                  "  in task 'parser'\n    parse_line at ", "\n    parse_lines at ",
                  "\n    parse_task at ", "\n  awaited by task 'main'\n    ");
    line = strstr(text, place);
    CHECK(line != NULL && atoi(line + strlen(place)) == LINE_OF_FAILURE);
    CHECK(strstr(text, "task_main") == NULL);
    CHECK(strstr(text, "coil_") == NULL);
}

static int gather_loader(void *arg)
{
    coil_future *futures[1];
    coil_task *loader;
    int rc = coil_spawn(load_task, NULL, &(coil_spawn_opts){.name = "loader"}, &loader);

    (void)arg;
    if (rc < 0)
        return rc;
    futures[0] = coil_task_future(loader);
    rc = coil_gather(futures, 1, 0, NULL);
    coil_task_release(loader);
    return rc;
}

TASK_TEST(a_traceback_goes_through_await_gather_and_group)
{
    coil_spawn_opts gatherer = {.name = "gatherer"};
    coil_group group;

    skip_without_lines();
    coil_group_enter(&group);
    CHECK_INT(coil_group_spawn(&group, gather_loader, NULL, &gatherer, NULL), 0);
    CHECK_INT(coil_group_exit(&group, 0), -EINVAL);
    CHECK_PRINTED(coil_last_error(), "  in task 'parser'\n    parse_line at ",
                  "  awaited by task 'loader'\n    load at ", "    load_task at ",
                  "  awaited by task 'gatherer'\n    gather_loader at ",
                  "  awaited by task 'main'\n    test_body_of_a_traceback_goes_through");
}

static int compare_by_parsing(const void *a, const void *b)
{
    int rc = parse_line(7);

    (void)a;
    (void)b;
    __asm__ volatile("");
    return rc;
}

static COIL__NOINLINE int sort_by_parsing(void)
{
    int two[] = {1, 2};

    qsort(two, 2, sizeof two[0], compare_by_parsing);
    return -EINVAL;
}

TASK_TEST(a_traceback_goes_through_qsort)
{
    skip_without_lines();
    CHECK_INT(sort_by_parsing(), -EINVAL);
    CHECK_PRINTED(coil_last_error(), "    parse_line at ", "    compare_by_parsing at ",
                  "    sort_by_parsing at ");
}

static int parse_in_generator(coil_gen *gen, void *arg)
{
    int rc = parse_line(9);

    (void)gen;
    (void)arg;
    __asm__ volatile("");
    return rc;
}

static int delegate(coil_gen *gen, void *inner)
{
    int rc = coil_gen_yield_from(inner, NULL);

    (void)gen;
    __asm__ volatile("");
    return rc;
}

static COIL__NOINLINE int drive_generators(void)
{
    coil_gen *inner, *outer;
    void *value;
    int rc;

    CHECK_INT(coil_gen_create(parse_in_generator, NULL, NULL, &inner), 0);
    CHECK_INT(coil_gen_create(delegate, inner, NULL, &outer), 0);
    rc = coil_gen_next(outer, &value);
    coil_gen_destroy(outer);
    coil_gen_destroy(inner);
    return rc;
}

TASK_TEST(a_traceback_goes_through_generators)
{
    skip_without_lines();
    CHECK_INT(drive_generators(), -EINVAL);
    CHECK_PRINTED(coil_last_error(), "    parse_line at ", "    parse_in_generator at ",
                  "    delegate at ", "    drive_generators at ",
                  "    test_body_of_a_traceback_goes_through_generators at ");
}

static int await_next(void *arg)
{
    uintptr_t depth = (uintptr_t)arg;
    coil_task *next;
    int rc;

    if (depth == 0)
        return coil_fail(-EIO, "the deepest");
    rc = coil_spawn(await_next, (void *)(depth - 1), NULL, &next);
    if (rc < 0)
        return rc;
    rc = coil_task_await(next);
    coil_task_release(next);
    return rc;
}

TASK_TEST(a_long_chain_of_awaits_is_printed_in_part)
{
    CHECK_INT(await_next((void *)50), -EIO);
    CHECK_PRINTED(coil_last_error(), "the deepest (Input/output error)\n",
                  "  and so on: 19 more awaited it\n");
}

TASK_TEST(a_chain_of_ten_thousand_awaits_hands_its_error_on)
{
    CHECK_INT(await_next((void *)10000), -EIO);
    CHECK_STR(coil_error_message(coil_last_error()), "the deepest");
}

/* ---- unretrieved errors ------------------------------------------------------------ */

static void trace_exception(const coil_exception *e, void *arg)
{
    test_trace("%s%s%s%s%s %s; ", (const char *)arg, e->message,
               e->task != NULL ? ", task " : "",
               e->task != NULL ? coil_task_name(e->task) : "",
               e->error != NULL ? ", error" : "", strerror(-e->rc));
}

TASK_TEST(a_failed_task_that_nobody_asks_is_reported_when_it_is_released)
{
    coil_task *task;

    coil_set_exception_handler(trace_exception, "");
    task = spawn_parser();
    CHECK_INT(coil_yield(), 0);
    CHECK_TRACE("");
    coil_task_release(task);
    CHECK_TRACE("Task exception was never retrieved, task parser, error "
                "Invalid argument; ");
}

TASK_TEST(a_failed_future_that_nobody_asks_is_reported_when_it_is_released)
{
    coil_future *future;

    coil_set_exception_handler(trace_exception, "");
    CHECK_INT(coil_future_create(&future), 0);
    CHECK_INT(coil_future_set(future, -EIO, NULL, NULL), 0);
    coil_future_release(future);
    CHECK_TRACE("Future exception was never retrieved Input/output error; ");
}

static int shield_it(void *future)
{
    return coil_shield(future);
}

TASK_TEST(a_failure_behind_a_shield_that_was_left_in_the_same_turn_is_not_reported)
{
    coil_future *future;
    coil_task *task;

    coil_set_exception_handler(trace_exception, "");
    CHECK_INT(coil_future_create(&future), 0);
    CHECK_INT(coil_spawn(shield_it, future, NULL, &task), 0);
    coil_yield();
    coil_task_cancel(task, NULL);
    coil_future_set(future, -EIO, NULL, NULL);
    CHECK_INT(coil_task_await(task), -ECANCELED);
    coil_task_release(task);
    coil_future_release(future);
    CHECK_TRACE("");
}

static int gather_two(void *futures)
{
    return coil_gather(futures, 2, 0, NULL);
}

TASK_TEST(a_failure_after_the_gathers_result_is_not_reported)
{
    coil_future *futures[2];
    coil_task *task;

    coil_set_exception_handler(trace_exception, "");
    for (int i = 0; i < 2; i++)
        CHECK_INT(coil_future_create(&futures[i]), 0);
    CHECK_INT(coil_spawn(gather_two, futures, NULL, &task), 0);
    coil_yield();
    coil_future_set(futures[0], -EIO, NULL, NULL);
    coil_yield(); /* the gather has its result, but its task has not continued yet */
    coil_future_set(futures[1], -ENOENT, NULL, NULL);
    CHECK_INT(coil_task_await(task), -EIO);
    coil_task_release(task);
    for (int i = 0; i < 2; i++)
        coil_future_release(futures[i]);
    CHECK_TRACE("");
}

TASK_TEST(a_failure_is_not_reported_once_somebody_wanted_it_cancelled)
{
    coil_future *future;
    coil_task *task;

    coil_set_exception_handler(trace_exception, "");
    CHECK_INT(coil_future_create(&future), 0);
    coil_future_set(future, -EIO, NULL, NULL);
    CHECK(!coil_future_cancel(future, NULL));
    coil_future_release(future);
    task = spawn_parser();
    coil_yield();
    CHECK(!coil_task_cancel(task, NULL));
    coil_task_release(task);
    CHECK_TRACE("");
}

TASK_TEST(a_failure_that_somebody_asked_for_is_not_reported)
{
    coil_task *task;

    coil_set_exception_handler(trace_exception, "");
    task = spawn_parser();
    CHECK_INT(coil_task_await(task), -EINVAL);
    coil_task_release(task);
    CHECK_TRACE("");
}

static void keep_future(const coil_exception *e, void *kept)
{
    *(coil_future **)kept = coil_future_retain(e->future);
}

TASK_TEST(a_handler_may_keep_the_task_it_is_told_of)
{
    coil_future *kept = NULL;

    coil_set_exception_handler(keep_future, &kept);
    coil_task_release(spawn_parser());
    CHECK_INT(coil_yield(), 0);
    CHECK_INT(coil_future_result(kept), -EINVAL);
    CHECK_STR(coil_error_task(coil_future_error(kept)), "parser");
    coil_future_release(kept);
}

static int wait_and_fail(void *arg)
{
    (void)arg;
    return coil_sleep(COIL_SEC(1)) == -ECANCELED ? coil_fail(-EIO, "no time") : 0;
}

static int leave_some_behind(void *arg)
{
    coil_set_exception_handler(trace_exception, arg);
    return coil_spawn(wait_and_fail, NULL, &(coil_spawn_opts){.name = "left"}, NULL);
}

TEST(what_is_left_behind_and_fails_is_reported)
{
    coil_run_opts opts = {.loop.virtual_clock = true};

    CHECK_INT(coil_run(leave_some_behind, "", &opts), 0);
    CHECK_TRACE("unhandled exception during coil_run() shutdown, task left, error "
                "Input/output error; ");
}

TEST(a_task_that_is_pending_as_the_loop_closes_is_reported)
{
    coil_loop *loop;

    CHECK_INT(coil_loop_create(NULL, &loop), 0);
    coil_set_exception_handler(trace_exception, "");
    CHECK_INT(coil_spawn(sleep_long, NULL, &(coil_spawn_opts){.name = "left"}, NULL), 0);
    coil_loop_close(loop);
    CHECK_TRACE("Task was destroyed but it is pending!, task left Success; ");
}

static int keep_a_failed_task(void *kept)
{
    coil_task *task = spawn_parser();

    *(coil_task **)kept = task;
    return coil_yield();
}

static void release_without_loop(void *arg)
{
    coil_task *kept;

    (void)arg;
    coil_run(keep_a_failed_task, &kept, NULL);
    coil_task_release(kept);
    abort();
}

TEST(a_task_that_outlives_its_loop_is_reported_by_its_name)
{
    test_dies(release_without_loop, NULL,
              "coil: Task exception was never retrieved (task 'parser')\nline 3 has");
}

static void trace_current(const coil_exception *e, void *arg)
{
    (void)e;
    (void)arg;
    test_trace("%s", coil_task_current() == NULL ? "none" : "some");
}

TASK_TEST(no_task_is_current_in_a_handler)
{
    coil_set_exception_handler(trace_current, NULL);
    coil_call_exception_handler(&(coil_exception){.message = "hello"});
    CHECK_TRACE("none");
    CHECK(coil_task_current() != NULL);
}

static int say_and_yield(void *arg)
{
    (void)arg;
    test_trace("begins; ");
    coil_yield();
    test_trace("ends; ");
    return 0;
}

static void spawn_eagerly(const coil_exception *e, void *arg)
{
    (void)arg;
    test_trace("%s; ", coil_task_name(e->task));
    CHECK_INT(coil_spawn(say_and_yield, NULL, &(coil_spawn_opts){.eager = true}, NULL),
              0);
    test_trace("handled; ");
}

TASK_TEST(a_handler_may_start_a_task_that_runs_at_once)
{
    coil_task *parser = spawn_parser();

    coil_set_exception_handler(spawn_eagerly, NULL);
    CHECK_INT(coil_yield(), 0);
    coil_task_release(parser); /* reports the failure at once, in this task */
    test_trace("main; ");
    CHECK(strcmp(coil_task_name(coil_task_current()), "main") == 0);
    CHECK_INT(coil_yield(), 0);
    CHECK_TRACE("parser; begins; handled; main; ends; ");
}

TASK_TEST(a_task_that_fails_as_it_is_started_hands_its_error_on)
{
    coil_spawn_opts opts = {.name = "eager", .eager = true};
    coil_task *task;

    CHECK_INT(coil_spawn(parse_task, NULL, &opts, &task), 0);
    CHECK(coil_last_error() == NULL);
    CHECK_INT(coil_task_await(task), -EINVAL);
    CHECK_STR(coil_error_task(coil_error_cause(coil_last_error())), "eager");
    coil_task_release(task);
}

static void sleep_in_handler(const coil_exception *e, void *arg)
{
    (void)e;
    (void)arg;
    coil_sleep(1);
}

static int call_sleeping_handler(void *arg)
{
    (void)arg;
    coil_set_exception_handler(sleep_in_handler, NULL);
    coil_call_exception_handler(&(coil_exception){.message = "hello"});
    return 0;
}

static void run_sleeping_handler(void *arg)
{
    coil_run(call_sleeping_handler, arg, NULL);
}

/*
 * Close a loop on which a task is still waiting. Must run in a child process, because the
 * task's stack is leaked.
 */
static void close_over_waiting_task(void *arg)
{
    coil_loop_opts opts = {.virtual_clock = true};
    coil_loop *loop;

    (void)arg;
    coil_loop_create(&opts, &loop);
    coil_spawn(sleep_long, NULL, &(coil_spawn_opts){.name = "sleeper"}, NULL);
    coil_loop_stop(loop);
    coil_loop_run_forever(loop);
    coil_loop_close(loop);
    abort();
}

TEST(closing_a_loop_over_a_waiting_task_says_so)
{
    test_dies(close_over_waiting_task, NULL,
              "Task was destroyed but it is pending! (task 'sleeper')");
}

TEST(a_handler_must_not_suspend)
{
    test_dies(run_sleeping_handler, NULL, "no task is running here");
}

/* ---- aborts ------------------------------------------------------------------------ */

static COIL__NOINLINE int await_myself(void *arg)
{
    int rc = coil_task_await(coil_task_current());

    (void)arg;
    __asm__ volatile("");
    return rc;
}

static void run_await_myself(void *arg)
{
    coil_run(await_myself, arg, NULL);
}

TASK_TEST(misuse_shows_the_stack)
{
    skip_without_lines();
    test_dies(run_await_myself, NULL, "task 'main' awaits itself\n  in main\n    ");
    test_dies(run_await_myself, NULL, test_place("    await_myself"));
}

TASK_TEST(a_function_that_ends_in_the_failure_is_in_its_traceback)
{
    coil_future *future;

    skip_without_lines();
    CHECK_INT(end_by_failing(), -EBADF);
    CHECK_PRINTED(coil_last_error(), "    end_by_failing at ");
    CHECK_INT(end_by_failing_from(NULL), -EBADF);
    CHECK_PRINTED(coil_last_error(), "    end_by_failing_from at ");
    coil_future_create(&future);
    CHECK_INT(end_by_failing_a_future(future), 0);
    CHECK_PRINTED(coil_future_error(future), "    end_by_failing_a_future at ");
    coil_future_release(future);
}

/* ---- what the default handler prints ----------------------------------------------- */

static int abandon_parser(void *arg)
{
    (void)arg;
    return coil_spawn(parse_task, NULL, &named_parser, NULL);
}

static void run_abandon_parser(void *arg)
{
    (void)arg;
    coil_run(abandon_parser, NULL, NULL);
    abort();
}

TASK_TEST(the_default_handler_prints_message_task_and_traceback)
{
    test_dies(run_abandon_parser, NULL,
              "coil: Task exception was never retrieved (task 'parser')\n"
              "line 3 has no colon (Invalid argument)\n  in task 'parser'\n    ");
    skip_without_lines();
    test_dies(run_abandon_parser, NULL, test_place("\n    parse_task"));
}

/* ---- debug mode: calls that fail without a message --------------------------------- */

static COIL__NOINLINE int read_a_closed_descriptor(void)
{
    coil_file *file;
    int rc = coil_file_open("/dev/null", O_RDONLY, 0, &file);

    if (rc < 0)
        return rc;
    coil_file_close(file);
    rc = (int)coil_file_read(file, &rc, 1);
    coil_file_destroy(file);
    return rc;
}

static int fail_without_a_message(void *arg)
{
    int rc = read_a_closed_descriptor();

    (void)arg;
    return rc;
}

static int await_a_failure_without_a_message(void *arg)
{
    coil_task *task;
    int rc = coil_spawn(fail_without_a_message, arg, NULL, &task);

    if (rc < 0)
        return rc;
    rc = coil_task_await(task);
    coil_task_release(task);
    return rc;
}

static coil_error *failure_in_debug_mode(coil_task_fn fn, void *arg)
{
    coil_error *error;
    coil_run_opts opts = {.error = &error, .loop.debug = true};

    CHECK(coil_run(fn, arg, &opts) < 0);
    return error;
}

TEST(failure_without_a_message_has_a_place_in_debug_mode)
{
    coil_error *error = failure_in_debug_mode(fail_without_a_message, NULL);

    CHECK(error != NULL);
    CHECK_STR(coil_error_message(error), "Bad file descriptor");
    CHECK_PRINTED(error, "Bad file descriptor\n  in task 'main'\n    ");
    if (has_lines_of(error))
        CHECK_PRINTED(error, "  in task 'main'\n    read_a_closed_descriptor at ");
    coil_error_release(error);
    error = failure_in_debug_mode(await_a_failure_without_a_message, NULL);
    CHECK_PRINTED(error, "Bad file descriptor\n  in task 'task-2'\n    ",
                  "  awaited by task 'main'\n");
    coil_error_release(error);
    CHECK_INT(coil_run(fail_without_a_message, NULL, &(coil_run_opts){.error = &error}),
              -EBADF);
    CHECK_PTR(error, NULL);
}

/*
 * Fail with a message, which is preserved although other calls fail during the clean-up.
 */
static int fail_and_clean_up(void *arg)
{
    int rc = coil_fail(-EINVAL, "the first failure");

    read_a_closed_descriptor();
    CHECK_INT(coil_error_rc(coil_last_error()), -EBADF);
    read_a_closed_descriptor();
    return arg != NULL ? *(int *)arg : rc;
}

TEST(failure_in_debug_mode_during_the_cleanup_does_not_hide_the_first_one)
{
    coil_error *error = failure_in_debug_mode(fail_and_clean_up, NULL);

    CHECK_STR(coil_error_message(error), "the first failure");
    coil_error_release(error);
    error = failure_in_debug_mode(fail_and_clean_up, &(int){-EBADF});
    CHECK_STR(coil_error_message(error), "Bad file descriptor");
    coil_error_release(error);
    error = failure_in_debug_mode(fail_and_clean_up, &(int){-EIO});
    CHECK_PTR(error, NULL);
}

/*
 * The additional memory that an error takes in debug mode must not come from coil's
 * allocator, so that debug mode does not change which allocation fails.
 */
TEST(failure_in_debug_mode_takes_no_memory_of_the_allocator)
{
    size_t before = test_blocks_held();
    coil_error *error = failure_in_debug_mode(fail_without_a_message, NULL);

    CHECK_INT(test_blocks_held(), before);
    coil_error_release(error);
}
