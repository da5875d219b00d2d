/* redirect.h - follow the redirect of a page. */
#ifndef CRAWLER_REDIRECT_H
#define CRAWLER_REDIRECT_H

#include "enqueue.h"

/*
 * Follow the redirect of a page with status page->status. `location` is the header as
 * received, or NULL. The page's verdict depends on the verdict of the redirect's target.
 *
 * *reopens is set to true if the redirect closes a loop, and the pages of the loop are
 * fetched again to send a cookie. During a replay, the caller sets *reopens to the
 * decision of the earlier run. Fails like verdicts_settle().
 */
int redirect_follow(struct enqueuer *enqueuer, struct target *page, const char *location,
                    bool *reopens);

#endif
