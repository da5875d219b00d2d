/*
 * scope.c - deadlines as regions of code.
 *
 *   ENTERED --- deadline ---> EXPIRING --- exit ---> EXPIRED
 *      +-------- exit --------------------------> EXITED
 *
 * A scope that expires cancels its task like anybody else; at exit it takes that request
 * back, and if as many requests are left as there were at entry, the cancellation was its
 * own, and becomes -ETIMEDOUT. (asyncio: timeouts.py)
 */
#include "task.h"

#include <coil/scope.h>

enum state { ENTERED, EXPIRING, EXPIRED, EXITED };

struct scope {
    struct coil__region region;
    struct coil__timer timer;
    coil_task *task;
    int64_t deadline;
    int cancelling; /* the task's requests at entry */
    enum state state;
};

_Static_assert(sizeof(struct scope) <= sizeof(coil_scope), "coil_scope is too small");

static struct scope *inside(const coil_scope *scope)
{
    return (struct scope *)scope;
}

static void expire(struct coil__runnable *runnable)
{
    struct scope *s = COIL__CONTAINER(runnable, struct scope, timer.runnable);

    s->state = EXPIRING;
    coil_task_cancel(s->task, "deadline");
}

/* A deadline that has passed goes to the ready queue at once, not through the heap. */
static int arm(struct scope *s, int64_t deadline)
{
    coil_loop *loop = s->task->future.loop;
    int64_t now = coil__loop_now(loop);
    int rc = 0;

    coil__timer_stop(loop, &s->timer);
    if (deadline > now && deadline != COIL_NEVER)
        rc = coil__timer_start(loop, &s->timer, deadline);
    if (rc < 0)
        deadline =
            s->deadline; /* as it was: none, or due, for one in the heap has room */
    if (deadline <= now)
        coil__loop_add_ready(loop, &s->timer.runnable);
    s->deadline = deadline;
    return rc;
}

int coil_scope_enter(coil_scope *scope, int64_t deadline)
{
    struct scope *s = inside(scope);
    int rc;

    s->task = coil__task_require("coil_scope_enter");
    s->cancelling = s->task->cancelling;
    s->state = ENTERED;
    s->deadline = COIL_NEVER;
    coil__timer_init(&s->timer, expire);
    rc = arm(s, deadline);
    if (rc == 0)
        coil__region_enter(s->task, &s->region, "scope");
    return rc;
}

int coil_scope_exit(coil_scope *scope, int rc)
{
    struct scope *s = inside(scope);
    coil_task *task = coil__task_require("coil_scope_exit");

    coil__region_exit(task, &s->region, "coil_scope_exit");
    coil__timer_stop(task->future.loop, &s->timer);
    if (s->state == ENTERED) {
        s->state = EXITED;
        return rc;
    }
    s->state = EXPIRED;
    if (coil__task_uncancel(task) > s->cancelling)
        return rc; /* somebody else wants the task to end, too */
    task->delivered = false;
    return rc == -ECANCELED ? -ETIMEDOUT : rc;
}

int coil_scope_set_deadline(coil_scope *scope, int64_t deadline)
{
    struct scope *s = inside(scope);

    return s->state == ENTERED ? arm(s, deadline) : -EINVAL;
}

int64_t coil_scope_deadline(const coil_scope *scope)
{
    return inside(scope)->deadline;
}

bool coil_scope_expired(const coil_scope *scope)
{
    return inside(scope)->state == EXPIRING || inside(scope)->state == EXPIRED;
}
