/*
 * numbers.h - collect numbers that describe the current state of a crawl.
 */
#ifndef CRAWLER_NUMBERS_H
#define CRAWLER_NUMBERS_H

#include "../crawl/crawl.h"

/* Maximum number of listed hosts, which are the hosts with the most URLs to fetch. */
#define WATCH_HOSTS 100

/* The current activity of a host. */
enum watch_state {
    WATCH_IDLE,    /* the host's URLs are all fetched */
    WATCH_ASKED,   /* requests are in flight */
    WATCH_READY,   /* the host is waiting for a worker */
    WATCH_DELAYED, /* the host is waiting because of its delay or Retry-After */
    WATCH_RULES    /* the host is waiting for its robots.txt */
};

struct watch_host {
    const char *origin; /* origin of the host, owned by the crawler */
    size_t queued;
    unsigned in_flight;
    int64_t delay_ns; /* delay between two requests to the host */
    int64_t wait_ns;  /* time until the next request is allowed, or 0 */
    enum watch_state state;
    bool is_troubled; /* host_pace.is_troubled */
};

/*
 * The state of a crawl. The struct has many members, because each is a number on the
 * status page.
 */
struct watch_numbers {
    int64_t elapsed_ns;
    struct crawler_progress urls;
    size_t queued;   /* number of waiting targets, including retries */
    size_t retrying; /* number of targets that are waiting for a retry */
    unsigned in_flight[FRONTIER_CLASSES];
    size_t pages, links, verdicts[VERDICT_COUNT];
    int64_t received_bytes, resident_bytes;
    size_t host_count, delayed_count;
    struct watch_host hosts[WATCH_HOSTS]; /* the busiest first */
    size_t listed;
};

/*
 * Collect the numbers. Must be called on the thread of the crawl. Strings are valid until
 * the crawl continues.
 */
void watch_count(struct watch_numbers *numbers, const struct crawler *crawler);

/* Return the name of a state: "idle", "asked" and so on. */
const char *watch_state_word(enum watch_state state);

#endif
