/*
 * outcome.h - judge a fetched page by the result of its search: its verdict, and a
 * message for people.
 */
#ifndef CRAWLER_OUTCOME_H
#define CRAWLER_OUTCOME_H

#include "judge.h"
#include "../frontier/target.h"

struct outcome {
    const char *content_type; /* NULL: unknown */
    int problem;              /* below 0: why the page was not searched; page_search.h */
    const char *flaw;         /* why the search stopped before the end; or NULL */
    size_t limit;             /* only this many bytes were searched; or 0 */
    bool is_named_as_sitemap; /* the page is a start in XML */
};

/*
 * Judge a page that was fetched successfully. If the page should be a sitemap, but is not
 * one or is malformed, the verdict is an error, because the pages that the sitemap should
 * list are not checked. If the page was not searched to its end, `message` is set to the
 * reason, otherwise to "".
 */
struct judgement outcome_judge(const struct target *page, const struct outcome *outcome,
                               char *message, size_t room);

#endif
