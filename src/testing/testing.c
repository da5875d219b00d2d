/*
 * testing.c - what tests of programs need: order, failures, and the moment of rest.
 *
 * The means lie below, where they are used: faults in base/fault.c, shuffled batches and
 * the list of what runs when the loop is idle in loop/.
 */
#include "../base/fault.h"
#include "../task/task.h"

#include <coil/testing.h>

int coil_testing_run(coil_task_fn fn, void *arg)
{
    coil_run_opts opts = {.loop = {.virtual_clock = true}, .no_signals = true};

    return coil_run(fn, arg, &opts);
}

void coil_testing_shuffle(uint64_t seed)
{
    coil__loop_shuffle(seed);
}

/* ---- the moment of rest ------------------------------------------------------------ */

struct resting {
    struct coil__wait wait;
    struct coil__runnable idle;
};

static void all_blocked(struct coil__runnable *runnable)
{
    coil__wait_complete(&COIL__CONTAINER(runnable, struct resting, idle)->wait, 0);
}

int coil_wait_all_blocked(void)
{
    static const struct coil__wait_class class = {.what = "all_blocked"};
    struct resting r;
    int rc;

    coil__wait_init(&r.wait, &class);
    coil__runnable_init(&r.idle, all_blocked);
    coil__list_push(&r.wait.task->future.loop->idle, &r.idle.link);
    rc = coil__wait_park(&r.wait);
    coil__list_remove(&r.idle.link);
    return rc;
}

/* ---- failures ---------------------------------------------------------------------- */

void coil_testing_fail_allocation(uint64_t nth)
{
    coil__fault_order(&coil__fault_allocation, nth, ENOMEM);
}

void coil_testing_fail_system_call(uint64_t nth, int error)
{
    coil__fault_order(&coil__fault_call, nth, error);
}

const char *coil_testing_failed(void)
{
    return atomic_load(&coil__fault_happened);
}

uint64_t coil_testing_allocations(void)
{
    coil__faults_count();
    return atomic_load(&coil__fault_allocation.count);
}

uint64_t coil_testing_system_calls(void)
{
    coil__faults_count();
    return atomic_load(&coil__fault_call.count);
}

int64_t coil_testing_blocks(void)
{
    coil__faults_count();
    return atomic_load(&coil__blocks);
}
