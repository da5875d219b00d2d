/*
 * worker.h - a task that fetches pages, and its data about the current page.
 */
#ifndef CRAWLER_WORKER_H
#define CRAWLER_WORKER_H

#include "../fetch/answer.h"
#include "crawl.h"
#include "page_search.h"

/* There are many members because each step of a visit stores its results for the next. */
struct worker {
    struct crawler *crawler;
    enum frontier_class class;
    struct page_search pages;
    const struct target *page; /* the page that is fetched */
    const struct store_page
        *saved; /* its answer, if that is from a saved crawl; or NULL */
    const struct saved_urls *saved_urls; /* of that crawl */
    int64_t asked_ns, duration_ns;       /* the last request: when, and how long */
    bool wants_body; /* page->wants_body at the request; a link may set it later */
    bool reopens;    /* its redirect closes a loop that is fetched again */
    bool is_rested;  /* the host had been idle before the request */
    int problem; /* why the page could not be searched: page_search_end(); 0: nothing */
    const char *flaw; /* why the search ended early; or NULL */
};

/* Report the answer of a page, before it is processed. Fails like records_answer(). */
int worker_report_answer(const struct worker *worker, const struct target *page,
                         const struct answer *answer);

/* Task functions, with the crawler as argument: fetch targets of a class until the
   frontier is empty. Return 0, -ECANCELED, -ENOMEM, or the failure of a sink or a
   file. */
COIL_SUSPENDS int worker_run_site(void *crawler);
COIL_SUSPENDS int worker_run_external(void *crawler);

#endif
