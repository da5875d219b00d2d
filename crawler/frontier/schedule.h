/*
 * schedule.h - a priority queue of objects ordered by time, implemented as a binary heap.
 */
#ifndef CRAWLER_SCHEDULE_H
#define CRAWLER_SCHEDULE_H

#include <stddef.h>
#include <stdint.h>

struct schedule_entry {
    int64_t at_ns;
    uint64_t order; /* orders entries with the same time */
    void *thing;
};

/* Initialize with zeroes. */
struct schedule {
    struct schedule_entry *entries;
    size_t count, capacity;
    uint64_t added;
};

/* Add an object. Returns 0 or -ENOMEM. */
int schedule_add(struct schedule *schedule, int64_t at_ns, void *thing);

/* Return the time of the earliest entry, or INT64_MAX if there is none. */
int64_t schedule_first(const struct schedule *schedule);

/* Remove the earliest entry and return its object. The schedule must not be empty. */
void *schedule_take(struct schedule *schedule);

void schedule_finish(struct schedule *schedule);

#endif
