/*
 * guest.c - a loop inside another event loop (the host).
 *
 * The host gets a descriptor and a time-out from coil, and includes them in its own wait.
 * After that wait it calls coil_guest_step(), which polls without waiting, runs one turn
 * of the loop, and returns to the host even if tasks are ready. (Outside of guest mode a
 * busy loop may run several turns without a poll.)
 */
#include "loop.h"

#include <coil/guest.h>

static bool can_be_guest(const coil_loop *loop)
{
    return loop->backend->class->pollable != NULL && !loop->virtual_clock;
}

int coil_guest_fd(coil_loop *loop)
{
    COIL__REQUIRE(loop, "a loop");
    coil__loop_require_own(loop, "coil_guest_fd");
    if (!can_be_guest(loop))
        return coil__failed(-EOPNOTSUPP);
    coil__wakeup_begin_wait(&loop->wakeup, COIL__POLLS);
    return (int)coil__result(loop->backend->class->pollable(loop->backend));
}

int64_t coil_guest_timeout(coil_loop *loop)
{
    COIL__REQUIRE(loop, "a loop");
    int64_t next = coil__timers_next(&loop->timers), now;

    coil__loop_require_own(loop, "coil_guest_timeout");
    if (can_be_guest(loop))
        loop->backend->class->pollable(loop->backend);
    if (!coil__list_empty(&loop->ready) || !coil__list_empty(&loop->idle) ||
        loop->stopping || !coil__wakeup_begin_wait(&loop->wakeup, COIL__POLLS) ||
        loop->backend->always_ready > 0)
        return 0;
    if (next == COIL_NEVER)
        return COIL_NEVER;
    now = coil__loop_now(loop);
    /*
     * The host probably waits with poll(2), to which the kernel adds the thread's timer
     * slack.
     */
    return next > now ? coil__loop_wait_for(loop, next - now, false) : 0;
}

int coil_guest_step(coil_loop *loop)
{
    COIL__REQUIRE(loop, "a loop");
    bool stopped;
    int rc;

    coil__loop_require_own(loop, "coil_guest_step");
    if (loop->running)
        return coil__failed(-EBUSY);
    if (loop->virtual_clock)
        return coil__failed(-EOPNOTSUPP);
    loop->guest = true;
    coil__loop_choose_turns(loop);
    rc = coil__loop_take_turn(loop);
    stopped = loop->stopping;
    loop->stopping = loop->guest = false;
    coil__loop_choose_turns(loop);
    return rc < 0 ? coil__failed(rc) : stopped;
}
