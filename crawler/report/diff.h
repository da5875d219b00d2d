/*
 * diff.h - what broke between two crawls, and what was mended.
 *
 *     struct record_sink sink = diff_sink(&diff.earlier);     // told of all of the first crawl
 *     ... and of the other, &diff.later ...
 *     rc = diff_write(&diff, fail_on, &out, is_jsonl);
 */
#ifndef CRAWLER_DIFF_H
#define CRAWLER_DIFF_H

#include "../base/arena.h"
#include "../base/table.h"
#include "../crawl/record.h"
#include "../files/out.h"

/* What a crawl says of each target and fragment. Zeroes are none. */
struct diff_side {
    struct table verdicts; /* "URL#fragment" to struct diff_verdict */
    struct diff_verdict *first, *last;
    size_t count;
    struct arena arena;
};

struct diff {
    struct diff_side earlier, later;
    size_t broken, mended, unlinked, still; /* so many, once it is written */
};

struct record_sink diff_sink(struct diff_side *side);

/* In the order of the URLs. What `fail_on` names is bad. 0, -ENOMEM, or the writer's failure. */
int diff_write(struct diff *diff, const bool fail_on[VERDICT_COUNT], struct out *out,
               bool is_jsonl);

/* Zeroes are accepted. */
void diff_finish(struct diff *diff);

#endif
