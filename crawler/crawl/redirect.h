/*
 * redirect.h - going where a server sends one.
 */
#ifndef CRAWLER_REDIRECT_H
#define CRAWLER_REDIRECT_H

#include "enqueue.h"

/*
 * Follow the redirect of a page, with page->status, to `location` as the server wrote it;
 * NULL if there was none. The page's verdict follows from the target's.
 *
 * *reopens is true if the redirect closes a loop that is fetched once more, for a cookie.
 * During a replay it says so before the call, as the earlier run has decided. Fails as
 * verdicts_settle().
 */
int redirect_follow(struct enqueuer *enqueuer, struct target *page, const char *location,
                    bool *reopens);

#endif
