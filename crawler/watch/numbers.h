/*
 * numbers.h - how a crawl stands at the moment.
 */
#ifndef CRAWLER_NUMBERS_H
#define CRAWLER_NUMBERS_H

#include "../crawl/crawl.h"

/* So many hosts are named: those with the most to be asked for. */
#define WATCH_HOSTS 100

/* Why nothing is asked of a host at the moment, or that something is. */
enum watch_state {
    WATCH_IDLE,    /* nothing to be asked for */
    WATCH_ASKED,   /* requests are at work */
    WATCH_READY,   /* waits for a worker */
    WATCH_DELAYED, /* waits for its delay or its Retry-After */
    WATCH_RULES    /* waits for its robots.txt */
};

struct watch_host {
    const char *origin; /* the crawler's */
    size_t queued;
    unsigned in_flight;
    int64_t delay_ns; /* between two requests */
    int64_t wait_ns;  /* until it may be asked again; 0: now */
    enum watch_state state;
    bool is_troubled; /* it has said that it can take no more */
};

struct watch_numbers {
    int64_t elapsed_ns;
    struct crawler_progress urls;
    size_t queued;   /* targets that wait, those to be tried again among them */
    size_t retrying; /* those alone */
    unsigned in_flight[FRONTIER_CLASSES];
    size_t pages, links, verdicts[VERDICT_COUNT];
    int64_t received_bytes, resident_bytes;
    size_t host_count, delayed_count;
    struct watch_host hosts[WATCH_HOSTS]; /* the busiest first */
    size_t listed;
};

/* In the crawl's loop. Good until the crawl goes on. */
void watch_count(struct watch_numbers *numbers, const struct crawler *crawler);

/* "idle", "asked", ... */
const char *watch_state_word(enum watch_state state);

#endif
