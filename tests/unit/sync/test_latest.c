/*
 * test_latest.c - values whose changes can be awaited.
 */
#include "../../harness/harness.h"

#include <coil.h>

static int level = 7;
static coil_latest latest = COIL_LATEST_INIT(&level, sizeof level);

static void set(int value)
{
    CHECK_INT(coil_latest_set(&latest, &value), 0);
}

static int follow(void *arg)
{
    uint64_t seen = 0;
    int value, rc;

    while ((rc = coil_latest_wait(&latest, &seen, &value)) == 0)
        test_trace("%s%d ", (const char *)arg, value);
    return rc;
}

TASK_TEST(latest_followers_see_the_newest_value)
{
    coil_task *a = test_spawn(follow, "a"), *b;
    int value;

    coil_yield();
    set(8);
    set(9);
    b = test_spawn(follow, "b");
    coil_yield();
    CHECK_TRACE("a7 a9 b9 ");
    set(9); /* setting an equal value also counts as a change */
    coil_latest_shutdown(&latest);
    CHECK_INT(test_join(a), -ESHUTDOWN);
    CHECK_INT(test_join(b), -ESHUTDOWN);
    CHECK_TRACE("a9 b9 ");
    CHECK_INT(coil_latest_set(&latest, &(int){1}), -ESHUTDOWN);
    coil_latest_get(&latest, &value);
    CHECK_INT(value, 9);
    coil_latest_finish(&latest);
}

TASK_TEST(latest_follower_cancelled)
{
    coil_task *task;

    coil_latest_init(&latest, &level, sizeof level);
    task = test_spawn(follow, "a");
    coil_yield();
    set(8);
    coil_task_cancel(task, NULL);
    CHECK_INT(test_join(task), -ECANCELED);
    CHECK_TRACE("a7 ");
    coil_latest_finish(&latest);
    coil_latest_finish(NULL);
}

/* ---- misuse ------------------------------------------------------------------------ */

static void set_it(void *object)
{
    coil_latest_set(object, &(int){1});
}

static void get_it(void *object)
{
    int value;

    coil_latest_get(object, &value);
}

static int wait_for_it(void *object)
{
    uint64_t seen = 0;
    int value;

    return coil_latest_wait(object, &seen, &value);
}

static void run_wait_for_it(void *object)
{
    coil_run(wait_for_it, object, NULL);
}

static void shut_it_down(void *object)
{
    coil_latest_shutdown(object);
}

TEST(latest_of_zeroes_or_finished_is_not_used)
{
    coil_latest object = {.value = NULL};
    int value = 1;

    for (int i = 0; i < 2; i++) {
        test_dies(set_it, &object, "coil_latest_set: the object is not initialised");
        test_dies(get_it, &object, "coil_latest_get: the object is not initialised");
        test_dies(run_wait_for_it, &object,
                  "coil_latest_wait: the object is not initialised");
        test_dies(shut_it_down, &object,
                  "coil_latest_shutdown: the object is not initialised");
        coil_latest_init(&object, &value, sizeof value);
        CHECK_INT(coil_latest_set(&object, &(int){2}), 0);
        coil_latest_finish(&object);
    }
}
