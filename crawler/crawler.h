/*
 * crawler.h - visit every page of a site once.
 *
 *     struct crawler crawler;
 *
 *     rc = crawler_init(&crawler, &options);
 *     rc = coil_run(crawler_run, &crawler, NULL);
 *     ... report on crawler.pages ...
 *     crawler_finish(&crawler);
 */
#ifndef CRAWLER_CRAWLER_H
#define CRAWLER_CRAWLER_H

#include "page.h"
#include "table.h"

#include <coil/http.h>
#include <coil/queue.h>

struct crawler_options {
    const char *start_url; /* made by url_resolve() */
    const char *user_agent;
    unsigned max_tasks;     /* workers */
    unsigned max_redirects; /* in a row */
    unsigned max_tries;     /* of a URL, where the network fails */
    int64_t timeout_ns;     /* of one try */
    size_t body_limit;      /* of an HTML page */
    bool progress;          /* a line on stderr */
    bool verbose;           /* a line on stderr for each URL */
};

struct crawler_totals {
    size_t done, html, files, redirects, broken; /* URLs of the site */
    size_t external;                             /* URLs of other sites */
    size_t links;
    int64_t bytes, duration_ns;
};

struct crawler {
    struct crawler_options options;
    coil_http_session *session;
    coil_queue queue;    /* of struct job, in crawler.c */
    struct table seen;   /* every URL ever met, to its page */
    struct page **pages; /* the same, in the order in which they were met */
    size_t page_count, page_capacity;
    struct crawler_totals totals;
};

/* `options` is copied; its strings must outlive the crawler. 0 or -ENOMEM. */
int crawler_init(struct crawler *crawler, const struct crawler_options *options);

/*
 * Crawl; a task's body, `arg` being the crawler. A page that fails is a fact about the
 * site, not a failure: 0. -ECANCELED if the task was cancelled, -ENOMEM if the crawl
 * could not go on; what was found out until then is in the pages all the same.
 */
COIL_SUSPENDS int crawler_run(void *arg);

void crawler_finish(struct crawler *crawler);

#endif
