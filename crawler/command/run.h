/*
 * run.h - one run of a crawl: its files, and the tasks that run during it.
 */
#ifndef CRAWLER_RUN_H
#define CRAWLER_RUN_H

#include "../crawl/crawl.h"
#include "../report/reports.h"
#include "../saved/saved_crawl.h"
#include "../watch/watch.h"
#include "command.h"

/*
 * How long the program waits at its end for DNS queries that the C library makes in
 * threads.
 */
#define DRAIN_NS COIL_SEC(1)

#define PROGRESS_NS COIL_MSEC(100)

struct run {
    const struct options *options;
    struct reports reports;
    struct crawler crawler;
    struct cache *cache;
    struct baseline *baseline;
    struct saved_crawl saved; /* all zero if the crawl is not saved */
    struct warc *warc;
    struct watch watch;
    coil_task *task;            /* the task that crawls */
    int (*body)(void *crawler); /* function of the task; see run_crawl() */
};

/*
 * Call body(&run->crawler) in an event loop. Meanwhile, other tasks handle signals, write
 * the reports every second, and show the progress line. Returns the result of body().
 */
int run_crawl(struct run *run, int (*body)(void *crawler));

/*
 * Call fn(arg) in a new event loop with the backend of --backend. Returns the result of
 * fn().
 */
int run_in_loop(const struct options *options, int (*fn)(void *arg), void *arg);

bool run_wants_progress(const struct options *options);

/* Open or close the WARC of --warc. Both return 0, or print a message and return a
   negative errno. */
int run_open_warc(struct run *run);
int run_close_warc(struct run *run);

#endif
