/*
 * staggered_race.c - staggered races: which functions begin, and which one wins.
 */
#include "races.h"

/*
 * If the first function takes longer than the delay, the second starts too. When the
 * second wins, the first is cancelled.
 */
SCENARIO(staggered_race_begins_the_next_after_the_delay)
{
    static struct way ways[] = {{0, 10, 10}, {1, 1, 11}};
    coil_work works[2];
    int rc;

    for (int i = 0; i < 2; i++)
        works[i] = (coil_work){work, &ways[i]};
    rc = race(works, 2, COIL_SEC(2));
    if (rc == -ENOMEM)
        return rc;
    trace("over");
    trace_outcome("sleep", coil_sleep(COIL_SEC(1)));
    return 0;
}

/* If a function fails, the next one starts at once, however long the delay is. */
SCENARIO(staggered_race_goes_on_after_a_failure)
{
    static struct way ways[] = {{0, 1, -EIO}, {1, 2, 11}, {2, 3, 12}};
    coil_work works[3];
    int rc;

    for (int i = 0; i < 3; i++)
        works[i] = (coil_work){work, &ways[i]};
    rc = race(works, 3, COIL_SEC(60));
    if (rc == -ENOMEM)
        return rc;
    trace("over");
    trace_outcome("sleep", coil_sleep(COIL_SEC(1)));
    return 0;
}

/*
 * If the first function succeeds within the delay, it wins, and the second never begins.
 */
SCENARIO(staggered_race_needs_only_the_first)
{
    static struct way ways[] = {{0, 0, 10}, {1, 0, 11}};
    coil_work works[2];
    int rc;

    start(ticker, TURNS(8));
    for (int i = 0; i < 2; i++)
        works[i] = (coil_work){work, &ways[i]};
    rc = race(works, 2, COIL_NEVER);
    if (rc == -ENOMEM)
        return rc;
    trace("over");
    trace_outcome("sleep", coil_sleep(COIL_SEC(1)));
    return 0;
}

static void staggered_race_of_nothing_race(const coil_work works[], size_t n,
                                           int64_t delay)
{
    size_t winner = 1;

    coil_staggered_race(works, n, delay, &winner, NULL);
    if (winner == n)
        trace("nobody won");
}

/* A race without functions has no winner. */
SCENARIO(staggered_race_of_nothing)
{
    staggered_race_of_nothing_race(NULL, 0, COIL_NEVER);
    staggered_race_of_nothing_race(NULL, 0, COIL_SEC(1));
    return 0;
}

/*
 * Each function begins one delay after the previous one, and the first function that
 * succeeds is the winner.
 */
SCENARIO(staggered_race_of_three_is_won_by_the_second)
{
    static struct way ways[] = {{0, 6, 10}, {1, 3, 11}, {2, 2, 12}};
    coil_work works[3];
    int rc;

    for (int i = 0; i < 3; i++)
        works[i] = (coil_work){work, &ways[i]};
    rc = race(works, 3, COIL_SEC(2));
    if (rc == -ENOMEM)
        return rc;
    trace("over");
    trace_outcome("sleep", coil_sleep(COIL_SEC(1)));
    return 0;
}

/* If all functions fail one after another, there is no winner. */
SCENARIO(staggered_race_that_nobody_wins)
{
    static struct way ways[] = {{0, 1, -EIO}, {1, 1, -EPROTO}};
    coil_work works[2];
    int rc;

    for (int i = 0; i < 2; i++)
        works[i] = (coil_work){work, &ways[i]};
    rc = race(works, 2, COIL_NEVER);
    if (rc == -ENOMEM)
        return rc;
    trace("over");
    trace_outcome("sleep", coil_sleep(COIL_SEC(1)));
    return 0;
}

/* With a delay of 0, all functions begin, each a few turns after the previous one. */
SCENARIO(staggered_race_without_delay_begins_all)
{
    static struct way ways[] = {{0, 3, -EIO}, {1, 2, 11}, {2, 1, -EPROTO}};
    coil_work works[3];
    int rc;

    start(ticker, TURNS(12));
    for (int i = 0; i < 3; i++)
        works[i] = (coil_work){work, &ways[i]};
    rc = race(works, 3, COIL_SEC(0));
    if (rc == -ENOMEM)
        return rc;
    trace("over");
    trace_outcome("sleep", coil_sleep(COIL_SEC(1)));
    return 0;
}
