/*
 * outcome.h - derive the verdict on a fetched page from the result of its search.
 */
#ifndef CRAWLER_OUTCOME_H
#define CRAWLER_OUTCOME_H

#include "judge.h"
#include "../frontier/target.h"

struct outcome {
    const char *content_type; /* NULL: unknown */
    int problem;              /* 0, or the error of the search: page_search.h */
    const char *flaw;         /* why the search ended early; or NULL */
    size_t limit;             /* size at which the page was cut off; or 0 */
    bool is_named_as_sitemap; /* see page_is_named_as_sitemap() */
};

/*
 * Return the verdict on a page that was fetched successfully. If the page should be a
 * sitemap but is not a valid one, the verdict is an error, because the pages listed in it
 * are not checked. Stores in `message` why the page was not searched completely, or "".
 */
struct judgement outcome_judge(const struct target *page, const struct outcome *outcome,
                               char *message, size_t room);

#endif
