/*
 * outcome.h - the result of searching a fetched page: its verdict, and a message for
 * people.
 */
#ifndef CRAWLER_OUTCOME_H
#define CRAWLER_OUTCOME_H

#include "judge.h"
#include "../frontier/target.h"

struct outcome {
    const char *content_type; /* NULL: unknown */
    int problem;              /* below 0: why it could not be searched; page_search.h */
    const char *flaw;         /* why the search stopped before the end; or NULL */
    size_t limit;             /* only this many bytes were searched; 0: all */
    bool is_named_as_sitemap; /* a start that is XML */
};

/*
 * Judge a page that was fetched without a failure. If a page that should be a sitemap is
 * not, or is malformed, it is an error: the pages that it should list are not checked. If
 * the page was not searched to its end, `message` is set to the reason, else to "".
 */
struct judgement outcome_judge(const struct target *page, const struct outcome *outcome,
                               char *message, size_t room);

#endif
