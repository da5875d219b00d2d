/*
 * no_suspend.c - regions of code in which nothing may wait.
 *
 * They nest, and belong to the task that entered them: one that it starts eagerly inside
 * may wait. Whoever leaves a task looks here, in coil__task_switch_out().
 */
#include "../task/task.h"

#include <coil/debug.h>

_Static_assert(sizeof(struct coil__no_suspend) <= sizeof(coil_no_suspend),
               "coil_no_suspend is too small");

static struct coil__no_suspend *inside(coil_no_suspend *region)
{
    return (struct coil__no_suspend *)region;
}

void coil_no_suspend_enter(coil_no_suspend *region, const char *why)
{
    *inside(region) = (struct coil__no_suspend){
        .outer = coil__scheduler.no_suspend, .task = coil__scheduler.current, .why = why};
    coil__scheduler.no_suspend = inside(region);
}

void coil_no_suspend_exit(coil_no_suspend *region)
{
    if (coil__scheduler.no_suspend != inside(region))
        coil__misuse("coil_no_suspend_exit: it is not the innermost region that is open");
    coil__scheduler.no_suspend = inside(region)->outer;
}

bool coil_may_suspend(void)
{
    const coil_task *task = coil__scheduler.current;
    const struct coil__no_suspend *region = coil__scheduler.no_suspend;

    if (COIL__LIKELY(region == NULL || task == NULL))
        return task != NULL;
    while (region != NULL && region->task != task)
        region = region->outer;
    return region == NULL;
}
