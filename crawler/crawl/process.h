/*
 * process.h - process the answer for a page: find its links, and settle its verdict.
 *
 * worker.c and robots_visit.c call these functions for answers from the network, and
 * replay.c for answers in the file of a saved crawl.
 */
#ifndef CRAWLER_PROCESS_H
#define CRAWLER_PROCESS_H

#include "../fetch/answer.h"
#include "../judge/judge.h"
#include "page_search.h"

/*
 * The state of a visit to one page, in which each step stores its results for later
 * steps.
 */
struct visit {
    struct crawler *crawler;
    struct page_search *pages; /* searches the page */
    struct target *page;
    struct {
        int64_t begin_ns, duration_ns;
        bool wants_body; /* page->wants_body at the time of the request */
        bool is_rested;  /* result of frontier_begin_request() */
    } request;
    struct saved_page saved;    /* answer from a saved crawl, else all zero */
    struct judgement judgement; /* verdict from the answer's status and headers alone */
    struct page_findings found;
    const char *flaw; /* message that explains why the search ended early, or NULL */
    bool reopens;     /* the page's redirect closes a loop, which is fetched again */
};

/* Report the answer, and store its verdict in visit->judgement. Call this first. Fails
   like records_answer(). */
int report_answer(struct visit *visit, const struct answer *answer);

/* Search the page, or follow its redirect, and settle its verdict. Returns 0, -ECANCELED,
   -ENOMEM, or the error of a sink. */
COIL_SUSPENDS int process_answer(struct visit *visit, const struct answer *answer);

/* Settle a page that `line` of robots.txt forbids. Fails like verdicts_settle(). */
int forbid_page(struct crawler *crawler, struct target *page, unsigned line);

/*
 * Settle a page that is not fetched because fetching its host's robots.txt failed. Fails
 * like verdicts_settle().
 */
int fail_page(struct crawler *crawler, struct target *page, const struct answer *failure);

#endif
