/*
 * region.c - the scopes and groups that are open in a task, and the shields among them.
 *
 * Regions nest, and each has a depth. A request to cancel the task has the depth of the
 * region that makes it, or 0 if it comes from elsewhere. A shield lets requests of its
 * own depth or deeper pass, and holds back the others:
 *
 *     depth 1   group       its request is held back by the shield at depth 2
 *     depth 2     shield    the request of its own deadline passes
 *     depth 3       group   its request passes that shield; depth 4 holds it back
 *     depth 4         shield
 *
 * If several shields would hold a request back, the outermost of them stores it, because
 * the request passes only when that shield exits. coil_task_cancelling() counts requests
 * that are held back. coil__task_requests() does not, so scopes and groups can use it to
 * tell their own requests from those of others. Entering a shield saves the task's
 * cancellation (requested or delivered) and clears it, so the task is not cancelled
 * inside the shield. Leaving the shield restores the saved state.
 */
#include "task.h"

#include "../error/symbol.h"

#include <stdio.h>

void coil__region_enter(coil_task *task, struct coil__region *region,
                        enum coil__region_kind kind, const void *address)
{
    struct coil__region *outer = task->regions;

    region->kind = kind;
    region->address = address;
    region->outer = outer;
    region->object = NULL;
    region->on_heap = false;
    region->depth = outer != NULL ? outer->depth + 1 : 1;
    if (outer != NULL) {
        outer->inner = (struct coil__inner_region){address, kind};
    } else {
        task->outermost = address;
        task->outermost_kind = (unsigned char)kind;
    }
    task->regions = region;
}

const char *coil__region_describe(const struct coil__inner_region *region, char *text,
                                  size_t size)
{
    static const char *const kinds[] = {[COIL__SCOPE] = "scope",
                                        [COIL__GROUP] = "group",
                                        [COIL__CONTAINMENT] = "containment"};
    struct coil__report report;

    if (!coil__report_begin_text(&report, text, size))
        return kinds[region->kind];
    coil__report_words(&report, "a %s open", kinds[region->kind]);
    coil__symbol_print(&report, NULL, ", entered at %s", region->address);
    coil__report_end_text(&report);
    return text;
}

const char *coil__no_suspend_describe(const struct coil__no_suspend *region, char *text,
                                      size_t size)
{
    struct coil__report report;

    if (!coil__report_begin_text(&report, text, size))
        return region->why;
    coil__report_words(&report, "%s", region->why);
    coil__symbol_print(&report, NULL, ", entered at %s", region->address);
    coil__report_end_text(&report);
    return text;
}

const char *coil__region_outermost(const coil_task *task, char *text, size_t size)
{
    const struct coil__inner_region outermost = {
        task->outermost, (enum coil__region_kind)task->outermost_kind};

    return coil__region_describe(&outermost, text, size);
}

/* True if the region is open in the task. */
static bool is_region_open(const coil_task *task, const struct coil__region *region)
{
    const struct coil__region *r = task->regions;

    while (r != NULL && r != region && r->outer != NULL && r->depth > 1)
        r = r->outer;
    return r == region;
}

/*
 * Abort because the program closes a region that is not open, or in which another region
 * is still open.
 */
COIL__NORETURN static void
refuse_exit(const coil_task *task, const struct coil__region *region, const char *caller)
{
    char inner[200];

    if (task->regions != NULL && is_region_open(task, region))
        coil__misuse(
            "%s: task '%s' has %s, inside of it; leave the innermost region first",
            caller, coil_task_name(task),
            coil__region_describe(&region->inner, inner, sizeof inner));
    coil__misuse("%s: the region is not open in task '%s': it was left before, or "
                 "entered by another task",
                 caller, coil_task_name(task));
}

void coil__region_exit(coil_task *task, struct coil__region *region, const char *caller)
{
    if (COIL__UNLIKELY(task->regions != region))
        refuse_exit(task, region, caller);
    task->regions = region->outer;
}

/* ---- objects of bindings ----------------------------------------------------------- */

void coil_region_bind(void *object)
{
    coil_task *task = coil__task_require("coil_region_bind");

    if (task->regions == NULL)
        coil__misuse("coil_region_bind: no scope and no group is open in task '%s'",
                     coil_task_name(task));
    task->regions->object = object;
}

void *coil_region_bound(const void *inside)
{
    const coil_task *task = coil__scheduler.current;
    const struct coil__region *region = task != NULL ? task->regions : NULL;

    for (; region != NULL; region = region->outer) {
        if (inside == NULL && region->object != NULL)
            return region->object;
        if (inside == region->object)
            inside = NULL;
    }
    return NULL;
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
