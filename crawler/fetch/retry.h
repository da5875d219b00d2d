/*
 * retry.h - decide whether to try a request again, and when.
 */
#ifndef CRAWLER_RETRY_H
#define CRAWLER_RETRY_H

#include "answer.h"

/*
 * True if a request or the reading of a file failed because this process, or the system,
 * has too many open descriptors or too little memory for buffers. Such a failure says
 * nothing about the page. ENOMEM is not included, because it always ends the crawl.
 */
bool retry_is_lack(int rc);

struct retry {
    bool again;       /* try again: the failure may be temporary */
    bool is_refusal;  /* the server asks the crawler to slow down */
    int64_t pause_ns; /* until the next try: 0.2 s, doubled each time up to 30 s */
    int64_t host_ns;  /* delay requested with Retry-After, or 0 */
};

/*
 * Decide whether to try again. `answer` is the result of try number `tries`, which begins
 * at 1. `now` is the current time(2).
 */
struct retry retry_after(const struct answer *answer, unsigned tries, int64_t now);

/*
 * Return the delay in a Retry-After header in nanoseconds, or 0 if the header is invalid.
 * `now` is the current time(2). (RFC 9110, section 10.2.3)
 */
int64_t retry_after_header(const char *header, int64_t now);

#endif
