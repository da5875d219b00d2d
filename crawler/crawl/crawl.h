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

/*
 * Borrowed pointers to the files of saved crawls, and data about earlier runs. All
 * members are zero if the crawl is not saved.
 */
struct crawl_saving {
    struct state *state;     /* receives the results of this crawl; or NULL */
    struct store *earlier;   /* the earlier crawl to continue or report; or NULL */
    struct recheck *recheck; /* saved answers to validate; or NULL */
    int64_t bytes;           /* bytes received in earlier runs */
    int64_t earlier_ns;      /* total duration of earlier runs */
    bool is_only_reported;   /* the command is `report` or `diff`: fetch nothing */
};

/* Results of crawler_run() that are not in the summary. */
struct crawl_result {
    char *complaint;      /* error message that is more precise than the errno; or NULL */
    int64_t begin_ns;     /* when crawler_run() began, minus saving.earlier_ns */
    size_t fetched_count; /* number of pages and files that were read successfully */
    bool is_finished;     /* the crawl's file records that the crawl is complete */
    bool out_of_time;     /* --max-duration has passed */
};

/*
 * The complete state of a crawl. Most functions receive only the member that they need;
 * docs/design/crawler.md lists the exceptions.
 */
struct crawler {
    const struct options *options;
    struct targets targets;
    struct frontier frontier;
    struct requester requester;
    struct verdicts verdicts;
    struct enqueuer enqueuer;
    struct text_checks texts;
    struct local local; /* the files and folders that the user named */
    struct crawl_saving saving;
    struct member *member; /* set in a shared crawl (member.h), else NULL */
    struct crawl_result result;
    bool takes_no_links; /* do not follow links: set by crawler_fetch() */
};

/*
 * Initialize the crawler, which must not be moved afterwards. Targets are stored in
 * `cold`, or on the heap if `cold` is NULL (see targets_init()). Objects passed here or
 * assigned to members later must outlive the crawler. Returns 0 or -ENOMEM.
 */
int crawler_init(struct crawler *crawler, const struct options *options,
                 struct cold *cold, const struct record_sink *sinks, size_t sink_count);

/*
 * Run the crawl. This is a task function whose argument is the crawler. Pages that cannot
 * be fetched are not errors. Fails with -ECANCELED, -ENOMEM, or the error of a sink or of
 * the crawl's file. When this function returns, every target has a verdict, even after an
 * error.
 */
COIL_SUSPENDS int crawler_run(void *arg);

void crawler_finish(struct crawler *crawler);

/* Attach a saved crawl, which crawler_run() then continues, rechecks or reports. Call
   this after crawler_init(). `saved` must outlive the crawler. */
void crawler_take_saved(struct crawler *crawler, const struct saved_crawl *saved);

/*
 * Write the new results to the crawl's file, if the crawl is saved. Call this about once
 * a second. Fails like state_save_if_due().
 */
COIL_SUSPENDS int crawler_save(struct crawler *crawler);

/*
 * Call crawler_open() before the first crawler_fetch(), and crawler_close() after the
 * last. crawler_run() calls both functions itself. crawler_open() returns 0 or -ENOMEM;
 * crawler_close() must be called even if it fails.
 */
int crawler_open(struct crawler *crawler);
void crawler_close(struct crawler *crawler);

/* Fetch the targets that were enqueued since crawler_open(), and follow their redirects
   but not their links. Fails like crawler_run(). */
COIL_SUSPENDS int crawler_fetch(struct crawler *crawler);

/* Numbers of enqueued targets, of finished targets, and of targets with a bad verdict. */
struct crawler_progress {
    size_t known, done, bad;
};

struct crawler_progress crawler_progress(const struct crawler *crawler);

#endif
