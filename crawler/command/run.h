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

/* The time after which the program exits even if the C library is still doing a DNS query
   in a thread. */
#define DRAIN_NS COIL_SEC(1)

#define PROGRESS_NS COIL_MSEC(100)

struct run {
    const struct options *options;
    struct reports reports;
    struct crawler crawler;
    struct cache *cache;
    struct baseline *baseline;
    struct saved_crawl saved; /* zeroes if the crawl is not saved */
    struct warc *warc;
    struct watch watch;
    coil_task *task;            /* the task that crawls */
    int (*body)(void *crawler); /* the function of the task; see run_crawl() */
};

/* Call body(&run->crawler) in an event loop, with tasks that handle signals, write the
   reports every second, and show the progress line. Returns the result of `body`. */
int run_crawl(struct run *run, int (*body)(void *crawler));

/* Call fn(arg) in an event loop of its own, with the backend that --backend names. */
int run_in_loop(const struct options *options, int (*fn)(void *arg), void *arg);

bool run_wants_progress(const struct options *options);

/* Open or close the WARC of --warc. Both return 0, or print a message and return a
   negative errno. */
int run_open_warc(struct run *run);
int run_close_warc(struct run *run);

#endif
