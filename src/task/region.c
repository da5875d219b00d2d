/*
 * region.c - the scopes and groups that are open in a task, and the shields among them.
 *
 * Regions nest; each has a depth, and a request to cancel the task carries the depth of
 * the region that makes it (0: somebody else's). A shield lets pass what comes from its
 * own depth or from deeper, and holds back the rest:
 *
 *     depth 1   group       its request is held by the shield of depth 2
 *     depth 2     shield    its own deadline passes
 *     depth 3       group   passes this shield, is held by the next
 *     depth 4         shield
 *
 * What several shields would hold, the outermost of them holds, for it is its exit that
 * sets it free. Held requests count in coil_task_cancelling() at once;
 * coil__task_requests() are the others, by which scopes and groups judge whose
 * cancellation they see. A shield that is entered takes along what the task had been
 * asked and told before: inside, it is as if nothing had been, and after it, as if the
 * shield had not.
 */
#include "task.h"

void coil__region_enter(coil_task *task, struct coil__region *region, const char *kind,
                        const void *address)
{
    region->kind = kind;
    region->address = address;
    region->outer = task->regions;
    region->depth = region->outer != NULL ? region->outer->depth + 1 : 1;
    task->regions = region;
}

void coil__region_exit(coil_task *task, struct coil__region *region, const char *caller)
{
    if (task->regions != region)
        coil__misuse("%s: task '%s' has not got this %s as its innermost open one",
                     caller, task->name, region->kind);
    task->regions = region->outer;
}

/* ---- shields ----------------------------------------------------------------------- */

void coil__shield_enter(coil_task *task, struct coil__shield *shield,
                        const struct coil__region *region)
{
    shield->outer = task->shield;
    shield->depth = region->depth;
    shield->held = coil__task_requests(task);
    shield->must_cancel = task->must_cancel;
    shield->delivered = task->delivered;
    task->held += shield->held;
    task->must_cancel = task->delivered = false;
    task->shield = shield;
}

void coil__shield_exit(coil_task *task, struct coil__shield *shield)
{
    task->held -= shield->held;
    task->must_cancel |= shield->must_cancel;
    task->delivered |= shield->delivered;
    task->shield = shield->outer;
}

bool coil__shields_hold(coil_task *task, unsigned depth)
{
    struct coil__shield *outermost = NULL;

    for (struct coil__shield *s = task->shield; s != NULL && s->depth > depth;
         s = s->outer)
        outermost = s;
    if (outermost == NULL)
        return false;
    outermost->held++;
    outermost->must_cancel = true;
    task->held++;
    return true;
}

void coil__shields_drop(coil_task *task)
{
    struct coil__shield *shield = task->shield;

    while (shield->held == 0)
        shield = shield->outer;
    if (--shield->held == 0)
        shield->must_cancel = false;
    task->held--;
}
