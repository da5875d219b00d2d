/*
 * outcome.h - judge a fetched page by the result of its search.
 */
#ifndef CRAWLER_OUTCOME_H
#define CRAWLER_OUTCOME_H

#include "judge.h"
#include "../frontier/target.h"

struct outcome {
    const char *content_type; /* NULL: unknown */
    int problem;              /* 0, or the error of the search: page_search.h */
    const char *flaw;         /* message that says why the search ended early; or NULL */
    size_t limit;             /* number of bytes that were searched if cut off; or 0 */
    bool is_named_as_sitemap; /* the page is a start in XML */
};

/*
 * Return the verdict on a page that was fetched successfully. If the page should be a
 * sitemap, but is something else or malformed, the verdict is an error, because the pages
 * that the sitemap should list are not checked. `message` is set to the reason why the
 * page was not searched to its end, or to "".
 */
struct judgement outcome_judge(const struct target *page, const struct outcome *outcome,
                               char *message, size_t room);

#endif
