/*
 * test_generators_in_tasks.c - if a generator waits, the task that has resumed it waits.
 */
#include "../../harness/harness.h"

#include <coil.h>

static int ticker(coil_gen *g, void *arg)
{
    (void)g;
    for (intptr_t i = 1; i <= 3; i++) {
        int rc = coil_sleep(COIL_MSEC(10));

        if (rc == 0)
            rc = coil_gen_yield((void *)i, NULL);
        if (rc < 0) {
            test_trace("gen:%d ", rc);
            return rc;
        }
    }
    coil_gen_return(g, arg);
    return 0;
}

TASK_TEST(a_generator_awaits_and_yields_in_turn)
{
    coil_gen *g;
    void *value;

    CHECK_INT(coil_gen_create(ticker, "end", NULL, &g), 0);
    for (intptr_t i = 1; i <= 3; i++) {
        CHECK_INT(coil_gen_next(g, &value), COIL_GEN_YIELDED);
        CHECK_INT((intptr_t)value, i);
        CHECK_INT(coil_now(), COIL_MSEC(10) * i);
    }
    CHECK_INT(coil_gen_next(g, &value), COIL_GEN_ENDED);
    CHECK_STR((char *)value, "end");
    coil_gen_destroy(g);
}

static int drive(void *arg)
{
    void *value;
    int rc = coil_gen_next(arg, &value);

    test_trace("%s:%d ", coil_task_name(coil_task_current()), rc);
    return rc;
}

TASK_TEST(a_generator_whose_driver_waits_is_busy)
{
    coil_gen *g;
    coil_task *t;

    coil_gen_create(ticker, NULL, NULL, &g);
    coil_spawn(drive, g, &(coil_spawn_opts){.name = "driver"}, &t);
    coil_yield();
    CHECK_INT(coil_gen_get_state(g), COIL_GEN_RUNNING);
    CHECK_INT(coil_gen_next(g, NULL), -EBUSY);
    CHECK_INT(coil_task_await(t), COIL_GEN_YIELDED);
    CHECK_TRACE("driver:1 ");
    /* The generator was suspended while `t` ran it, and is resumed by this task. */
    CHECK_INT(coil_gen_next(g, NULL), COIL_GEN_YIELDED);
    coil_gen_destroy(g);
    CHECK_TRACE("gen:-125 ");
    coil_task_release(t);
}

TASK_TEST(a_driver_cancelled_inside_a_generator)
{
    coil_gen *g;
    coil_task *t;

    coil_gen_create(ticker, NULL, NULL, &g);
    coil_spawn(drive, g, &(coil_spawn_opts){.name = "driver"}, &t);
    coil_yield();
    coil_task_cancel(t, NULL);
    CHECK_INT(coil_task_await(t), -ECANCELED);
    CHECK_INT(coil_gen_get_state(g), COIL_GEN_CLOSED);
    CHECK_TRACE("gen:-125 driver:-125 ");
    coil_gen_destroy(g);
    coil_task_release(t);
}
