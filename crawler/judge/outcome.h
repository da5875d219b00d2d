/* outcome.h - the verdict of a page that was fetched and searched, with a message. */
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

/* The verdict of a page that was fetched without a failure. A sitemap that is
   malformed, or is not one, is an error, because the pages that it should list are not
   checked. `message` becomes the reason why the page was not searched, or not to its
   end; otherwise "". */
struct judgement outcome_judge(const struct target *page, const struct outcome *outcome,
                               char *message, size_t room);

#endif
