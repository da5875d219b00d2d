/*
 * guest.c - a loop that lives inside another.
 *
 * All it takes is a turn that does not wait, and two answers for whoever waits instead.
 * Turns without a poll are left out here: each step looks at the kernel, and gives the
 * host its turn however busy the tasks are.
 */
#include "loop.h"

#include <coil/guest.h>

static bool can_be_guest(const coil_loop *loop)
{
    return loop->backend->class->pollable != NULL && !loop->virtual_clock;
}

int coil_guest_fd(coil_loop *loop)
{
    coil__loop_require_own(loop, "coil_guest_fd");
    if (!can_be_guest(loop))
        return -EOPNOTSUPP;
    return loop->backend->class->pollable(loop->backend);
}

int64_t coil_guest_timeout(coil_loop *loop)
{
    int64_t next = coil__timers_next(loop), now;

    coil__loop_require_own(loop, "coil_guest_timeout");
    if (can_be_guest(loop))
        loop->backend->class->pollable(loop->backend);
    if (!coil__list_empty(&loop->ready) || !coil__list_empty(&loop->idle) ||
        loop->stopping || coil__wakeup_pending(loop))
        return 0;
    if (next == COIL_NEVER)
        return COIL_NEVER;
    now = coil__loop_now(loop);
    return next > now ? next - now : 0;
}

int coil_guest_step(coil_loop *loop)
{
    bool stopped;
    int rc;

    coil__loop_require_own(loop, "coil_guest_step");
    if (loop->running)
        return -EBUSY;
    if (loop->virtual_clock)
        return -EOPNOTSUPP;
    loop->guest = true;
    coil__loop_choose_turns(loop);
    rc = coil__loop_take_turn(loop);
    stopped = loop->stopping;
    loop->stopping = loop->guest = false;
    coil__loop_choose_turns(loop);
    return rc < 0 ? rc : stopped;
}
