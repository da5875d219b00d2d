/*
 * outcome.h - what became of the search of a page that was fetched: for people, and for its verdict.
 */
#ifndef CRAWLER_OUTCOME_H
#define CRAWLER_OUTCOME_H

#include "judge.h"
#include "../frontier/target.h"

struct outcome {
    const char *content_type; /* NULL: unknown */
    int problem;              /* below 0: why it could not be searched; page_search.h */
    const char *flaw;         /* what ended the search before its end, or NULL */
    size_t limit;             /* so many of its bytes were searched; 0: all */
    bool is_named_as_sitemap; /* a start that is XML */
};

/*
 * The verdict of a page that was fetched without a failure. A sitemap that is malformed, or
 * none at all, is an error, since the pages that it should list are not checked. If the page was not
 * searched, or not to its end, `message` becomes the reason, else "".
 */
struct judgement outcome_judge(const struct target *page, const struct outcome *outcome,
                               char *message, size_t room);

#endif
