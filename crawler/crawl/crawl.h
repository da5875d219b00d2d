/*
 * crawl.h - fetch every page of a site once, and check every link on it.
 *
 *     struct crawler crawler;
 *
 *     rc = crawler_init(&crawler, &options, NULL, sinks, count);
 *     if (rc == 0)
 *         rc = coil_run(crawler_run, &crawler, NULL);
 *     ... read the results in crawler.targets and crawler.verdicts ...
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
    struct state *state; /* receives the results of this crawl; or NULL */
    struct store
        *earlier; /* an earlier crawl that this one continues or reports; or NULL */
    struct recheck *recheck; /* saved answers to validate; or NULL */
    int64_t bytes;           /* summary.bytes after the replay: bytes of earlier runs */
    int64_t earlier_ns;      /* the duration of earlier runs */
    bool is_only_reported;   /* `report` or `diff`: nothing is fetched */
};

/* Results of crawler_run() that are not in the summary. */
struct crawl_result {
    char *complaint;      /* error message that is more precise than the errno; or NULL */
    int64_t begin_ns;     /* start of crawler_run(), minus the duration of earlier runs */
    size_t fetched_count; /* number of pages and files that were read successfully */
    bool is_finished;     /* the saved crawl is complete, and its file records that */
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
    bool takes_no_links; /* links are ignored: set by crawler_ask() */
};

/* Initialize the crawler, which must not be moved afterwards. Targets are stored in
   `cold`, or on the heap if `cold` is NULL (see targets_init()). The arguments, and
   pointers that the caller sets in the crawler later, must outlive the crawler. Returns 0
   or -ENOMEM. */
int crawler_init(struct crawler *crawler, const struct options *options,
                 struct cold *cold, const struct record_sink *sinks, size_t sink_count);

/* Run the crawl. This is a task function, and its argument is the crawler. Pages that
   fail are results, not errors. Fails with -ECANCELED, -ENOMEM, or the error of a sink or
   of the crawl's file. Every target then has a verdict, even if the crawl failed. */
COIL_SUSPENDS int crawler_run(void *arg);

void crawler_finish(struct crawler *crawler);

/* Attach a saved crawl, which crawler_run() then continues, rechecks or reports. Call
   this after crawler_init(). `saved` must outlive the crawler. */
void crawler_take_saved(struct crawler *crawler, const struct saved_crawl *saved);

/* If the crawl is saved, write the results since the last call to its file. Call this
   about once a second. Fails like state_save_if_due(). */
COIL_SUSPENDS int crawler_save(struct crawler *crawler);

/* Begin and end a check of single URLs with crawler_ask(). Both functions are also used
   by crawler_run(). crawler_open() returns 0 or -ENOMEM. Call crawler_close() in both
   cases. */
int crawler_open(struct crawler *crawler);
void crawler_close(struct crawler *crawler);

/* Fetch the targets that were enqueued since crawler_open(), and follow their redirects
   but not their links. Fails like crawler_run(). */
COIL_SUSPENDS int crawler_ask(struct crawler *crawler);

/* Number of targets that were enqueued, number of those that are done, and number of
   targets with a bad verdict. */
struct crawler_progress {
    size_t known, done, bad;
};

struct crawler_progress crawler_progress(const struct crawler *crawler);

#endif
