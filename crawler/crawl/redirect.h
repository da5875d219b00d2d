/* redirect.h - follow the redirect of a page. */
#ifndef CRAWLER_REDIRECT_H
#define CRAWLER_REDIRECT_H

#include "enqueue.h"

/*
 * Follow the redirect of a page with status page->status. `location` is the Location
 * header as received, or NULL. The page gets the verdict of the redirect's target.
 *
 * *reopens is set to true if the redirect closes a loop whose pages are fetched again to
 * send a cookie. In a replay, the caller first sets *reopens to the decision of the
 * earlier run. Fails like verdicts_settle().
 */
int redirect_follow(struct enqueuer *enqueuer, struct target *page, const char *location,
                    bool *reopens);

#endif
