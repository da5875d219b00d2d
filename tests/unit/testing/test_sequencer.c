/*
 * test_sequencer.c - sequencers, which make tasks pass points of their code in a fixed
 * order.
 */
#include "../../harness/harness.h"

#include <coil.h>

struct line {
    coil_sequencer *order;
    const char *name;
    unsigned first, step;
};

static int walk(void *arg)
{
    const struct line *line = arg;

    for (unsigned position = line->first; position < 6; position += line->step) {
        int rc = coil_sequencer_wait(line->order, position);

        if (rc < 0) {
            test_trace("%s:%d ", line->name, rc);
            return rc;
        }
        test_trace("%s%u ", line->name, position);
    }
    return 0;
}

static void spawn_walk(coil_sequencer *order, const char *name, unsigned first,
                       unsigned step)
{
    struct line line = {order, name, first, step};

    CHECK_INT(coil_spawn(walk, &line, &(coil_spawn_opts){.arg_bytes = sizeof line}, NULL),
              0);
}

TASK_TEST(sequencer_lets_its_points_pass_in_order)
{
    coil_sequencer order = COIL_SEQUENCER_INIT;

    spawn_walk(&order, "c", 2, 3);
    spawn_walk(&order, "b", 1, 3);
    CHECK_INT(coil_wait_all_blocked(), 0);
    CHECK_TRACE("");
    spawn_walk(&order, "a", 0, 3);
    CHECK_INT(coil_wait_all_blocked(), 0);
    CHECK_TRACE("a0 b1 c2 a3 b4 c5 ");
}

TASK_TEST(sequencer_keeps_its_order_with_any_seed)
{
    for (uint64_t seed = 1; seed <= 20; seed++) {
        coil_sequencer order = COIL_SEQUENCER_INIT;

        coil_testing_shuffle(seed);
        spawn_walk(&order, "b", 1, 2);
        spawn_walk(&order, "a", 0, 2);
        CHECK_INT(coil_wait_all_blocked(), 0);
        CHECK_TRACE("a0 b1 a2 b3 a4 b5 ");
    }
    coil_testing_shuffle(0);
}

static int stand_at_three(void *arg)
{
    return coil_sequencer_wait(arg, 3);
}

TASK_TEST(sequencer_is_broken_by_a_cancellation)
{
    coil_sequencer order;
    coil_task *cancelled;

    coil_sequencer_init(&order);
    spawn_walk(&order, "b", 1, 6);
    CHECK_INT(coil_spawn(stand_at_three, &order, NULL, &cancelled), 0);
    CHECK_INT(coil_yield(), 0);
    coil_task_cancel(cancelled, NULL);
    CHECK_INT(coil_task_await(cancelled), -ECANCELED);
    CHECK_INT(coil_yield(), 0);
    CHECK_TRACE("b:-32 ");
    coil_fail(-EPIPE, "an older failure");
    CHECK_INT(coil_sequencer_wait(&order, 0), -EPIPE);
    CHECK(coil_last_error() == NULL);
    coil_task_release(cancelled);
}

static int pass_twice(void *arg)
{
    coil_sequencer *order = arg;

    CHECK_INT(coil_sequencer_wait(order, 0), 0);
    return coil_sequencer_wait(order, 0);
}

static void run_pass_twice(void *arg)
{
    coil_run(pass_twice, arg, NULL);
}

TEST(sequencer_has_one_task_for_each_position)
{
    coil_sequencer order = COIL_SEQUENCER_INIT;

    test_dies(run_pass_twice, &order, "coil_sequencer_wait: position 0 is taken");
}
