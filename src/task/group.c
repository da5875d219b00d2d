/*
 * group.c - tasks that end together.
 *
 * A child's end reaches the group as the first of its done callbacks: one trip through
 * the ready queue; the last one's wakes the owner in exit: a second trip. The first
 * failure aborts: every child is cancelled, in the order of spawning, and so is the
 * owner, whose request is taken back at exit. coil_group_cancel() does the same without
 * a failure. (asyncio: taskgroups.py)
 *
 * A child that is being started (coil_group_start) reports to whoever starts it: its
 * first word, be it coil_group_started() or its end, completes that wait. Until then its
 * failure is no failure of the group. (trio: Nursery.start)
 *
 * Invariants
 * 1. A child is in `children` until its callback has run, and in `kept` after that if
 *    somebody borrowed it at spawn; the group owns a reference meanwhile.
 * 2. The owner's cancellation is requested by us at most once, and then taken back once.
 */
#include "failure.h"
#include "task.h"

#include <string.h>

struct group {
    struct coil__region region;
    coil_task *owner;
    struct coil__list children, kept;
    struct leaving *waiting; /* the owner, in exit */
    unsigned error_count;
    bool exiting, aborting, owner_cancelled;
    bool swallowed; /* a cancellation of the owner, in exit */
    int errors[COIL_GROUP_ERRORS];
    coil_error *error; /* of the first child that failed, if it had one */
};

struct leaving {
    struct coil__wait wait;
    struct group *group;
};

_Static_assert(sizeof(struct group) <= sizeof(coil_group), "coil_group is too small");

static struct group *inside(const coil_group *group)
{
    return (struct group *)group;
}

COIL__NOINLINE void coil_group_enter(coil_group *group)
{
    struct group *g = inside(group);

    *g = (struct group){.owner = coil__task_require("coil_group_enter")};
    coil__list_init(&g->children);
    coil__list_init(&g->kept);
    coil__region_enter(g->owner, &g->region, "group", COIL__CALLER());
}

coil_task *coil__group_owner(const coil_future *future)
{
    const coil_task *child = COIL__CONTAINER(future, const coil_task, future);

    return future->is_task && child->group != NULL ? inside(child->group)->owner : NULL;
}

coil_task *coil__group_next_child(const struct coil__region *region,
                                  const coil_task *child)
{
    const struct group *g = COIL__CONTAINER(region, const struct group, region);
    struct coil__list *next;

    if (strcmp(region->kind, "group") != 0)
        return NULL;
    next = child != NULL ? child->group_link.next : g->children.next;
    return next != &g->children ? COIL__CONTAINER(next, coil_task, group_link) : NULL;
}

static void add_error(struct group *g, int rc)
{
    if (g->error_count < COIL_GROUP_ERRORS)
        g->errors[g->error_count] = rc;
    g->error_count++;
}

static void cancel_children(struct group *g, const coil_cancel_origin *origin)
{
    g->aborting = true;
    COIL__LIST_EACH (link, &g->children)
        coil__task_cancel(COIL__CONTAINER(link, coil_task, group_link), origin, 0);
}

/* The children, unless they have been, and the owner's body. */
static void cancel_all(struct group *g, const coil_cancel_origin *origin)
{
    if (!g->aborting)
        cancel_children(g, origin);
    if (g->owner_cancelled)
        return;
    g->owner_cancelled = true;
    coil__task_cancel(g->owner, origin, g->region.depth);
}

COIL__NOINLINE void coil_group_cancel(coil_group *group, const char *reason)
{
    coil_cancel_origin origin = coil__cancel_origin_here(reason, COIL__CALLER());

    cancel_all(inside(group), &origin);
}

/* ---- children ---------------------------------------------------------------------- */

static void child_failed(struct group *g, const coil_task *child, int rc)
{
    coil_cancel_origin origin = {.reason = "a task of its group failed",
                                 .address = g->region.address};

    if (g->error_count == 0 && child->future.error != NULL)
        g->error = coil_error_retain(child->future.error);
    add_error(g, rc);
    if (g->aborting || g->owner_cancelled)
        return;
    memcpy(origin.task, child->name, sizeof origin.task);
    cancel_all(g, &origin);
}

static void child_done(struct coil__runnable *runnable)
{
    coil_task *child = COIL__CONTAINER(runnable, coil_task, group_done);
    struct group *g = inside(child->group);
    struct coil__wait *starter = child->starter;
    int rc = coil__future_retrieve(&child->future);

    coil__list_remove(&child->group_link);
    if (g->waiting != NULL && coil__list_empty(&g->children))
        coil__wait_complete(&g->waiting->wait, 0);
    if (starter != NULL)
        coil__wait_complete(starter, rc < 0 ? rc : -ECHILD);
    else if (rc < 0 && rc != -ECANCELED)
        child_failed(g, child, rc);
    if (starter == NULL && child->borrowed)
        coil__list_push(&g->kept, &child->group_link);
    else
        coil_task_release(child);
}

/* A child that does not run yet, spawned by the code at `address`. */
static int create_child(struct group *g, coil_task_fn fn, void *arg,
                        const coil_spawn_opts *opts, const void *address, coil_task **out)
{
    coil_task *child;
    int rc;

    coil__loop_check_thread(g->owner->future.loop);
    if (g->aborting || (g->exiting && coil__list_empty(&g->children)))
        return -ESHUTDOWN;
    rc = coil__task_create(fn, arg, opts, &child);
    if (rc < 0)
        return rc;
    child->spawned_at = address;
    child->group = (coil_group *)g;
    coil__runnable_init(&child->group_done, child_done);
    coil__list_init(&coil_task_retain(child)->group_link);
    *out = child;
    return 0;
}

/*
 * An eager child runs before it is one of the children; if the group was cancelled from
 * inside it, it is only afterwards. What it came to, if it has ended, counts in the next
 * turn as of any other: the body goes on until then. (asyncio: create_task, since 3.13.2
 * and, for the cancellation, gh-155418)
 */
static void start_child(struct group *g, coil_task *child, const coil_spawn_opts *opts)
{
    coil__task_start(child, opts != NULL && opts->eager);
    coil__list_push(&g->children, &child->group_link);
    coil__future_subscribe(&child->future, &child->group_done);
    if (COIL__UNLIKELY(g->aborting)) {
        coil_cancel_origin origin =
            coil__cancel_origin_here("its group was cancelled", g->region.address);

        coil__task_cancel(child, &origin, 0);
    }
}

COIL__NOINLINE int coil_group_spawn(coil_group *group, coil_task_fn fn, void *arg,
                                    const coil_spawn_opts *opts, coil_task **out)
{
    coil_task *child;
    int rc = create_child(inside(group), fn, arg, opts, COIL__CALLER(), &child);

    if (rc < 0)
        return rc;
    child->borrowed = out != NULL;
    if (out != NULL)
        *out = child;
    start_child(inside(group), child, opts);
    return 0;
}

/* ---- starting ---------------------------------------------------------------------- */

struct starting {
    struct coil__wait wait;
    struct coil__branch branch;
    coil_task *child;
};

static coil_future *started_child(const struct coil__wait *wait, size_t i)
{
    const struct starting *s = COIL__CONTAINER(wait, const struct starting, wait);

    return i == 0 ? &s->child->future : NULL;
}

/* Who starts is cancelled: so is the child, and the wait ends when it has. */
static bool cancel_starting(struct coil__wait *wait)
{
    struct starting *s = COIL__CONTAINER(wait, struct starting, wait);

    coil__wait_branch(wait, &s->branch);
    return true;
}

COIL__NOINLINE int coil_group_start(coil_group *group, coil_task_fn fn, void *arg,
                                    const coil_spawn_opts *opts, coil_task **out)
{
    static const struct coil__wait_class class = {
        .what = "group.start", .cancel = cancel_starting, .future = started_child};
    struct starting s = {.child = NULL};
    coil_task *child;
    int rc;

    if (coil__task_refuses(coil__task_require("coil_group_start")))
        return -ECANCELED;
    rc = create_child(inside(group), fn, arg, opts, COIL__CALLER(), &child);
    if (rc < 0)
        return rc;
    coil__wait_init(&s.wait, &class);
    s.wait.keeps_result = true;
    s.child = child;
    child->starter = &s.wait;
    child->borrowed = out != NULL;
    coil_task_retain(child);
    start_child(inside(group), child, opts);
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
        return -EINVAL;
    if (task->ready)
        return -EALREADY;
    if (task->starter == NULL)
        return 0;
    coil__wait_complete(task->starter, value);
    task->starter = NULL;
    task->ready = true;
    return 0;
}

/* ---- the exit ---------------------------------------------------------------------- */

static void cancel_children_because(struct group *g, const char *reason)
{
    coil_cancel_origin origin = coil__cancel_origin_here(reason, g->region.address);

    cancel_children(g, &origin);
}

static void describe_exit(const struct coil__wait *wait, struct coil__waited *out)
{
    out->object = COIL__CONTAINER(wait, const struct leaving, wait)->group;
}

static const struct coil__wait_class exit_class = {.what = "group",
                                                   .describe = describe_exit};

const struct coil__region *coil__group_waited(const struct coil__wait *wait)
{
    if (wait->class != &exit_class)
        return NULL;
    return &COIL__CONTAINER(wait, const struct leaving, wait)->group->region;
}

/* Finish the wait, cancelled or not; returns true if the owner was. */
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
                g->swallowed = true;
            } else {
                cancelled = true;
                cancel_children_because(g, "the owner of its group was cancelled");
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
        coil_task_release(COIL__CONTAINER(link, coil_task, group_link));
}

/* A child failed first: its error becomes the owner's. */
static void take_over_error(struct group *g, const void *from)
{
    coil__failure_hand_on_error(g->error, g->errors[0], from);
    coil_error_release(g->error);
}

/*
 * How the group ends, if not as cancelled. Somebody else's request to cancel the owner is
 * not forgotten over failures, nor over the group's own: it is delivered again at the
 * owner's next wait.
 */
static int outcome(struct group *g, int rc)
{
    coil_task *owner = g->owner;

    if (rc < 0 && rc != -ECANCELED)
        add_error(g, rc);
    if (g->error_count > 0)
        rc = g->errors[0];
    else if (rc == -ECANCELED)
        rc = 0; /* nobody failed, and it was the group that was cancelled */
    if ((g->error_count > 0 || g->swallowed) && coil__task_requests(owner) > 0)
        owner->must_cancel = true;
    return rc;
}

COIL__NOINLINE int coil_group_exit(coil_group *group, int rc)
{
    struct group *g = inside(group);
    coil_task *owner = coil__task_require("coil_group_exit");
    bool delivered = owner->delivered, cancelled = rc == -ECANCELED;

    coil__region_exit(owner, &g->region, "coil_group_exit");
    g->exiting = true;
    owner->delivered = false;
    if (rc < 0 && !g->aborting)
        cancel_children_because(g, "its group was left with an error");
    if (wait_for_children(g))
        delivered = cancelled = true;
    release_kept(g);
    if (g->owner_cancelled && coil__task_uncancel(owner) == 0)
        cancelled = delivered = false;
    if (cancelled && g->error_count == 0) {
        owner->delivered = delivered || (g->swallowed && coil__task_requests(owner) > 0);
        return -ECANCELED;
    }
    if (g->error_count > 0)
        take_over_error(g, COIL__CALLER());
    else if (rc >= 0)
        owner->delivered = delivered; /* the body was told and did not listen */
    return outcome(g, rc);
}

size_t coil_group_error_count(const coil_group *group)
{
    return inside(group)->error_count;
}

int coil_group_error(const coil_group *group, size_t i)
{
    const struct group *g = inside(group);

    return i < g->error_count && i < COIL_GROUP_ERRORS ? g->errors[i] : 0;
}
