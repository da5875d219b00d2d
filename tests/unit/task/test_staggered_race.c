/*
 * test_staggered_race.c - starting several attempts one after the other, and using the
 * first result.
 */
#include "../../harness/harness.h"

#include <coil.h>

struct way {
    const char *name;
    int ms, rc;
    bool deaf;
};

static int go(void *arg)
{
    const struct way *way = arg;
    int rc;

    test_trace("%s@%ld ", way->name, (long)(coil_now() / COIL_MSEC(1)));
    rc = coil_sleep(COIL_MSEC(way->ms));
    if (rc == -ECANCELED && way->deaf) {
        coil_cancel_caught();
        rc = coil_sleep(COIL_MSEC(way->ms));
    }
    if (rc < 0)
        test_trace("%s:%d ", way->name, rc);
    return rc < 0 ? rc : way->rc;
}

static int race(const struct way ways[], size_t n, int64_t delay_ns, int rcs[])
{
    coil_work works[4];
    size_t winner = 99;
    int rc;

    for (size_t i = 0; i < n; i++)
        works[i] = (coil_work){go, (void *)&ways[i]};
    rc = coil_staggered_race(works, n, delay_ns, &winner, rcs);
    test_trace("-> %d by %zu@%ld", rc, winner, (long)(coil_now() / COIL_MSEC(1)));
    return rc;
}

TASK_TEST(the_first_to_succeed_wins_and_the_others_are_cancelled)
{
    const struct way ways[] = {{.name = "a", .ms = 100, .rc = 1},
                               {.name = "b", .ms = 10, .rc = 2},
                               {.name = "c", .ms = 100, .rc = 3}};
    int rcs[3];

    CHECK_INT(race(ways, 3, COIL_MSEC(5), rcs), 2);
    CHECK_TRACE("a@0 b@5 c@10 a:-125 c:-125 -> 2 by 1@15");
    CHECK_INT(rcs[0], -ECANCELED);
    CHECK_INT(rcs[1], 2);
    CHECK_INT(rcs[2], -ECANCELED);
}

TASK_TEST(a_failure_begins_the_next_at_once)
{
    const struct way ways[] = {{.name = "a", .ms = 2, .rc = -EIO},
                               {.name = "b", .ms = 10, .rc = 2},
                               {.name = "c", .ms = 10, .rc = 3}};
    int rcs[3];

    CHECK_INT(race(ways, 3, COIL_SEC(1), rcs), 2);
    CHECK_TRACE("a@0 b@2 -> 2 by 1@12");
    CHECK_INT(rcs[0], -EIO);
    CHECK_INT(rcs[1], 2);
    CHECK_INT(rcs[2], -EINPROGRESS);
}

TASK_TEST(without_a_delay_one_comes_after_the_other)
{
    const struct way ways[] = {{.name = "a", .ms = 500, .rc = -EIO},
                               {.name = "b", .ms = 500, .rc = -EPROTO}};

    CHECK_INT(race(ways, 2, COIL_NEVER, NULL), -EIO);
    CHECK_TRACE("a@0 b@500 -> -5 by 2@1000");
    CHECK_INT(race(ways, 1, COIL_NEVER, NULL), -EIO);
    CHECK_INT(coil_staggered_race(NULL, 0, 0, NULL, NULL), -EINVAL);
}

TASK_TEST(with_a_delay_of_0_all_begin)
{
    const struct way ways[] = {{.name = "a", .ms = 3, .rc = -EIO},
                               {.name = "b", .ms = 2, .rc = 2},
                               {.name = "c", .ms = 1, .rc = -EIO}};

    CHECK_INT(race(ways, 3, 0, NULL), 2);
    CHECK_TRACE("a@0 b@0 c@0 a:-125 -> 2 by 1@2");
}

TASK_TEST(a_second_winner_changes_nothing)
{
    const struct way ways[] = {{.name = "a", .ms = 20, .rc = 1, .deaf = true},
                               {.name = "b", .ms = 1, .rc = 2}};
    int rcs[2];

    CHECK_INT(race(ways, 2, COIL_MSEC(5), rcs), 2);
    CHECK_TRACE("a@0 b@5 -> 2 by 1@26");
    CHECK_INT(rcs[0], 1);
}

struct contest {
    struct way ways[2];
};

static int race_in_a_task(void *arg)
{
    const struct contest *contest = arg;
    int rc = race(contest->ways, 2, COIL_MSEC(5), NULL);

    test_trace(" then %d", coil_sleep(1));
    return rc;
}

static int cancel_after(const struct contest *contest, int ms)
{
    coil_task *t;
    int rc;

    CHECK_INT(coil_spawn(race_in_a_task, (void *)contest, NULL, &t), 0);
    coil_sleep(COIL_MSEC(ms));
    CHECK(coil_task_cancel(t, NULL));
    rc = coil_task_await(t);
    coil_task_release(t);
    return rc;
}

TASK_TEST(cancelling_a_race_waits_for_the_works_to_end)
{
    struct contest asleep = {{{.name = "a", .ms = 100}, {.name = "b", .ms = 100}}};
    struct contest deaf = {
        {{.name = "a", .ms = 3, .rc = 4, .deaf = true}, {.name = "b"}}};

    CHECK_INT(cancel_after(&asleep, 6), -ECANCELED);
    CHECK_TRACE("a@0 b@5 a:-125 b:-125 -> -125 by 2@6 then -125");
    CHECK_INT(cancel_after(&deaf, 1), 4);
    CHECK_TRACE("a@6 -> 4 by 0@10 then -125");
}

static int fail_in_words(void *arg)
{
    return coil_fail(-EIO, "way %s is closed", (const char *)arg);
}

TASK_TEST(race_that_nobody_wins_hands_on_the_error_of_the_first_failure)
{
    const coil_work works[] = {{fail_in_words, "a"}, {fail_in_words, "b"}};
    coil_error *error;

    CHECK_INT(coil_staggered_race(works, 2, COIL_SEC(1), NULL, NULL), -EIO);
    error = coil_last_error();
    CHECK(error != NULL);
    if (error != NULL)
        CHECK_STR(coil_error_message(error), "way a is closed");
}

TASK_TEST(race_without_memory_begins_nothing)
{
    const struct way ways[] = {{.name = "a"}};

    test_fail_allocation(1);
    CHECK_INT(race(ways, 1, COIL_SEC(1), NULL), -ENOMEM);
    CHECK_TRACE("-> -12 by 1@0");
}
