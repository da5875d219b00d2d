/*
 * diff.h - what broke between two crawls, and what was mended.
 *
 *     struct record_sink sink = diff_sink(&diff.earlier);     // told of all of the first crawl
 *     ... and of the other, &diff.later ...
 *     rc = diff_compare(&diff, fail_on);
 *     sink = diff_links_sink(&diff.earlier);                  // for the same two crawls
 *     ...
 *     rc = diff_write(&diff, &out, is_jsonl);
 */
#ifndef CRAWLER_DIFF_H
#define CRAWLER_DIFF_H

#include "../base/arena.h"
#include "../base/table.h"
#include "../verdict/record.h"
#include "../files/out.h"

/* What a crawl says of each target and fragment. Zeroes are none. */
struct diff_side {
    struct table verdicts; /* "URL#fragment" to struct diff_verdict */
    struct diff_verdict *first, *last;
    size_t count;
    const char *page; /* of the last link */
    struct arena arena;
};

struct diff {
    struct diff_side earlier, later;
    size_t broken, mended, unlinked, still; /* so many, once they are compared */
};

/* Sinks that fail with -ENOMEM alone: of verdicts, and of the links that lead to what
   differs. */
struct record_sink diff_sink(struct diff_side *side);
struct record_sink diff_links_sink(struct diff_side *side);

/* Verdicts in `fail_on` are bad. 0 or -ENOMEM. */
int diff_compare(struct diff *diff, const bool fail_on[VERDICT_COUNT]);

/* In the order of the URLs. 0, -ENOMEM, or the writer's failure. */
int diff_write(struct diff *diff, struct out *out, bool is_jsonl);

/* Zeroes are accepted. */
void diff_finish(struct diff *diff);

#endif
