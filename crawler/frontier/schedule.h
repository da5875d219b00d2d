/*
 * schedule.h - things to come, by their time: a binary heap.
 */
#ifndef CRAWLER_SCHEDULE_H
#define CRAWLER_SCHEDULE_H

#include <stddef.h>
#include <stdint.h>

struct schedule_entry {
    int64_t at_ns;
    uint64_t
        order; /* of two at the same time, the one that was added first comes first */
    void *thing;
};

/* Zeroes are an empty one. */
struct schedule {
    struct schedule_entry *entries;
    size_t count, capacity;
    uint64_t added;
};

/* 0 or -ENOMEM. */
int schedule_add(struct schedule *schedule, int64_t at_ns, void *thing);

/* The time of the first entry; INT64_MAX if the schedule is empty. */
int64_t schedule_first(const struct schedule *schedule);

/* Take the first out. There must be one. */
void *schedule_take(struct schedule *schedule);

void schedule_finish(struct schedule *schedule);

#endif
