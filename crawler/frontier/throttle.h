/*
 * throttle.h - adapt the rate of requests to a host that limits that rate.
 *
 *     due = throttle_due(&throttle, now);            when the next request may be sent
 *     throttle_spend(&throttle, now);                a request is being sent
 *     throttle_accept(&throttle, now);               the request was answered,
 *     advice = throttle_refuse(&throttle, &refusal);
 *
 * Until a host refuses a request, only the options limit its requests. From then on, each
 * request takes a token from a bucket. Refusals halve the rate at which the bucket is
 * filled, and answers slowly raise it: additive increase, multiplicative decrease (Chiu
 * and Jain, "Analysis of the Increase and Decrease Algorithms", 1989).
 *
 * The functions do not read the clock: the caller passes the current time, coil_now().
 */
#ifndef CRAWLER_THROTTLE_H
#define CRAWLER_THROTTLE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * The rate limit of a host, and the history of its answers, on which the rules in
 * throttle.c depend. Initialize with zeroes. The struct has many members, because these
 * rules consider many facts.
 */
struct throttle {
    double rate;   /* requests per second; 0: no limit */
    double growth; /* how much the rate rises per second while the host answers */
    double tokens; /* tokens in the bucket at filled_ns */
    int64_t filled_ns;
    int64_t cut_ns;       /* when the rate was last cut */
    int64_t grown_ns;     /* when the rate was last cut or the growth last doubled */
    int64_t answered_ns;  /* time of the last answer that was not a refusal; or 0 */
    int64_t first_ns;     /* time of the first refusal after answered_ns; or 0 */
    int64_t last_ns;      /* time of the last refusal */
    int64_t asked_for_ns; /* Retry-After of the last refusal, or 0 */
    /*
     * The last ten answers since the rate was last cut. Bit 0 is the latest answer; a 1
     * means a refusal.
     */
    uint16_t recent;
    uint8_t recent_count;
    uint8_t grown_count; /* answers since grown_ns */
    uint8_t rested;      /* number of refusals since answered_ns that followed a rest */
    uint8_t proven;      /* number of calls of throttle_prove() in a row */
    bool is_limit;       /* a test has shown that the host limits the rate */
    bool is_given_up;    /* the host has refused for too long: do not try pages again */
    bool is_unrelated;   /* the host's refusals do not depend on the rate */
};

struct throttle_refusal {
    int64_t sent_ns, now_ns; /* when the request was sent, and when it was refused */
    int64_t retry_after_ns;  /* 0: no Retry-After */
    bool is_too_many;        /* the status is 429, not 503 */
    bool is_external;        /* the page is not on the site */
    bool is_rested;          /* result of frontier_begin_request() */
    unsigned page_refusals;  /* number of earlier refusals of this page */
    unsigned max_tries;      /* --max-tries */
};

#define THROTTLE_PAGE_REFUSALS 7 /* maximum value of target->refusals */

enum throttle_advice {
    THROTTLE_AGAIN, /* try the page again, after throttle_pause_ns() */
    /* try the page again after throttle_rest_ns(), before any other page of the host */
    THROTTLE_TEST,
    THROTTLE_FAILURE, /* treat the refusal as an ordinary failure, which uses up a try */
    THROTTLE_FINAL    /* the refusal is the page's verdict */
};

/*
 * throttle_due() returns the time at which the bucket has a token for the next request.
 * throttle_spend() takes a token. throttle_accept() and throttle_refuse() record an
 * answer.
 */
int64_t throttle_due(const struct throttle *throttle, int64_t now);
void throttle_spend(struct throttle *throttle, int64_t now);
void throttle_accept(struct throttle *throttle, int64_t now);
enum throttle_advice throttle_refuse(struct throttle *throttle,
                                     const struct throttle_refusal *refusal);

/*
 * Return true if the refused request was a test of the page, which had been refused
 * before. `refusal->is_rested` must be true.
 */
bool throttle_is_test(const struct throttle_refusal *refusal);

/*
 * Record the result of a test. Call throttle_prove() if the tested page was refused, and
 * the host then answered the request for another page. Call throttle_disprove() if the
 * host answered the request for the tested page.
 */
void throttle_prove(struct throttle *throttle);
void throttle_disprove(struct throttle *throttle);

/* Return how long the host gets no requests before a test. */
int64_t throttle_rest_ns(const struct throttle *throttle);

/*
 * Return how long to wait before the page is tried again: the server's Retry-After if
 * present, otherwise 0.2 s, doubled for each earlier refusal of the page, up to 6.4 s.
 */
int64_t throttle_pause_ns(const struct throttle_refusal *refusal);

#endif
