/*
 * retry.h - which answers are worth another try, and when.
 */
#ifndef CRAWLER_RETRY_H
#define CRAWLER_RETRY_H

#include "answer.h"

/* After the answer to the try of that number, from 1. */
struct retry {
    bool again;       /* what failed may pass */
    bool is_refusal;  /* the server asks to slow down: it is not the page that failed */
    int64_t pause_ns; /* until then: 0.2 s, then twice that and so on */
    int64_t host_ns;  /* the pause of Retry-After; 0: no header */
};

/* `now` is a time(2). */
struct retry retry_after(const struct answer *answer, unsigned tries, int64_t now);

/* The pause that a Retry-After header asks for, in nanoseconds from `now`, a time(2). 0
   if the header is not understood. (RFC 9110, section 10.2.3) */
int64_t retry_after_header(const char *header, int64_t now);

#endif
