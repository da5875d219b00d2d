/*
 * speed.h - how fast a crawl was: its hosts, and its course over time.
 */
#ifndef CRAWLER_SPEED_H
#define CRAWLER_SPEED_H

#include "../base/arena.h"
#include "../base/table.h"
#include "../verdict/record.h"

#define PACE_SPANS 120

struct pace_host {
    const char *name;         /* "example.org:8080" */
    size_t answers, failures; /* without an answer, or with a status of 400 or more */
    int64_t total_ns, slowest_ns;
};

struct pace_span {
    size_t answers, failures;
    int64_t bytes;
};

/* Zeroes are none. */
struct pace {
    struct pace_host **hosts; /* the slowest first once they are arranged */
    size_t host_count, host_capacity;
    struct pace_span spans[PACE_SPANS]; /* by when the answer was there */
    int64_t span_ns; /* the length of each: doubled when they are full */
    size_t span_count;
    size_t answers, failures;
    int64_t total_ns;
    struct table by_name;
    struct arena arena;
};

/* 0 or -ENOMEM. */
int pace_add(struct pace *pace, const struct record_answer *record);

/* Sort the hosts, by the mean of their answers. */
void pace_arrange(struct pace *pace);

void pace_finish(struct pace *pace);

#endif
