/*
 * trim.c - discards the unused pages of stacks whose tasks wait for long.
 *
 * A task that once made deeply nested calls, or used a buffer on its stack, has written
 * more pages than it uses while it waits. All bytes below the stack pointer of a waiting
 * task are unused. So the handler of an idle connection keeps one page instead of two.
 * Pages that the task writes again cost one page fault each.
 *
 * Rounds over all tasks, oldest first, visit a few tasks each time before the loop waits.
 * A round trims the stacks of tasks whose wait began after the last round's limit, and
 * before its own limit, a second ago. So each wait costs at most one system call, and a
 * task that seldom waits as long costs none. After many tasks the next round begins
 * later, so that visiting the tasks takes at most a hundredth of the time.
 *
 * A virtual clock passes seconds in no time, so stacks are not trimmed.
 */
#include "trim.h"

#include "../kernel/memory.h"

enum { VISITS = 64 };
#define PAUSE_PER_TASK COIL_USEC(10)

int64_t coil__task_trim_age_ns = COIL_SEC(1);

void coil__task_trim_set_up(coil_loop *loop)
{
    struct coil__trim_round *round = &coil__scheduler.trim;

    *round = (struct coil__trim_round){.until = INT64_MIN};
    if (!loop->virtual_clock)
        loop->trim_at = coil__time_add(coil__loop_now(loop), coil__task_trim_age_ns);
}

static void begin_round(struct coil__trim_round *round, int64_t now)
{
    round->next = coil__scheduler.tasks.next;
    round->visited = 0;
    round->after = round->until;
    round->until = now - coil__task_trim_age_ns;
}

static void end_round(struct coil__trim_round *round, coil_loop *loop)
{
    int64_t pause = (int64_t)round->visited * PAUSE_PER_TASK;

    if (pause < coil__task_trim_age_ns)
        pause = coil__task_trim_age_ns;
    round->next = NULL;
    loop->trim_at = coil__time_add(loop->clock_read, pause);
}

/* A light stack is swapped out as a whole instead. */
static bool may_trim(const coil_task *task, const struct coil__trim_round *round)
{
    const struct coil__wait *wait = coil__task_waits(task);

    return wait != NULL && wait->parked && wait->since > round->after &&
           wait->since <= round->until && task->coro.sp != NULL &&
           !coil__stack_apart(&task->coro.stack);
}

void coil__task_trim_stacks(coil_loop *loop)
{
    struct coil__trim_round *round = &coil__scheduler.trim;
    struct iovec unused[VISITS];
    size_t count = 0;
    int saved = errno;

    if (round->next == NULL)
        begin_round(round, loop->clock_read);
    for (int i = 0; i < VISITS && round->next != &coil__scheduler.tasks; i++) {
        coil_task *task = COIL__CONTAINER(round->next, coil_task, link);

        round->next = round->next->next;
        round->visited++;
        if (may_trim(task, round) &&
            coil__stack_unused(&task->coro.stack, task->coro.sp, &unused[count]))
            count++;
    }
    coil__memory_discard_all(unused, count);
    errno = saved;
    if (round->next == &coil__scheduler.tasks)
        end_round(round, loop);
}
