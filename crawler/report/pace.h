/* pace.h - how fast a crawl was: for each host, and over time. */
#ifndef CRAWLER_PACE_H
#define CRAWLER_PACE_H

#include "../base/arena.h"
#include "../base/table.h"
#include "../crawl/record.h"

#define PACE_SPANS 120

struct pace_host {
    const char *name;         /* for example "example.org:8080" */
    size_t answers, failures; /* `failures`: no answer, or a status of 400 or more */
    int64_t total_ns, slowest_ns;
};

struct pace_span {
    size_t answers, failures;
    int64_t bytes;
};

/* Initialize with zeroes. */
struct pace {
    struct pace_host **hosts; /* after pace_arrange() the slowest is first */
    size_t host_count, host_capacity;
    /* consecutive periods; an answer counts for the period in which it ended */
    struct pace_span spans[PACE_SPANS];
    int64_t span_ns; /* the length of each period, which is doubled when all are full */
    size_t span_count;
    size_t answers, failures;
    int64_t total_ns;
    struct table by_name;
    struct arena arena;
};

/* Returns 0 or -ENOMEM. */
int pace_add(struct pace *pace, const struct record_answer *record);

/* Sort the hosts by their mean response time. */
void pace_arrange(struct pace *pace);

void pace_finish(struct pace *pace);

#endif
