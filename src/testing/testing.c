/*
 * testing.c - runs programs in virtual time, and waits until all other tasks are blocked.
 */
#include "inside.h"

#include <coil/testing.h>

int coil_testing_run(coil_task_fn fn, void *arg)
{
    coil_run_opts opts = {
        .loop = {.virtual_clock = true}, .no_signals = true, .no_report = true};

    coil__testing_begin();
    return coil_run(fn, arg, &opts);
}

/* ---- waiting until all are blocked ------------------------------------------------- */

/*
 * A call of coil_wait_all_blocked(). The loop runs `idle` when no other runnable is
 * ready.
 */
struct rest_waiter {
    struct coil__wait wait;
    struct coil__runnable idle;
};

static void end_rest_wait(struct coil__runnable *runnable)
{
    struct rest_waiter *r = COIL__CONTAINER(runnable, struct rest_waiter, idle);

    coil__inside->wait_complete(&r->wait, 0);
}

int coil_wait_all_blocked(void)
{
    static const struct coil__wait_class class = {.what = "all_blocked",
                                                  .call = "coil_wait_all_blocked"};
    struct rest_waiter r;
    int rc;

    coil__testing_begin();
    coil__inside->wait_init(&r.wait, &class);
    coil__runnable_init(&r.idle, end_rest_wait);
    coil__list_push(&r.wait.task->future.loop->idle, &r.idle.link);
    rc = coil__inside->wait_park(&r.wait);
    coil__list_remove(&r.idle.link);
    return rc;
}
