/*
 * mode.c - debug mode, switched on and off; what it does is src/loop/slow.c's.
 */
#include "../loop/loop.h"

#include <coil/debug.h>

void coil_set_debug(bool on)
{
    coil__loop_set_debug(coil__loop_require("coil_set_debug"), on);
}

bool coil_debug(void)
{
    return coil__loop_of_thread != NULL && coil__loop_of_thread->debug;
}

void coil_set_slow_callback_ns(int64_t ns)
{
    coil__loop_require("coil_set_slow_callback_ns")->slow_ns = ns;
}
