/*
 * crawled.h - the outcome of a crawl, made by hand, for the tests of reports.
 */
#ifndef TESTS_CRAWLER_CRAWLED_H
#define TESTS_CRAWLER_CRAWLED_H

#include "../../crawler/judge/reference.h"
#include "../../crawler/options/options.h"
#include "../../crawler/files/out.h"
#include "../../crawler/verdict/record.h"

struct crawled {
    struct targets targets;
    struct references references;
    struct options options; /* whose start is http://h/ */
    struct record_summary summary;
    bool links_are_known; /* the baseline has those that are added */
};

void crawled_init(struct crawled *crawled);
void crawled_finish(struct crawled *crawled);

/* The target of http://h and this path, or of a whole URL, which becomes wanted; ok at first. */
struct target *crawled_target(struct crawled *crawled, const char *path);

/* The same with a verdict. */
struct target *crawled_bad(struct crawled *crawled, const char *path,
                           enum verdict verdict, enum reason reason, int status);

/* The same, missing: 404. */
struct target *crawled_missing(struct crawled *crawled, const char *path);

/* A link to it. Places beyond REFERENCES_KEPT are counted only. */
void crawled_link(struct crawled *crawled, struct target *target, const char *page,
                  unsigned line, unsigned column, const char *text);

/* What a report has written, until the next call. */
struct out *crawled_out(void);
const char *crawled_written(void);

#endif
