/*
 * mode.c - switches debug mode on and off. Its work is done in src/loop/slow.c.
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

void coil_set_slow_callback_ns(int64_t ns)
{
    coil__loop_set_slow(coil__loop_require("coil_set_slow_callback_ns"), ns);
}
