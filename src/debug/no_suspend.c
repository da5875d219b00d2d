/*
 * no_suspend.c - regions of code in which the task must not wait.
 *
 * Regions can be nested. A region belongs to the task that entered it: other tasks that
 * are started eagerly inside the region may wait. coil__task_switch_out(), which suspends
 * a task, checks that the task is not in a region.
 */
#include "../task/task.h"

#include <coil/debug.h>

_Static_assert(sizeof(struct coil__no_suspend) <= sizeof(coil_no_suspend),
               "coil_no_suspend is too small");

static struct coil__no_suspend *region_inside(coil_no_suspend *region)
{
    return (struct coil__no_suspend *)region;
}

COIL__NOINLINE void coil_no_suspend_enter(coil_no_suspend *region, const char *why)
{
    COIL__REQUIRE(region, "a region");
    coil__no_suspend_enter(region_inside(region), why);
    coil__scheduler.no_suspend.address = COIL__CALLER();
}

void coil_no_suspend_exit(coil_no_suspend *region)
{
    COIL__REQUIRE(region, "a region");
    const struct coil__no_suspend *innermost = &coil__scheduler.no_suspend;
    char text[200];

    if (innermost->outer == NULL)
        coil__misuse("coil_no_suspend_exit: no region is open");
    if (innermost->outer != region_inside(region))
        coil__misuse("coil_no_suspend_exit: another region is the innermost open one: %s",
                     coil__no_suspend_describe(innermost, text, sizeof text));
    coil__no_suspend_exit(region_inside(region));
}

bool coil_may_suspend(void)
{
    const coil_task *task = coil__scheduler.current;

    return task != NULL && coil__no_suspend_of(task) == NULL;
}

bool coil_on_task_stack(void)
{
    const coil_task *task = coil__scheduler.current;

    return task != NULL &&
           (uintptr_t)coil__stack_pointer() - (uintptr_t)task->coro.stack.low <
               coil__stack_bytes(&task->coro.stack);
}

/* True if libcoil made the call, which its return address shows: see base/own.h. */
bool coil_is_own_call(const void *return_address)
{
    return (uintptr_t)return_address > (uintptr_t)coil__own_begin &&
           (uintptr_t)return_address <= (uintptr_t)coil__own_end;
}
