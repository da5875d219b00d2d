/*
 * trace_task.c - records the events of tasks in the trace of their loop.
 */
#include "trace_task.h"

#include "light_task.h"
#include "step.h"

#include <string.h>

void coil__trace_tasks(coil_loop *loop)
{
    struct coil__scheduler *scheduler = &coil__scheduler;
    const coil_task *current = scheduler->current;

    if (scheduler->hooked != loop)
        return;
    scheduler->trace = loop->trace;
    scheduler->careful = coil__scheduler_is_careful();
    if (loop->trace != NULL && current != NULL)
        coil__trace_put_now(loop->trace, COIL__TRACE_SWITCH, current->coro.number, 0);
}

uint32_t coil__trace_number(const struct coil__runnable *runnable)
{
    if (runnable->run != coil__task_step && runnable->run != coil__task_first_step &&
        runnable->run != coil__task_light_step)
        return 0;
    return COIL__CONTAINER(runnable, const coil_task, step)->coro.number;
}

void coil__trace_each_task(coil_loop *loop, coil__trace_visit_task *visit, void *arg)
{
    if (coil__scheduler.hooked == loop)
        COIL__LIST_EACH (link, &coil__scheduler.tasks) {
            const coil_task *task = COIL__CONTAINER(link, const coil_task, link);

            visit(arg, task->coro.number, coil_task_name(task), (uintptr_t)task->fn);
        }
}

/* Write eight bytes of the name per record. Unused bytes of the last record are 0. */
void coil__trace_named(const coil_task *task)
{
    const char *name = coil__name_text(&task->name);
    size_t length = strlen(name);
    uint64_t word;

    for (size_t at = 0; at < length; at += sizeof word) {
        word = 0;
        memcpy(&word, name + at, length - at < sizeof word ? length - at : sizeof word);
        coil__trace_put(task->future.loop->trace, COIL__TRACE_NAME, word,
                        task->coro.number, (uint32_t)at);
    }
}

void coil__trace_spawned(const coil_task *task)
{
    coil__trace_put(task->future.loop->trace, COIL__TRACE_SPAWN, (uintptr_t)task->fn,
                    task->coro.number, 0);
    if (task->name.text[15] != COIL__NAME_NUMBER)
        coil__trace_named(task);
}

void coil__trace_completed(struct coil__trace *trace, const struct coil__list *runnables)
{
    for (const struct coil__list *link = runnables->next; link != runnables;
         link = link->next) {
        const struct coil__runnable *runnable =
            COIL__CONTAINER(link, const struct coil__runnable, link);
        uint32_t task = coil__trace_number(runnable);

        if (task != 0)
            COIL__PROBE1(task_wake, task);
        if (COIL__USDT && trace == NULL)
            continue;
        if (task != 0)
            coil__trace_put(trace, COIL__TRACE_WAKE, 0, task, 0);
        else
            coil__trace_put(trace, COIL__TRACE_READY, (uintptr_t)runnable, 0, 0);
    }
}

void coil__trace_suspends(const coil_task *task)
{
    const struct coil__wait *wait = coil__task_waits(task);
    struct coil__waited waited;

    if (wait == NULL)
        return;
    waited = coil__wait_describe(wait);
    coil__trace_put(coil__scheduler.trace, COIL__TRACE_WAIT, (uintptr_t)waited.what,
                    task->coro.number, (uint32_t)(waited.fd + 1) & COIL__TRACE_VALUE_MAX);
}
