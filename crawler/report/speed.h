/* speed.h - measure the speed of a crawl, per host and over time. */
#ifndef CRAWLER_SPEED_H
#define CRAWLER_SPEED_H

#include "../base/arena.h"
#include "../base/table.h"
#include "../verdict/record.h"

#define SPEED_SPANS 120

struct speed_host {
    const char *name;         /* for example "example.org:8080" */
    size_t answers, failures; /* failures are errors, and statuses of 400 or more */
    int64_t total_ns, slowest_ns;
};

struct speed_span {
    size_t answers, failures;
    int64_t bytes;
};

/* Initialize with zeroes. */
struct speed {
    struct speed_host **hosts; /* speed_arrange() puts the slowest first */
    size_t host_count, host_capacity;
    /* consecutive periods; an answer belongs to the period in which it ended */
    struct speed_span spans[SPEED_SPANS];
    int64_t span_ns; /* length of a period, which is doubled when all periods are full */
    size_t span_count;
    size_t answers, failures;
    int64_t total_ns;
    struct table by_name;
    struct arena arena;
};

/* Count an answer and its duration. Returns 0 or -ENOMEM. */
int speed_add(struct speed *speed, const struct record_answer *record);

/* Sort the hosts by mean response time, slowest first. */
void speed_arrange(struct speed *speed);

void speed_finish(struct speed *speed);

#endif
