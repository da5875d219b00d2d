/*
 * wait_for.c - awaits one future with a time-out. (asyncio: wait_for)
 */
#include "failure.h"
#include "task.h"

#include <coil/gather.h>

struct ending {
    struct coil__wait wait;
    struct coil__runnable ended;
    coil_future *future;
};

static void has_ended(struct coil__runnable *runnable)
{
    coil__wait_complete(&COIL__CONTAINER(runnable, struct ending, ended)->wait, 0);
}

/*
 * Cancel the future and wait until it has ended. If the caller is cancelled meanwhile,
 * the wait ends immediately, and the future is not cancelled again.
 */
static int cancel_and_wait(coil_future *future, const struct coil__cancel_origin *origin)
{
    static const struct coil__wait_class class = {
        .what = "wait_for",
        .futures = {.kind = COIL__WAIT_ONE,
                    .first = COIL__WAIT_AT(struct ending, future)}};
    struct ending e = {.future = future};
    int rc;

    coil__wait_init(&e.wait, &class);
    coil__runnable_init(&e.ended, has_ended);
    coil__future_subscribe(future, &e.ended);
    coil__future_cancel(future, origin);
    rc = coil__wait_park(&e.wait);
    coil__list_remove(&e.ended.link);
    return rc;
}

/*
 * Called if the deadline has already passed: cancel the future, wait until it has ended,
 * and return its result, or -ETIMEDOUT if the future was cancelled.
 */
static int cancel_expired(coil_future *future, const void *caller)
{
    struct coil__cancel_origin origin = coil__cancel_origin_here("deadline", caller);
    int rc;

    coil__future_retain(future);
    rc = cancel_and_wait(future, &origin);
    if (rc == 0)
        rc = coil__future_retrieve(future) == -ECANCELED ? coil__failed(-ETIMEDOUT)
                                                         : future->rc;
    if (rc < 0)
        coil__failure_hand_on(future, rc, caller);
    coil__future_release(future);
    return rc;
}

COIL__NOINLINE int coil_wait_for(coil_future *future, int64_t deadline)
{
    COIL__REQUIRE(future, "a future");
    coil_scope scope;
    int rc;

    coil__future_check_gone(future, "coil_wait_for");
    if (!coil__future_pending(future))
        return coil_future_result(future);
    coil__future_check_awaiter(future, "coil_wait_for");
    if (deadline <= coil__loop_now(future->loop))
        return cancel_expired(future, COIL__CALLER());
    rc = coil__scope_enter(&scope, deadline, COIL__CALLER());
    if (rc < 0)
        return rc;
    return coil_scope_exit(&scope, coil_await(future));
}
