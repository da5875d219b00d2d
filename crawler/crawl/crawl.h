/*
 * crawl.h - fetch every page of a site once, and check every link on it.
 *
 *     struct crawler crawler;
 *
 *     rc = crawler_init(&crawler, &options, NULL, sinks, count);
 *     if (rc == 0)
 *         rc = coil_run(crawler_run, &crawler, NULL);
 *     ... crawler.targets and crawler.verdicts have the results ...
 *     crawler_finish(&crawler);
 */
#ifndef CRAWLER_CRAWL_H
#define CRAWLER_CRAWL_H

#include "../fetch/request.h"
#include "../files/local.h"
#include "../saved/saved_crawl.h"
#include "enqueue.h"
#include "text_checks.h"

#include <coil/http.h>

struct member;

/* The files of a saved crawl. The pointers are borrowed. The struct is zeroed if the
   crawl is not saved. */
struct crawl_saving {
    struct state *state; /* where the results of this crawl are written; or NULL */
    struct store
        *earlier; /* an earlier crawl that this one continues or reports; or NULL */
    struct recheck *recheck; /* saved answers to validate; or NULL */
    int64_t bytes;           /* the part of summary.bytes that is already in the file */
    int64_t earlier_ns;      /* the duration of earlier runs */
    bool is_only_reported;   /* the crawl is only reported: nothing is fetched */
};

/* Results of the run that are not in the summary. */
struct crawl_result {
    char *complaint;      /* the error message, if errno is not enough; or NULL */
    int64_t begin_ns;     /* start of crawler_run(), minus the duration of earlier runs */
    size_t fetched_count; /* pages and files of the site that were OK */
    bool is_finished;     /* nothing is left to fetch, and the file records that */
    bool out_of_time;     /* --max-duration has passed */
};

/* The parts of a crawl. Most functions receive only the part that they need;
   docs/design/crawler.md lists the exceptions. */
struct crawler {
    const struct options *options;
    struct targets targets;
    struct frontier frontier;
    struct requester requester;
    struct verdicts verdicts;
    struct enqueuer enqueuer;
    struct text_checks texts;
    struct local local; /* files and folders among the starts */
    struct crawl_saving saving;
    struct member *member; /* set in a shared crawl (member.h), else NULL */
    struct crawl_result result;
    bool takes_no_links; /* links are not followed, because crawler_ask() is used */
};

/* Initialize the crawler, which must not be moved afterwards. Targets are stored in
   `cold`, or on the heap if `cold` is NULL (see targets_init()). The crawler borrows its
   arguments, and pointers that the caller sets in it later. Returns 0 or -ENOMEM. */
int crawler_init(struct crawler *crawler, const struct options *options,
                 struct cold *cold, const struct record_sink *sinks, size_t sink_count);

/* Run the crawl: a task function whose argument is the crawler. Returns 0 even if pages
   fail, because failed pages are a result. Fails with -ECANCELED, -ENOMEM, or the error
   of a sink or of the crawl's file. Afterwards every target has a verdict, even if the
   crawl failed. */
COIL_SUSPENDS int crawler_run(void *arg);

void crawler_finish(struct crawler *crawler);

/* Continue, recheck or report a saved crawl, after crawler_init(). `saved` must
   outlive the crawler. */
void crawler_take_saved(struct crawler *crawler, const struct saved_crawl *saved);

/* If the crawl is saved, write the results since the last call to its file. Call this
   function about once a second. Fails like state_save_if_due(). */
COIL_SUSPENDS int crawler_save(struct crawler *crawler);

/* The first and last steps of crawler_run(), for callers that only check some URLs.
   crawler_open() may fail with -ENOMEM. Call crawler_close() even then. */
int crawler_open(struct crawler *crawler);
void crawler_close(struct crawler *crawler);

/* Fetch the targets that were enqueued since crawler_open() and the targets of their
   redirects, without following links. Fails like crawler_run(). */
COIL_SUSPENDS int crawler_ask(struct crawler *crawler);

/* The numbers of pages that were found, that are done, and that have a bad verdict. */
struct crawler_progress {
    size_t known, done, bad;
};

struct crawler_progress crawler_progress(const struct crawler *crawler);

#endif
