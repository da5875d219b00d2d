/*
 * crawled.h - builds the result of a crawl without crawling, for tests of reports.
 */
#ifndef TESTS_CRAWLER_CRAWLED_H
#define TESTS_CRAWLER_CRAWLED_H

#include "../../../crawler/judge/reference.h"
#include "../../../crawler/options/options.h"
#include "../../../crawler/files/out.h"
#include "../../../crawler/verdict/record.h"

struct crawled {
    struct targets targets;
    struct references references;
    struct options options; /* the crawl starts at http://h/ */
    struct record_summary summary;
    bool links_are_known; /* whether links added from now on are in the baseline */
};

void crawled_init(struct crawled *crawled);
void crawled_finish(struct crawled *crawled);

/*
 * Return the target with this absolute URL, or with this path on http://h. The target is
 * marked as wanted, and has the verdict ok.
 */
struct target *crawled_target(struct crawled *crawled, const char *path);

/* Like crawled_target(), but with the given verdict. */
struct target *crawled_bad(struct crawled *crawled, const char *path,
                           enum verdict verdict, enum reason reason, int status);

/* Like crawled_target(), but with the status 404. */
struct target *crawled_missing(struct crawled *crawled, const char *path);

/* Add a link to the target. Links beyond REFERENCES_KEPT are only counted. */
void crawled_link(struct crawled *crawled, struct target *target, const char *page,
                  unsigned line, unsigned column, const char *text);

/*
 * crawled_out() returns an output for the report, which is written to memory.
 * crawled_written() closes this output, and returns the written text, which is valid
 * until the next call.
 */
struct out *crawled_out(void);
const char *crawled_written(void);

#endif
