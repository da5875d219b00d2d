/* numbers.h - the current state of a crawl, in numbers. */
#ifndef CRAWLER_NUMBERS_H
#define CRAWLER_NUMBERS_H

#include "../crawl/crawl.h"

/* The number of hosts that are listed: those with the most URLs to fetch. */
#define WATCH_HOSTS 100

/* The current activity of a host. */
enum watch_state {
    WATCH_IDLE,    /* no URLs to fetch */
    WATCH_ASKED,   /* requests are in flight */
    WATCH_READY,   /* waits for a worker */
    WATCH_DELAYED, /* waits for its delay, or for Retry-After */
    WATCH_RULES    /* waits for its robots.txt */
};

struct watch_host {
    const char *origin; /* owned by the crawler */
    size_t queued;
    unsigned in_flight;
    int64_t delay_ns; /* between two requests */
    int64_t wait_ns;  /* until the next request is allowed; 0: now */
    enum watch_state state;
    bool is_troubled; /* the host has answered that it is overloaded */
};

struct watch_numbers {
    int64_t elapsed_ns;
    struct crawler_progress urls;
    size_t queued;   /* targets that wait, including retries */
    size_t retrying; /* retries only */
    unsigned in_flight[FRONTIER_CLASSES];
    size_t pages, links, verdicts[VERDICT_COUNT];
    int64_t received_bytes, resident_bytes;
    size_t host_count, delayed_count;
    struct watch_host hosts[WATCH_HOSTS]; /* the busiest first */
    size_t listed;
};

/* Call this in the crawl's loop. The numbers are valid until the crawl continues. */
void watch_count(struct watch_numbers *numbers, const struct crawler *crawler);

/* Return "idle", "asked" and so on. */
const char *watch_state_word(enum watch_state state);

#endif
