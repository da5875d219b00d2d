/*
 * testing_interface.c - the function that libcoil-testing calls to register its hooks.
 */
#include "testing_interface.h"

#include <string.h>

static int note_failure(int rc)
{
    return coil__failed(rc);
}

static coil_loop *loop_require(const char *caller)
{
    return coil__loop_require(caller);
}

static void add_ready(coil_loop *loop, struct coil__runnable *runnable)
{
    coil__loop_add_ready(loop, runnable);
}

static bool waiter_wake(struct coil__waiter *waiter)
{
    return coil__waiter_wake(waiter);
}

static const struct coil__inside inside = {
    .alloc = coil__alloc,
    .alloc_zeroed = coil__alloc_zeroed,
    .realloc = coil__realloc,
    .free = coil__free,
    .time_add = coil__time_add,
    .failed = note_failure,
    .misuse = coil__misuse,
    .fault_hooks = &coil__fault_hooks,
    .loop_require = loop_require,
    .loop_now = coil__loop_now,
    .loop_add_ready = add_ready,
    .timer_init = coil__timer_init,
    .timer_start = coil__timer_start,
    .timer_stop = coil__timer_stop,
    .op_rows = coil__op_rows,
    .backend_poll = &coil__backend_poll,
    .descriptor_make_room = coil__descriptor_make_room,
    .wait_init = coil__wait_init,
    .wait_park = coil__wait_park,
    .wait_complete = coil__wait_complete,
    .waiters_wait_as = coil__waiters_wait_as,
    .waiter_wake = waiter_wake,
    .waiters_wake_all = coil__waiters_wake_all,
};

const struct coil__inside *coil__testing_register(const struct coil__build *build,
                                                  const struct coil__loop_hooks *hooks)
{
    static const struct coil__build own = COIL__THIS_BUILD;
    const unsigned *theirs = build->version;

    if (memcmp(theirs, own.version, sizeof own.version) != 0)
        coil__misuse("libcoil-testing has version %u.%u.%u, and libcoil has %s: both "
                     "must have the same",
                     theirs[0], theirs[1], theirs[2], coil_version());
    if (memcmp(build->sizes, own.sizes, sizeof own.sizes) != 0)
        coil__misuse(
            "libcoil-testing and libcoil were not compiled from the same sources, "
            "though both are coil %s",
            coil_version());
    atomic_store(&coil__loop_hooks, hooks);
    return &inside;
}
