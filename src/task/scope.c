/*
 * scope.c - scopes: regions of code with a deadline.
 *
 *   ENTERED --- deadline ---> EXPIRING --- exit ---> EXPIRED
 *      +-------- exit --------------------------> EXITED
 *
 * When its deadline passes, a scope requests the cancellation of its task. The scope's
 * exit takes that request back. If the task then has as many requests as at entry, only
 * the scope cancelled it, and the result is -ETIMEDOUT. (asyncio: timeouts.py) The
 * shields of shielded scopes are in region.c.
 *
 * A scope is usually stored in the caller's memory. If misuse is contained (contain.c),
 * the scope is stored on the heap instead (`on_heap`), and the caller's memory contains a
 * pointer to it. So the scope can be closed even after the function that forgot to close
 * it has returned. The exit copies the scope back to the caller's memory.
 */
#include "task.h"

#define MARK ((uintptr_t)UINT64_C(0x58e3a1d96c7f02b4))

enum state { ENTERED, EXPIRING, EXPIRED, EXITED };

struct scope {
    struct coil__region region;
    uintptr_t mark; /* mark_of(this scope), unless it was never entered or is a copy */
    struct coil__timer timer;
    union {
        coil_task *task;
        /* the scope on the heap, if `mark` is mark_on_heap() */
        struct scope *on_heap;
    };
    int64_t deadline;
    unsigned requests; /* number of the task's requests at entry */
    bool delivered;    /* the task's `delivered` at entry */
    bool must_cancel;  /* the task's `must_cancel` at entry */
    bool shielded;
    bool has_room; /* space for the timer is reserved: a deadline was set */
    enum state state;
    struct coil__shield shield;
};

_Static_assert(sizeof(struct scope) <= sizeof(coil_scope), "coil_scope is too small");

static struct scope *scope_inside(const coil_scope *scope)
{
    return (struct scope *)scope;
}

static uintptr_t mark_of(const struct scope *s)
{
    return (uintptr_t)s ^ MARK;
}

/*
 * Return the mark of a coil_scope that contains only a pointer to the real scope on the
 * heap.
 */
static uintptr_t mark_on_heap(const struct scope *s)
{
    return mark_of(s) + 1;
}

/* Return the scope, or NULL if the memory was never given to coil_scope_enter(). */
static struct scope *find_scope(const coil_scope *scope)
{
    struct scope *s = scope_inside(scope);

    if (COIL__LIKELY(s->mark == mark_of(s)))
        return s;
    return s->mark == mark_on_heap(s) ? s->on_heap : NULL;
}

/* For public functions: abort if the scope was never entered. */
static struct scope *require_scope(const coil_scope *scope, const char *caller)
{
    struct scope *s = find_scope(scope);

    if (COIL__UNLIKELY(s == NULL))
        coil__misuse("%s: the scope was never given to coil_scope_enter(), or is a copy",
                     caller);
    return s;
}

/*
 * Return memory for a scope: the caller's memory, or heap memory if misuse is contained.
 * If the heap is exhausted, return NULL, but use the caller's memory for a scope without
 * a deadline, so that entering it never fails.
 */
static struct scope *place_scope(coil_scope *scope, const coil_task *task,
                                 int64_t deadline)
{
    struct scope *near = scope_inside(scope), *on_heap;

    near->mark = mark_of(near);
    near->state = EXITED;
    if (COIL__LIKELY(!task->contained))
        return near;
    on_heap = coil__alloc(sizeof *on_heap);
    if (on_heap == NULL)
        return deadline == COIL_NEVER ? near : NULL;
    near->mark = mark_on_heap(near);
    near->on_heap = on_heap;
    return on_heap;
}

/* Copy a closed scope to the caller's memory, because coil_scope_expired() may still
   be called. */
static void copy_back(coil_scope *scope, struct scope *s)
{
    struct scope *near = scope_inside(scope);

    if (COIL__LIKELY(s == near))
        return;
    *near = *s;
    near->mark = mark_of(near);
    coil__free(s);
}

static void expire_scope(struct coil__runnable *runnable)
{
    struct scope *s = COIL__CONTAINER(runnable, struct scope, timer.runnable);

    struct coil__cancel_origin origin =
        coil__cancel_origin_here("deadline", s->region.address);

    s->state = EXPIRING;
    coil__task_cancel(s->task, &origin, s->region.depth);
}

/*
 * Start the timer. If the deadline has already passed, add the timer directly to the
 * ready queue.
 */
static int arm_timer(struct scope *s, int64_t deadline)
{
    coil_loop *loop = s->task->future.loop;
    int64_t now = coil__loop_now(loop);
    int rc;

    if (!s->has_room && deadline != COIL_NEVER) {
        rc = coil__timer_reserve(&loop->timers);
        if (rc < 0)
            return rc;
        s->has_room = true;
    }
    coil__timer_stop(loop, &s->timer);
    if (deadline <= now)
        coil__loop_add_ready(loop, &s->timer.runnable);
    else if (deadline != COIL_NEVER)
        coil__timer_start_reserved(loop, &s->timer, deadline);
    s->deadline = deadline;
    return 0;
}

static int enter_scope(coil_scope *scope, int64_t deadline, const char *caller,
                       const void *address)
{
    coil_task *task = coil__task_require(caller);
    struct scope *s = place_scope(scope, task, deadline);
    int rc;

    if (COIL__UNLIKELY(s == NULL))
        return coil__failed(-ENOMEM);
    s->task = task;
    s->mark = mark_of(s);
    s->state = ENTERED;
    s->shielded = s->has_room = false;
    s->deadline = COIL_NEVER;
    coil__timer_init(&s->timer, expire_scope);
    rc = arm_timer(s, deadline);
    if (COIL__UNLIKELY(rc < 0)) {
        s->state = EXITED;
        copy_back(scope, s);
        return rc;
    }
    coil__region_enter(task, &s->region, COIL__SCOPE, address);
    s->region.on_heap = s != scope_inside(scope);
    return 0;
}

bool coil__scope_has_deadline(const struct coil__region *region)
{
    return region->kind == COIL__SCOPE &&
           COIL__CONTAINER(region, const struct scope, region)->has_room;
}

int coil__scope_enter(coil_scope *scope, int64_t deadline, const void *address)
{
    int rc = enter_scope(scope, deadline, "coil_scope_enter", address);
    struct scope *s;

    if (rc < 0)
        return rc;
    s = find_scope(scope);
    s->requests = coil__task_requests(s->task);
    s->delivered = s->task->delivered;
    s->must_cancel = s->task->must_cancel;
    return 0;
}

COIL__NOINLINE int coil_scope_enter(coil_scope *scope, int64_t deadline)
{
    COIL__REQUIRE(scope, "a scope");
    return coil__scope_enter(scope, deadline, COIL__CALLER());
}

COIL__NOINLINE int coil_scope_enter_shielded(coil_scope *scope, int64_t deadline)
{
    COIL__REQUIRE(scope, "a scope");
    int rc = enter_scope(scope, deadline, "coil_scope_enter_shielded", COIL__CALLER());
    struct scope *s;

    if (rc < 0)
        return rc;
    s = find_scope(scope);
    coil__shield_enter(s->task, &s->shield, &s->region);
    s->shielded = true;
    s->requests = 0;
    s->delivered = s->must_cancel = false;
    return 0;
}

/*
 * Return the result of the exit: rc, or -ETIMEDOUT if only the scope cancelled the task.
 */
static int settle_scope(struct scope *s, int rc)
{
    if (s->state == ENTERED) {
        s->state = EXITED;
        return rc;
    }
    s->state = EXPIRED;
    if (coil__task_uncancel(s->task) > s->requests || s->delivered)
        return rc; /* another caller has cancelled the task */
    s->task->delivered = false;
    s->task->must_cancel &= s->must_cancel; /* drop the scope's undelivered request */
    return rc == -ECANCELED ? coil__failed(-ETIMEDOUT) : rc;
}

/* End the scope, whose region is already closed. Returns the result of the exit. */
static int end_scope(struct scope *s, int rc)
{
    coil_task *task = s->task;

    coil__timer_stop(task->future.loop, &s->timer);
    if (s->has_room)
        coil__timer_unreserve(&task->future.loop->timers);
    rc = settle_scope(s, rc);
    if (s->shielded)
        coil__shield_exit(task, &s->shield);
    return rc;
}

static int exit_scope(coil_scope *scope, struct scope *s, int rc, const char *caller)
{
    coil__region_exit(coil__task_require(caller), &s->region, caller);
    rc = end_scope(s, rc);
    copy_back(scope, s);
    return rc;
}

int coil_scope_exit(coil_scope *scope, int rc)
{
    COIL__REQUIRE(scope, "a scope");
    return exit_scope(scope, require_scope(scope, "coil_scope_exit"), rc,
                      "coil_scope_exit");
}

void coil_scope_leave(coil_scope *scope)
{
    COIL__REQUIRE(scope, "a scope");
    struct scope *s = require_scope(scope, "coil_scope_leave");

    if (s->state == ENTERED || s->state == EXPIRING)
        exit_scope(scope, s, 0, "coil_scope_leave");
}

void coil__scope_abandon(struct coil__region *region)
{
    struct scope *s = COIL__CONTAINER(region, struct scope, region);

    end_scope(s, 0);
    coil__free(s);
}

ssize_t coil_scope_exit_count(coil_scope *scope, ssize_t count)
{
    COIL__REQUIRE(scope, "a scope");
    int rc = coil_scope_exit(scope, count < 0 ? (int)count : 0);

    return rc < 0 ? rc : count;
}

int coil_scope_set_deadline(coil_scope *scope, int64_t deadline)
{
    COIL__REQUIRE(scope, "a scope");
    struct scope *s = require_scope(scope, "coil_scope_set_deadline");

    if (s->state == ENTERED) {
        coil__future_check_thread(&s->task->future, "coil_scope_set_deadline");
        return arm_timer(s, deadline);
    }
    return coil__failed(s->state == EXITED ? -EINVAL : -ETIMEDOUT);
}

int64_t coil_scope_deadline(const coil_scope *scope)
{
    COIL__REQUIRE(scope, "a scope");
    return require_scope(scope, "coil_scope_deadline")->deadline;
}

bool coil_scope_expired(const coil_scope *scope)
{
    COIL__REQUIRE(scope, "a scope");
    const struct scope *s = require_scope(scope, "coil_scope_expired");

    return s->state == EXPIRING || s->state == EXPIRED;
}
