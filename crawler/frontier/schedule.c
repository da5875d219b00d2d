/*
 * schedule.c - see schedule.h
 */
#include "schedule.h"

#include "../base/array.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

static bool is_sooner(const struct schedule_entry *a, const struct schedule_entry *b)
{
    return a->at_ns != b->at_ns ? a->at_ns < b->at_ns : a->order < b->order;
}

int schedule_add(struct schedule *schedule, int64_t at_ns, void *thing)
{
    struct schedule_entry entry = {at_ns, schedule->added++, thing};
    size_t i;

    if (schedule->count == schedule->capacity &&
        array_grow(&schedule->entries, &schedule->capacity, sizeof *schedule->entries) <
            0)
        return -ENOMEM;
    for (i = schedule->count++; i > 0; i = (i - 1) / 2) {
        struct schedule_entry *parent = &schedule->entries[(i - 1) / 2];
        if (!is_sooner(&entry, parent))
            break;
        schedule->entries[i] = *parent;
    }
    schedule->entries[i] = entry;
    return 0;
}

int64_t schedule_first(const struct schedule *schedule)
{
    return schedule->count > 0 ? schedule->entries[0].at_ns : INT64_MAX;
}

void *schedule_take(struct schedule *schedule)
{
    void *thing = schedule->entries[0].thing;
    struct schedule_entry last = schedule->entries[--schedule->count];
    size_t i = 0;

    for (;;) {
        size_t child = 2 * i + 1;
        if (child >= schedule->count)
            break;
        if (child + 1 < schedule->count &&
            is_sooner(&schedule->entries[child + 1], &schedule->entries[child]))
            child++;
        if (!is_sooner(&schedule->entries[child], &last))
            break;
        schedule->entries[i] = schedule->entries[child];
        i = child;
    }
    if (schedule->count > 0)
        schedule->entries[i] = last;
    return thing;
}

void schedule_finish(struct schedule *schedule)
{
    free(schedule->entries);
    *schedule = (struct schedule){.count = 0};
}
