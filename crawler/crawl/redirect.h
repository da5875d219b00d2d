/*
 * redirect.h - handle pages that redirect.
 */
#ifndef CRAWLER_REDIRECT_H
#define CRAWLER_REDIRECT_H

#include "enqueue.h"

/*
 * Follow a page's redirect: enqueue its target, whose verdict becomes the page's verdict.
 * page->status must be set. `location` is the Location header as received, or NULL.
 *
 * Sets *reopens to true if the redirect closes a loop whose pages are fetched again to
 * send a cookie. In a replay, the caller must initialize *reopens with the decision of
 * the earlier run. Fails like verdicts_settle().
 */
int redirect_follow(struct enqueuer *enqueuer, struct target *page, const char *location,
                    bool *reopens);

#endif
