/*
 * diff.h - compare two crawls, and report changes from OK to broken and back.
 *
 *     struct record_sink sink = diff_sink(&diff.earlier);  // all records of one crawl
 *     ... likewise with &diff.later for the other crawl ...
 *     rc = diff_compare(&diff, fail_on);
 *     sink = diff_links_sink(&diff.earlier);               // all records once more
 *     ...
 *     rc = diff_write(&diff, &out, is_jsonl);
 */
#ifndef CRAWLER_DIFF_H
#define CRAWLER_DIFF_H

#include "../base/arena.h"
#include "../base/table.h"
#include "../verdict/record.h"
#include "../files/out.h"

/* The verdicts of one crawl. Initialize with zeroes. */
struct diff_side {
    struct table verdicts; /* maps "URL#fragment" to struct diff_verdict */
    struct diff_verdict *first, *last;
    size_t count;
    const char *page; /* URL of the page with the latest link */
    struct arena arena;
};

struct diff {
    struct diff_side earlier, later;
    /* number of targets with each kind of change, set by diff_compare() */
    size_t broken, mended, unlinked, still;
};

/*
 * diff_sink() returns a sink that stores verdicts, and diff_links_sink() one that stores
 * the links to targets whose verdict has changed. The sinks fail only with -ENOMEM.
 */
struct record_sink diff_sink(struct diff_side *side);
struct record_sink diff_links_sink(struct diff_side *side);

/*
 * Compare the verdicts of both crawls. A target is broken if fail_on[verdict] is true.
 * Returns 0 or -ENOMEM.
 */
int diff_compare(struct diff *diff, const bool fail_on[VERDICT_COUNT]);

/* Write the changes, sorted by URL. Returns 0, -ENOMEM, or the writer's error. */
int diff_write(struct diff *diff, struct out *out, bool is_jsonl);

/* Free the members. A zeroed struct is accepted. */
void diff_finish(struct diff *diff);

#endif
