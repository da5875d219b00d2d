/*
 * scope.c - deadlines as regions of code.
 *
 *   ENTERED --- deadline ---> EXPIRING --- exit ---> EXPIRED
 *      +-------- exit --------------------------> EXITED
 *
 * A scope that expires cancels its task like anybody else; at exit it takes that request
 * back, and if as many requests are left as there were at entry, the cancellation was its
 * own, and becomes -ETIMEDOUT. (asyncio: timeouts.py) What a shielded scope adds stands
 * in region.c.
 */
#include "task.h"

enum state { ENTERED, EXPIRING, EXPIRED, EXITED };

struct scope {
    struct coil__region region;
    struct coil__timer timer;
    coil_task *task;
    int64_t deadline;
    unsigned requests; /* the task's at entry */
    bool delivered;    /* likewise: one of them stands */
    bool shielded;
    enum state state;
    struct coil__shield shield;
};

_Static_assert(sizeof(struct scope) <= sizeof(coil_scope), "coil_scope is too small");

static struct scope *inside(const coil_scope *scope)
{
    return (struct scope *)scope;
}

static void expire(struct coil__runnable *runnable)
{
    struct scope *s = COIL__CONTAINER(runnable, struct scope, timer.runnable);

    coil_cancel_origin origin = coil__cancel_origin_here("deadline", s->region.address);

    s->state = EXPIRING;
    coil__task_cancel(s->task, &origin, s->region.depth);
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

static int enter(struct scope *s, int64_t deadline, const char *caller,
                 const void *address)
{
    int rc;

    s->task = coil__task_require(caller);
    s->state = ENTERED;
    s->shielded = false;
    s->deadline = COIL_NEVER;
    coil__timer_init(&s->timer, expire);
    rc = arm(s, deadline);
    if (rc == 0)
        coil__region_enter(s->task, &s->region, "scope", address);
    return rc;
}

int coil__scope_enter(coil_scope *scope, int64_t deadline, const void *address)
{
    struct scope *s = inside(scope);
    int rc = enter(s, deadline, "coil_scope_enter", address);

    s->requests = coil__task_requests(s->task);
    s->delivered = s->task->delivered;
    return rc;
}

COIL__NOINLINE int coil_scope_enter(coil_scope *scope, int64_t deadline)
{
    return coil__scope_enter(scope, deadline, COIL__CALLER());
}

COIL__NOINLINE int coil_scope_enter_shielded(coil_scope *scope, int64_t deadline)
{
    struct scope *s = inside(scope);
    int rc = enter(s, deadline, "coil_scope_enter_shielded", COIL__CALLER());

    if (rc < 0)
        return rc;
    coil__shield_enter(s->task, &s->shield, &s->region);
    s->shielded = true;
    s->requests = 0;
    s->delivered = false;
    return 0;
}

/* Whose cancellation is it? If its own alone, the task has been told, and works on. */
static int settle(struct scope *s, int rc)
{
    if (s->state == ENTERED) {
        s->state = EXITED;
        return rc;
    }
    s->state = EXPIRED;
    if (coil__task_uncancel(s->task) > s->requests || s->delivered)
        return rc; /* somebody else wants the task to end, too */
    s->task->delivered = false;
    return rc == -ECANCELED ? -ETIMEDOUT : rc;
}

int coil_scope_exit(coil_scope *scope, int rc)
{
    struct scope *s = inside(scope);
    coil_task *task = coil__task_require("coil_scope_exit");

    coil__region_exit(task, &s->region, "coil_scope_exit");
    coil__timer_stop(task->future.loop, &s->timer);
    rc = settle(s, rc);
    if (s->shielded)
        coil__shield_exit(task, &s->shield);
    return rc;
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
