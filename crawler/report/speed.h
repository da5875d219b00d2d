/*
 * speed.h - how fast a crawl was: its hosts, and its course over time.
 */
#ifndef CRAWLER_SPEED_H
#define CRAWLER_SPEED_H

#include "../base/arena.h"
#include "../base/table.h"
#include "../verdict/record.h"

#define SPEED_SPANS 120

struct speed_host {
    const char *name;         /* "example.org:8080" */
    size_t answers, failures; /* without an answer, or with a status of 400 or more */
    int64_t total_ns, slowest_ns;
};

struct speed_span {
    size_t answers, failures;
    int64_t bytes;
};

/* Zeroes are none. */
struct speed {
    struct speed_host **hosts; /* the slowest first once they are arranged */
    size_t host_count, host_capacity;
    struct speed_span spans[SPEED_SPANS]; /* by when the answer was there */
    int64_t span_ns; /* the length of each: doubled when they are full */
    size_t span_count;
    size_t answers, failures;
    int64_t total_ns;
    struct table by_name;
    struct arena arena;
};

/* 0 or -ENOMEM. */
int speed_add(struct speed *speed, const struct record_answer *record);

/* Sort the hosts, by the mean of their answers. */
void speed_arrange(struct speed *speed);

void speed_finish(struct speed *speed);

#endif
