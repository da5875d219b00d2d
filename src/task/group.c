/*
 * group.c - groups of tasks: the owner leaves a group only after all its tasks have
 * ended.
 *
 * The group adds a done callback to each child, before any other callbacks. The callback
 * runs one trip through the ready queue after the child has ended. If that child was the
 * last one and the owner is waiting in the exit, the callback wakes the owner, which
 * continues after a second trip. The first failure of a child aborts the group: all
 * children are cancelled, in the order in which they were spawned, and then the owner.
 * The exit takes back the group's request to cancel the owner. If a request remains,
 * another caller has cancelled the owner too. In that case the exit returns -ECANCELED if
 * no child failed; otherwise it returns the failure, and the owner's next wait delivers
 * the cancellation. coil_group_cancel() aborts the group without a failure. (asyncio:
 * taskgroups.py; gh-155433 for a cancellation by another caller after TaskGroup.cancel())
 *
 * A task that starts a child with coil_group_start() waits until the child calls
 * coil_group_started() or ends. If the child fails before it calls that function, only
 * the waiting task gets the failure, not the group. (trio: Nursery.start)
 *
 * Invariants
 * 1. A child is in `children` until its callback has run. After that, the child is in
 *    `kept` if the spawner received a pointer to it (out != NULL). While the child is in
 *    one of these lists, the group has a reference to it.
 * 2. The group requests the cancellation of its owner at most once, and takes that
 *    request back in the exit.
 */
#include "failure.h"
#include "task.h"
#include "step.h"

#include "../coro/outside.h"

#include <limits.h>
#include <string.h>

#define MARK ((uintptr_t)UINT64_C(0x7d1c5e94b3a86f21))

struct group {
    struct coil__region region;
    uintptr_t mark; /* mark_of(this group), unless it was never entered or is a copy */
    union {
        coil_task *owner;
        struct group *on_heap; /* the group on the heap, if `mark` is mark_on_heap() */
    };
    struct coil__list children, kept;
    struct leaving *waiting;     /* the owner's wait in the exit, or NULL */
    struct coil__list startings; /* tasks in coil_group_start() */
    /* tasks in coil_group_spawn_when_free(), first come, first served */
    struct coil__list entrants;
    size_t child_count; /* children and admitted entrants */
    size_t limit;       /* maximum of child_count; 0: no limit */
    unsigned error_count;
    bool exiting, aborting, owner_cancelled;
    bool cancelled_late; /* the owner was cancelled in the exit, after the abort */
    int errors[COIL_GROUP_ERRORS];
    coil_error *error; /* error of the first child that failed, or NULL */
};

struct leaving {
    struct coil__wait wait;
    struct group *group;
};

/* A task in coil_group_spawn_when_free(). */
struct entrant {
    struct coil__wait wait;
    struct coil__list link; /* in group.entrants until the task is admitted */
    struct group *group;
    bool admitted;
};

/* A task in coil_group_start(). */
struct starting {
    struct coil__wait wait;
    struct coil__branch branch;
    struct coil__list link; /* in group.startings until the wait is complete */
    coil_task *child;
};

_Static_assert(sizeof(struct group) <= sizeof(coil_group), "coil_group is too small");

COIL__OUTSIDE(COIL__OUTSIDE_AT(COIL__AT_GROUP_REGION, struct group, region),
              COIL__OUTSIDE_AT(COIL__AT_GROUP_CHILDREN, struct group, children));

static struct group *group_inside(const coil_group *group)
{
    return (struct group *)group;
}

static uintptr_t mark_of(const struct group *g)
{
    return (uintptr_t)g ^ MARK;
}

/*
 * Return the mark of a coil_group that contains only a pointer to the real group on the
 * heap: see place_group().
 */
static uintptr_t mark_on_heap(const struct group *g)
{
    return mark_of(g) + 1;
}

/* For public functions: abort if the group was never entered. */
static struct group *require_group(const coil_group *group, const char *caller)
{
    struct group *g = group_inside(group);

    if (COIL__LIKELY(g->mark == mark_of(g)))
        return g;
    if (g->mark != mark_on_heap(g))
        coil__misuse("%s: the group was never given to coil_group_enter(), or is a copy",
                     caller);
    return g->on_heap;
}

/*
 * Return memory for a group: the caller's memory, or heap memory if misuse is contained
 * (contain.c). If the heap is exhausted, use the caller's memory: in that case, leaving
 * the group open aborts the program.
 */
static struct group *place_group(coil_group *group, const coil_task *task)
{
    struct group *near = group_inside(group);
    struct group *on_heap = task->contained ? coil__alloc(sizeof *on_heap) : NULL;

    if (COIL__LIKELY(on_heap == NULL))
        return near;
    near->mark = mark_on_heap(near);
    near->on_heap = on_heap;
    return on_heap;
}

/*
 * Copy a closed group to the caller's memory, because the caller may still read its
 * errors.
 */
static void copy_back(coil_group *group, struct group *g)
{
    struct group *near = group_inside(group);

    if (COIL__LIKELY(g == near))
        return;
    *near = *g;
    near->mark = mark_of(near);
    coil__list_init(&near->children);
    coil__list_init(&near->entrants);
    coil__free(g);
}

COIL__NOINLINE void coil_group_enter(coil_group *group)
{
    COIL__REQUIRE(group, "a group");
    coil_task *owner = coil__task_require("coil_group_enter");
    struct group *g = place_group(group, owner);

    *g = (struct group){.mark = mark_of(g), .owner = owner};
    coil__list_init(&g->children);
    coil__list_init(&g->kept);
    coil__list_init(&g->startings);
    coil__list_init(&g->entrants);
    coil__region_enter(owner, &g->region, COIL__GROUP, COIL__CALLER());
    g->region.on_heap = g != group_inside(group);
}

coil_task *coil__group_owner(const coil_future *future)
{
    const coil_task *child = COIL__CONTAINER(future, const coil_task, future);

    return future->is_task && child->group != NULL ? group_inside(child->group)->owner
                                                   : NULL;
}

coil_task *coil__group_next_child(const struct coil__region *region,
                                  const coil_task *child)
{
    const struct group *g = COIL__CONTAINER(region, const struct group, region);
    struct coil__list *next;

    if (region->kind != COIL__GROUP)
        return NULL;
    next = child != NULL ? child->group_link.next : g->children.next;
    return next != &g->children ? COIL__CONTAINER(next, coil_task, group_link) : NULL;
}

/*
 * True if the owner has left the group and no children remain. After that the owner may
 * be freed.
 */
static bool has_ended(const struct group *g)
{
    return g->exiting && coil__list_empty(&g->children);
}

static void add_error(struct group *g, int rc)
{
    if (g->error_count < COIL_GROUP_ERRORS)
        g->errors[g->error_count] = rc;
    g->error_count++;
}

/* ---- the limit --------------------------------------------------------------------- */

static bool is_group_full(const struct group *g)
{
    return g->limit > 0 && g->child_count >= g->limit;
}

/*
 * Admit waiting tasks until the group is full. An admitted task counts as a child, so no
 * later caller can take its place.
 */
static void reserve_place(struct group *g)
{
    while (!is_group_full(g) && !coil__list_empty(&g->entrants)) {
        struct entrant *entrant =
            COIL__CONTAINER(coil__list_pop(&g->entrants), struct entrant, link);

        entrant->admitted = coil__wait_complete(&entrant->wait, 0);
        g->child_count += entrant->admitted;
    }
}

static void give_place_back(struct group *g)
{
    g->child_count--;
    reserve_place(g);
}

static void refuse_entrants(struct group *g)
{
    struct coil__list *link;

    while ((link = coil__list_pop(&g->entrants)) != NULL)
        coil__wait_complete(&COIL__CONTAINER(link, struct entrant, link)->wait,
                            -ESHUTDOWN);
}

/*
 * Abort if the caller is not on the thread of the group's owner. The owner exists until
 * it has left the group.
 */
static void check_group_thread(const struct group *g, const char *caller)
{
    coil__future_check_thread(&g->owner->future, caller);
}

void coil_group_set_limit(coil_group *group, size_t limit)
{
    COIL__REQUIRE(group, "a group");
    struct group *g = require_group(group, "coil_group_set_limit");

    if (!g->exiting)
        check_group_thread(g, "coil_group_set_limit");
    g->limit = limit;
    reserve_place(g);
}

/*
 * Suspend until the group has a free place, and reserve it for the running task. Returns
 * 0 or a negative errno.
 */
static int wait_for_place(struct group *g)
{
    static const struct coil__wait_class class = {
        .what = "group.spawn", .object = COIL__WAIT_AT(struct entrant, group)};
    struct entrant entrant = {.group = g};
    int rc;

    check_group_thread(g, "coil_group_spawn_when_free");
    coil__wait_init(&entrant.wait, &class);
    coil__list_push(&g->entrants, &entrant.link);
    rc = coil__wait_park(&entrant.wait);
    coil__list_remove(&entrant.link);
    if (rc < 0 && entrant.admitted)
        give_place_back(g);
    return rc;
}

/* ---- cancelling -------------------------------------------------------------------- */

static void cancel_children(struct group *g, const struct coil__cancel_origin *origin)
{
    g->aborting = true;
    refuse_entrants(g);
    COIL__LIST_EACH (link, &g->children)
        coil__task_cancel(COIL__CONTAINER(link, coil_task, group_link), origin, 0);
}

/*
 * Abort the group: cancel its children and its owner. Does nothing if the group was
 * aborted before: its owner was cancelled then, or was already in the exit.
 */
static void cancel_group(struct group *g, const struct coil__cancel_origin *origin)
{
    if (g->aborting)
        return;
    cancel_children(g, origin);
    g->owner_cancelled = true;
    coil__task_cancel(g->owner, origin, g->region.depth);
}

COIL__NOINLINE void coil_group_cancel(coil_group *group, const char *reason)
{
    COIL__REQUIRE(group, "a group");
    struct coil__cancel_origin origin = coil__cancel_origin_here(reason, COIL__CALLER());
    struct group *g = require_group(group, "coil_group_cancel");

    if (has_ended(g))
        return;
    if (!g->owner_cancelled)
        check_group_thread(g, "coil_group_cancel");
    cancel_group(g, &origin);
}

/* ---- children ---------------------------------------------------------------------- */

static void child_failed(struct group *g, const coil_task *child, int rc)
{
    struct coil__cancel_origin origin = {.reason = "a task of its group failed",
                                         .address = g->region.address};

    if (g->error_count == 0 && child->future.error != NULL)
        g->error = coil_error_retain(child->future.error);
    add_error(g, rc);
    origin.task = &child->name;
    cancel_group(g, &origin);
}

/*
 * Remove and return the wait of the task that is starting the child with
 * coil_group_start(), or return NULL.
 */
static struct coil__wait *take_starter(struct group *g, coil_task *child)
{
    if (COIL__LIKELY(!child->starting))
        return NULL;
    child->starting = false;
    COIL__LIST_EACH (link, &g->startings) {
        struct starting *s = COIL__CONTAINER(link, struct starting, link);

        if (s->child != child)
            continue;
        coil__list_remove(link);
        return &s->wait;
    }
    return NULL;
}

static void child_done(struct coil__runnable *runnable)
{
    coil_task *child = COIL__CONTAINER(runnable, coil_task, step);
    struct group *g = group_inside(child->group);
    struct coil__wait *starter = take_starter(g, child);
    int rc = coil__future_retrieve(&child->future);

    coil__list_remove(&child->group_link);
    give_place_back(g);
    if (g->waiting != NULL && coil__list_empty(&g->children))
        coil__wait_complete(&g->waiting->wait, 0);
    if (starter != NULL)
        coil__wait_complete(starter, rc < 0 ? rc : -ECHILD);
    else if (rc < 0 && rc != -ECANCELED)
        child_failed(g, child, rc);
    if (starter == NULL && child->borrowed)
        coil__list_push(&g->kept, &child->group_link);
    else
        coil__future_release(&child->future);
}

/*
 * Make the child's step the group's callback. If the child ends during its eager start,
 * it is not in `children` yet. In that case join_late() makes the step ready.
 */
void coil__group_child_ends(coil_task *child)
{
    struct coil__list *callbacks = &child->future.callbacks, *behind = callbacks->next;

    child->step.run = child_done;
    if (coil__list_empty(&child->group_link))
        return;
    for (unsigned n = child->earlier_callbacks; n > 0 && behind != callbacks; n--)
        behind = behind->next;
    coil__list_push(behind, &child->step.link); /* inserts before `behind` */
}

/* Create a child, spawned by the code at `address`, without starting it. */
static int create_child(struct group *g, coil_task_fn fn, void *arg,
                        const coil_spawn_opts *opts, const void *address,
                        const char *caller, coil_task **out)
{
    coil_task *child;
    int rc;

    if (has_ended(g))
        return coil__failed(-ESHUTDOWN);
    coil__loop_check_thread(g->owner->future.loop, caller);
    if (g->aborting)
        return coil__failed(-ESHUTDOWN);
    if (is_group_full(g))
        return -EAGAIN;
    rc = coil__task_create(fn, arg, opts, &child);
    if (rc < 0)
        return rc;
    child->spawned_at = address;
    child->group = (coil_group *)g;
    coil__future_retain(&child->future);
    coil__list_init(&child->group_link);
    *out = child;
    return 0;
}

/*
 * Called after the first run of an eager child. If the child has ended, make its step,
 * the group's callback, ready. Otherwise count the callbacks that were added before the
 * group's.
 */
static void join_late(coil_task *child)
{
    if (!coil__future_pending(&child->future))
        coil__loop_add_ready(child->future.loop, &child->step);
    else
        COIL__LIST_EACH (link, &child->future.callbacks)
            child->earlier_callbacks += child->earlier_callbacks < UCHAR_MAX;
}

/*
 * An eager child runs for the first time before it is added to `children`. If the child
 * cancels the group during that run, the child itself is cancelled only after the run. If
 * the child ends during that run, the group's callback still runs in the loop's next
 * iteration, as for any child, and the owner continues until then. (asyncio: create_task,
 * since 3.13.2 and, for the cancellation, gh-155418)
 */
static void start_child(struct group *g, coil_task *child, const coil_spawn_opts *opts)
{
    g->child_count++;
    coil__task_start(child, opts != NULL && opts->eager);
    coil__list_push(&g->children, &child->group_link);
    if (COIL__UNLIKELY(opts != NULL && opts->eager))
        join_late(child);
    if (COIL__UNLIKELY(g->aborting)) {
        struct coil__cancel_origin origin =
            coil__cancel_origin_here("its group was cancelled", g->region.address);

        coil__task_cancel(child, &origin, 0);
    }
}

static int spawn_child(struct group *g, coil_task_fn fn, void *arg,
                       const coil_spawn_opts *opts, const void *address,
                       const char *caller, coil_task **out)
{
    coil_task *child;
    int rc = create_child(g, fn, arg, opts, address, caller, &child);

    if (rc < 0) {
        if (out != NULL)
            *out = NULL;
        return rc;
    }
    child->borrowed = out != NULL;
    if (out != NULL)
        *out = child;
    start_child(g, child, opts);
    return 0;
}

COIL__NOINLINE int coil_group_spawn(coil_group *group, coil_task_fn fn, void *arg,
                                    const coil_spawn_opts *opts, coil_task **out)
{
    COIL__REQUIRE(group, "a group");
    COIL__REQUIRE(fn, "a function");
    return spawn_child(require_group(group, "coil_group_spawn"), fn, arg, opts,
                       COIL__CALLER(), "coil_group_spawn", out);
}

COIL__NOINLINE int coil_group_spawn_when_free(coil_group *group, coil_task_fn fn,
                                              void *arg, const coil_spawn_opts *opts,
                                              coil_task **out)
{
    COIL__REQUIRE(group, "a group");
    COIL__REQUIRE(fn, "a function");
    struct group *g = require_group(group, "coil_group_spawn_when_free");
    int rc;

    if (out != NULL)
        *out = NULL;
    coil__task_require("coil_group_spawn_when_free");
    while (!g->aborting && is_group_full(g)) {
        rc = wait_for_place(g);
        if (rc < 0)
            return rc;
        g->child_count--; /* give up the reserved place, for spawn_child() to take */
    }
    rc = spawn_child(g, fn, arg, opts, COIL__CALLER(), "coil_group_spawn_when_free", out);
    if (rc < 0)
        reserve_place(g);
    return rc;
}

/* ---- starting ---------------------------------------------------------------------- */

/*
 * Called when a task in coil_group_start() is cancelled: cancel the child. The task's
 * wait ends when the child ends.
 */
static bool cancel_starting(struct coil__wait *wait)
{
    struct starting *s = COIL__CONTAINER(wait, struct starting, wait);

    coil__wait_branch(wait, &s->branch);
    return true;
}

COIL__NOINLINE int coil_group_start(coil_group *group, coil_task_fn fn, void *arg,
                                    const coil_spawn_opts *opts, coil_task **out)
{
    COIL__REQUIRE(group, "a group");
    COIL__REQUIRE(fn, "a function");
    static const struct coil__wait_class class = {
        .what = "group.start",
        .cancel = cancel_starting,
        .futures = {.kind = COIL__WAIT_ONE,
                    .first = COIL__WAIT_AT(struct starting, child),
                    .future = offsetof(coil_task, future)}};
    struct group *g = require_group(group, "coil_group_start");
    struct starting s = {.child = NULL};
    coil_task *child;
    int rc;

    if (out != NULL)
        *out = NULL;
    if (coil__task_refuses(coil__task_require("coil_group_start")))
        return -ECANCELED;
    rc = create_child(g, fn, arg, opts, COIL__CALLER(), "coil_group_start", &child);
    if (rc < 0)
        return rc;
    coil__wait_init(&s.wait, &class);
    s.wait.keeps_result = true;
    s.child = child;
    child->starting = true;
    coil__list_push(&g->startings, &s.link);
    child->borrowed = out != NULL;
    coil_task_retain(child);
    start_child(g, child, opts);
    rc = coil__wait_park(&s.wait);
    if (rc < 0)
        coil__failure_hand_on(&child->future, rc, COIL__CALLER());
    else if (out != NULL)
        *out = child;
    coil_task_release(child);
    return rc;
}

int coil_group_started(int value)
{
    coil_task *task = coil__task_require("coil_group_started");

    if (value < 0)
        return coil__failed(-EINVAL);
    if (task->ready)
        return coil__failed(-EALREADY);
    if (!task->starting)
        return 0;
    coil__wait_complete(take_starter(group_inside(task->group), task), value);
    task->ready = true;
    return 0;
}

/* ---- the exit ---------------------------------------------------------------------- */

static void cancel_children_for(struct group *g, const char *reason)
{
    struct coil__cancel_origin origin =
        coil__cancel_origin_here(reason, g->region.address);

    cancel_children(g, &origin);
}

static const struct coil__wait_class exit_class = {
    .what = "group",
    .object = COIL__WAIT_AT(struct leaving, group),
    .futures = {.kind = COIL__WAIT_CHILDREN,
                .first = COIL__WAIT_AT(struct leaving, group)}};

const struct coil__region *coil__group_waited(const struct coil__wait *wait)
{
    if (wait->class != &exit_class)
        return NULL;
    return &COIL__CONTAINER(wait, const struct leaving, wait)->group->region;
}

/*
 * Wait until all children have ended, even if the owner is cancelled. Returns true if the
 * owner was cancelled before the group was aborted.
 */
static bool wait_for_children(struct group *g)
{
    bool cancelled = false;

    while (!coil__list_empty(&g->children)) {
        struct leaving leaving = {.group = g};

        coil__wait_init(&leaving.wait, &exit_class);
        g->waiting = &leaving;
        if (coil__wait_park(&leaving.wait) == -ECANCELED) {
            g->owner->delivered = false;
            if (g->aborting) {
                g->cancelled_late = true;
            } else {
                cancelled = true;
                cancel_children_for(g, "the owner of its group was cancelled");
            }
        }
        g->waiting = NULL;
    }
    return cancelled;
}

static void release_kept(struct group *g)
{
    struct coil__list *link;

    while ((link = coil__list_pop(&g->kept)) != NULL)
        coil__future_release(&COIL__CONTAINER(link, coil_task, group_link)->future);
}

/*
 * Return the result of the exit. Not called if the owner was cancelled and no child has
 * failed: in that case end_group() returns -ECANCELED. If a child has failed and another
 * caller has cancelled the owner, return the failure, and make the owner's next wait
 * deliver the cancellation.
 */
static int exit_result(struct group *g, int rc)
{
    coil_task *owner = g->owner;

    if (rc < 0 && rc != -ECANCELED)
        add_error(g, rc);
    if (g->error_count == 0)
        return rc < 0 ? 0 : rc; /* the group was cancelled by coil_group_cancel() */
    if (coil__task_requests(owner) > 0)
        owner->must_cancel = true;
    return g->errors[0];
}

/*
 * End the group, whose region is already closed: wait for the children, after cancelling
 * them if rc is an error. Returns the result of the exit.
 */
static int end_group(struct group *g, int rc, const void *from)
{
    coil_task *owner = g->owner;
    bool delivered = owner->delivered, cancelled = rc == -ECANCELED;

    g->exiting = true;
    owner->delivered = false;
    if (rc < 0 && !g->aborting)
        cancel_children_for(g, "its group was left with an error");
    if (wait_for_children(g))
        delivered = cancelled = true;
    release_kept(g);
    if (g->owner_cancelled && coil__task_uncancel(owner) == 0)
        cancelled = delivered = false;
    else if (g->cancelled_late && (cancelled || g->owner_cancelled))
        cancelled = delivered = true; /* another caller has cancelled the owner */
    if (cancelled && g->error_count == 0) {
        owner->delivered = delivered;
        return -ECANCELED;
    }
    if (g->error_count > 0) { /* pass the first child's error on to the owner */
        coil__failure_hand_on_error(g->error, g->errors[0], from);
        coil_error_release(g->error);
    } else if (rc >= 0) {
        owner->delivered = delivered; /* the owner ignored the cancellation */
    }
    return exit_result(g, rc);
}

COIL__NOINLINE int coil_group_exit(coil_group *group, int rc)
{
    COIL__REQUIRE(group, "a group");
    struct group *g = require_group(group, "coil_group_exit");

    coil__region_exit(coil__task_require("coil_group_exit"), &g->region,
                      "coil_group_exit");
    rc = end_group(g, rc, COIL__CALLER());
    copy_back(group, g);
    return rc;
}

/*
 * End the group for a caller that gets no result: report a child's failure to the
 * exception handler.
 */
static void leave_group(struct group *g, const void *from)
{
    int rc = end_group(g, -ECANCELED, from);

    if (g->error_count > 0)
        coil__failure_report("A group was left early, and a task of it had failed",
                             g->owner, rc);
}

COIL__NOINLINE void coil_group_leave(coil_group *group)
{
    COIL__REQUIRE(group, "a group");
    struct group *g = require_group(group, "coil_group_leave");

    if (g->exiting)
        return;
    coil__region_exit(coil__task_require("coil_group_leave"), &g->region,
                      "coil_group_leave");
    leave_group(g, COIL__CALLER());
    copy_back(group, g);
}

void coil__group_abandon(struct coil__region *region)
{
    struct group *g = COIL__CONTAINER(region, struct group, region);

    leave_group(g, region->address);
    coil__free(g);
}

size_t coil_group_error_count(const coil_group *group)
{
    COIL__REQUIRE(group, "a group");
    return require_group(group, "coil_group_error_count")->error_count;
}

int coil_group_error(const coil_group *group, size_t i)
{
    COIL__REQUIRE(group, "a group");
    const struct group *g = require_group(group, "coil_group_error");

    return i < g->error_count && i < COIL_GROUP_ERRORS ? g->errors[i] : 0;
}
