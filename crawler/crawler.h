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
#include "site.h"
#include "table.h"

#include <coil/http.h>
#include <coil/queue.h>

#include <regex.h>

struct crawler;

struct crawler_options {
    const char *const *start_urls; /* made by url_resolve(), one at least */
    size_t start_count;
    const regex_t *exclusions; /* a URL that one of them matches is not fetched */
    size_t exclusion_count;
    const char *user_agent;
    bool lenient;           /* in what belongs to a site: site.h */
    unsigned max_tasks;     /* workers */
    unsigned max_redirects; /* in a row */
    unsigned max_tries;     /* of a URL, where that may help */
    int64_t timeout_ns;     /* of one try */
    size_t body_limit;      /* of an HTML page */
    bool progress;          /* a line on stderr */
    bool verbose;           /* a line on stderr for each URL */
    /* Called once it is cancelled, before those who are at work are waited for; or NULL.
       It must not suspend. */
    void (*on_interrupt)(struct crawler *crawler, void *arg);
    void *arg; /* of on_interrupt() */
};

struct crawler_totals {
    size_t done, html, files, redirects, broken; /* URLs of the site */
    size_t external, excluded;                   /* URLs that are not fetched */
    size_t links;
    int64_t bytes, duration_ns;
};

struct crawler {
    struct crawler_options options;
    coil_http_session *session;
    coil_queue queue;    /* of struct page *, to be visited */
    struct site site;    /* all of them */
    struct table seen;   /* every URL ever met, to its page */
    struct page **pages; /* the same, in the order in which they were met */
    size_t start_count;  /* so many of these are start URLs */
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
