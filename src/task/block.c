/*
 * block.c - writing, checking and freeing the control blocks of tasks: see block.h.
 */
#include "block.h"

#include <coil/error.h>

#include <stdlib.h>
#include <string.h>

COIL__NOINLINE void coil__block_write(coil_task *task,
                                      const struct coil__coro_class *class)
{
    memset(&task->coro.stack + 1, 0, offsetof(coil_task, room) - sizeof task->coro.stack);
    task->coro.class = class;
    coil__list_init(&task->step.link);
    coil__list_init(&task->future.callbacks);
}

#if COIL__ASAN || !defined __OPTIMIZE__
void coil__block_check(coil_task *task, coil_loop *loop)
{
    static COIL__THREAD_LOCAL coil_task left;

    left = *task;
    coil__block_write(task, left.coro.class);
    coil__block_init(task, loop);
    left.coro.sp = NULL;
    left.coro.arg = NULL;
    left.fn = NULL;
    left.link = left.group_link = (struct coil__list){NULL, NULL};
    left.name = (struct coil__name){.text = ""};
    left.spawned_at = left.outermost = NULL;
    left.outermost_kind = 0;
    left.coro.number = task->coro.number;
    left.spawned_by = task->spawned_by;
    left.steps = task->steps;
    for (size_t i = sizeof left.coro.stack; i < offsetof(coil_task, room); i++)
        if (((const char *)&left)[i] != ((const char *)task)[i])
            coil__misuse("a task has not reset byte %zu of its control block", i);
}
#endif

/* ---- freed blocks in debug mode ---------------------------------------------------- */

/*
 * In debug mode each thread keeps the memory of the last tasks that it freed, so that a
 * call on a freed task finds a reference count of 0.
 */
#define KEPT_MAX 64

/* Allocated by malloc(3): see coil/base.h. NULL until the first task is freed. */
static COIL__THREAD_LOCAL struct kept {
    size_t next;
    coil_task *tasks[KEPT_MAX];
} * kept;

void coil__blocks_destroy_kept(void)
{
    for (size_t i = 0; kept != NULL && i < KEPT_MAX; i++)
        if (kept->tasks[i] != NULL)
            coil__coro_destroy(&kept->tasks[i]->coro);
    free(kept);
    kept = NULL;
}

/*
 * Return the task that must be destroyed now, or NULL. In debug mode, store the freed
 * task and return the oldest stored task; otherwise return the freed task itself.
 */
static coil_task *keep_in_debug_mode(coil_task *task)
{
    coil_task **place, *oldest;

    if ((task->marks & COIL__TASK_DEBUGGED) == 0 || !coil__loop_is_debugged() ||
        coil__loop_of_thread->closing)
        return task;
    if (kept == NULL && (kept = calloc(1, sizeof *kept)) == NULL)
        return task;
    place = &kept->tasks[kept->next++ % KEPT_MAX];
    oldest = *place;
    *place = task;
    return oldest;
}

/* ---- freeing ----------------------------------------------------------------------- */

/*
 * True if the task has set members that coil__block_init() does not reset, which is rare.
 */
static inline bool leaves_values(const coil_task *task)
{
    return ((uintptr_t)task->canceller_address | (uintptr_t)task->hooks |
            (uintptr_t)task->deferred | (uintptr_t)task->future.error |
            (uintptr_t)task->future.cancel_reason | task->cancelling | task->held |
            task->marks) != 0;
}

static COIL__NOINLINE void release_block_members(coil_task *task)
{
    if (task->future.error != NULL)
        coil_error_release(task->future.error);
    coil__name_finish(&task->canceller_name);
    task->coro.class = NULL;
}

static COIL__NOINLINE void free_with_care(coil_task *task)
{
    release_block_members(task);
    task = keep_in_debug_mode(task);
    if (task != NULL)
        coil__coro_destroy(&task->coro);
}

void coil__task_free(coil_task *task)
{
    if (COIL__UNLIKELY(task->future.rc < 0))
        /* a failed task has kept its context, because a report may need it */
        coil__context_slot_finish(&task->context);
    coil__name_finish(&task->name);
    task->group = NULL;
    if (COIL__UNLIKELY(leaves_values(task)))
        free_with_care(task);
    else
        coil__coro_destroy(&task->coro);
}
