/*
 * retry.h - decide whether a request is tried again, and when.
 */
#ifndef CRAWLER_RETRY_H
#define CRAWLER_RETRY_H

#include "answer.h"

/* The decision after a try. */
struct retry {
    bool again;       /* try again: the failure may be temporary */
    bool is_refusal;  /* the server asks the crawler to slow down */
    int64_t pause_ns; /* before the next try: 0.2 s, doubled with each try up to 30 s */
    int64_t host_ns;  /* delay that Retry-After requests, or 0 */
};

/* Decide whether to try again. `answer` is the answer to try number `tries`, which counts
   from 1. `now` is the current time(2). */
struct retry retry_after(const struct answer *answer, unsigned tries, int64_t now);

/*
 * Return the delay in nanoseconds that a Retry-After header requests, or 0 if the header
 * is invalid. `now` is the current time(2). (RFC 9110, section 10.2.3)
 */
int64_t retry_after_header(const char *header, int64_t now);

#endif
