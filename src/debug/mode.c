/*
 * mode.c - the public functions of debug mode. Most of the mode is implemented in
 * loop/slow.c.
 */
#include "../loop/loop.h"

#include <coil/debug.h>

void coil_set_debug(bool on)
{
    coil__loop_set_debug(coil__loop_require("coil_set_debug"), on);
}

bool coil_debug(void)
{
    return coil__loop_is_debugged();
}

void coil_watch_locks(void)
{
    coil__stall_watch(coil__loop_require("coil_watch_locks"));
}

_Static_assert(sizeof(struct coil__lock_wait) <= sizeof(coil_lock_wait),
               "coil_lock_wait is too small");

void coil_lock_wait_begin(coil_lock_wait *wait, const void *caller, unsigned flags)
{
    COIL__REQUIRE(wait, "a wait");
    coil__loop_begin_lock_wait(
        coil__loop_require("coil_lock_wait_begin"), (struct coil__lock_wait *)wait,
        caller, flags & COIL_LOCK_WAIT_OUTSIDE, flags & COIL_LOCK_WAIT_AGAIN);
}

void coil_lock_wait_end(coil_lock_wait *wait)
{
    COIL__REQUIRE(wait, "a wait");
    coil__loop_end_lock_wait(coil__loop_require("coil_lock_wait_end"),
                             (struct coil__lock_wait *)wait);
}

void coil_lock_wait_checked(coil_lock_wait *wait)
{
    COIL__REQUIRE(wait, "a wait");
    coil__loop_check_lock_wait(coil__loop_require("coil_lock_wait_checked"),
                               (struct coil__lock_wait *)wait);
}

void coil_lock_wait_lapse(coil_lock_wait *wait)
{
    COIL__REQUIRE(wait, "a wait");
    coil__loop_lapse_lock_wait(coil__loop_require("coil_lock_wait_lapse"),
                               (struct coil__lock_wait *)wait);
}

void coil_lock_helper(void)
{
    coil__deadlock_add_helper();
}

void coil_set_slow_callback_ns(int64_t ns)
{
    coil__loop_set_slow(coil__loop_require("coil_set_slow_callback_ns"), ns);
}
