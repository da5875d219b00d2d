/*
 * group.c - tasks that end together.
 *
 * A child's end reaches the group as the first of its done callbacks: one trip through
 * the ready queue; the last one's wakes the owner in exit: a second trip. The first
 * failure aborts: every child is cancelled, in the order of spawning, and so is the
 * owner, whose request is taken back at exit. (asyncio: taskgroups.py)
 *
 * Invariants
 * 1. A child is in `children` until its callback has run, and in `kept` after that if
 *    somebody borrowed it at spawn; the group owns a reference meanwhile.
 * 2. The owner's cancellation is requested by us at most once, and then taken back once.
 */
#include "failure.h"
#include "task.h"

struct group {
    struct coil__region region;
    coil_task *owner;
    struct coil__list children, kept;
    struct coil__wait *waiting; /* the owner's, in exit */
    unsigned error_count;
    bool exiting, aborting, owner_cancelled;
    int errors[COIL_GROUP_ERRORS];
    coil_error *error; /* of the first child that failed, if it had one */
};

_Static_assert(sizeof(struct group) <= sizeof(coil_group), "coil_group is too small");

static struct group *inside(const coil_group *group)
{
    return (struct group *)group;
}

void coil_group_enter(coil_group *group)
{
    struct group *g = inside(group);

    *g = (struct group){.owner = coil__task_require("coil_group_enter")};
    coil__list_init(&g->children);
    coil__list_init(&g->kept);
    coil__region_enter(g->owner, &g->region, "group");
}

static void add_error(struct group *g, int rc)
{
    if (g->error_count < COIL_GROUP_ERRORS)
        g->errors[g->error_count] = rc;
    g->error_count++;
}

static void cancel_children(struct group *g)
{
    g->aborting = true;
    COIL__LIST_EACH (link, &g->children)
        coil_task_cancel(COIL__CONTAINER(link, coil_task, group_link), "group");
}

static void child_failed(struct group *g, int rc)
{
    add_error(g, rc);
    if (g->aborting || g->owner_cancelled)
        return;
    cancel_children(g);
    g->owner_cancelled = true;
    coil_task_cancel(g->owner, "a task of its group failed");
}

static void child_done(struct coil__runnable *runnable)
{
    coil_task *child = COIL__CONTAINER(runnable, coil_task, group_done);
    struct group *g = inside(child->group);
    int rc = coil__future_retrieve(&child->future);

    coil__list_remove(&child->group_link);
    if (g->error_count == 0 && child->future.error != NULL)
        g->error = coil_error_retain(child->future.error);
    if (child->borrowed)
        coil__list_push(&g->kept, &child->group_link);
    else
        coil_task_release(child);
    if (g->waiting != NULL && coil__list_empty(&g->children))
        coil__wait_complete(g->waiting, 0);
    if (rc < 0 && rc != -ECANCELED)
        child_failed(g, rc);
}

int coil_group_spawn(coil_group *group, coil_task_fn fn, void *arg,
                     const coil_spawn_opts *opts, coil_task **out)
{
    struct group *g = inside(group);
    coil_task *child;
    int rc;

    coil__loop_check_thread(g->owner->future.loop);
    if (g->aborting || (g->exiting && coil__list_empty(&g->children)))
        return -ESHUTDOWN;
    rc = coil__task_create(fn, arg, opts, &child);
    if (rc < 0)
        return rc;
    child->group = group;
    child->borrowed = out != NULL;
    coil__runnable_init(&child->group_done, child_done);
    coil__list_push(&g->children, &coil_task_retain(child)->group_link);
    coil__future_subscribe(&child->future, &child->group_done);
    coil__task_start(child);
    if (out != NULL)
        *out = child;
    return 0;
}

/* Finish the wait, cancelled or not; returns true if the owner was. */
static bool wait_for_children(struct group *g)
{
    bool cancelled = false;

    while (!coil__list_empty(&g->children)) {
        struct coil__wait wait;

        coil__wait_init(&wait, NULL);
        g->waiting = &wait;
        if (coil__wait_park(&wait) == -ECANCELED) {
            g->owner->delivered = false;
            if (!g->aborting) {
                cancelled = true;
                cancel_children(g);
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

/*
 * There were failures. Somebody else's request to cancel the owner is not forgotten over
 * them: it is delivered again at its next wait.
 */
static int fail(struct group *g)
{
    coil_task *owner = g->owner;

    owner->delivered = false;
    if (owner->cancelling > 0) {
        coil__task_uncancel(owner);
        coil_task_cancel(owner, owner->future.cancel_reason);
    }
    return g->errors[0];
}

/* A child failed first: its error becomes the owner's. */
static void take_over_error(struct group *g, const void *from)
{
    coil__failure_hand_on_error(g->error, g->errors[0], from);
    coil_error_release(g->error);
}

int coil_group_exit(coil_group *group, int rc)
{
    struct group *g = inside(group);
    coil_task *owner = coil__task_require("coil_group_exit");
    bool delivered = owner->delivered, propagate = rc == -ECANCELED;

    coil__region_exit(owner, &g->region, "coil_group_exit");
    g->exiting = true;
    owner->delivered = false;
    if (rc < 0 && !g->aborting)
        cancel_children(g);
    if (wait_for_children(g))
        delivered = propagate = true;
    release_kept(g);
    if (g->owner_cancelled && coil__task_uncancel(owner) == 0)
        propagate = false;
    if (propagate && g->error_count == 0) {
        owner->delivered = delivered;
        return -ECANCELED;
    }
    if (g->error_count > 0)
        take_over_error(g, __builtin_return_address(0));
    if (rc < 0 && rc != -ECANCELED)
        add_error(g, rc);
    if (g->error_count > 0)
        return fail(g);
    owner->delivered = delivered;
    return rc;
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
