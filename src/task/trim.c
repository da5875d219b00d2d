/*
 * trim.c - discards the unused stack pages of tasks that have been waiting for a long
 * time.
 *
 * A task that once made deeply nested calls, or used a buffer on its stack, has written
 * to more pages than it needs while it waits: all bytes below its stack pointer are
 * unused. Once these bytes are discarded, the task of an idle connection occupies one
 * page instead of two. Each discarded page that the task uses again costs a page fault.
 *
 * Tasks are visited in rounds, oldest first: a few of them each time before the loop
 * waits. A round's limit is one second before its beginning. The round trims the stacks
 * of tasks whose wait began between the previous round's limit and its own. So each stack
 * is trimmed at most once per wait, and not at all if the wait is short. The more tasks a
 * round has visited, the later the next round begins, so that visits take at most a
 * hundredth of the time.
 *
 * Stacks are not trimmed if the clock is virtual, because a long wait then takes hardly
 * any real time.
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

/* Light stacks are not trimmed, because they are swapped out as a whole. */
static bool may_trim(const coil_task *task, const struct coil__trim_round *round)
{
    const struct coil__wait *wait = coil__task_waits(task);

    return wait != NULL && wait->parked && wait->since > round->after &&
           wait->since <= round->until && task->coro.sp != NULL &&
           !coil__stack_is_light(&task->coro.stack);
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
