/*
 * redirect.h - going where a server sends one.
 */
#ifndef CRAWLER_REDIRECT_H
#define CRAWLER_REDIRECT_H

#include "crawl.h"

/*
 * The page redirects, with page->status, to `location`, as the server wrote it; NULL if it did
 * not. Its verdict follows from where that leads. Fails as verdicts_settle().
 */
int redirect_follow(struct crawler *crawler, struct target *page, const char *location);

/* The fragment in the Location of a page that redirects, as in a URL; NULL if it has
   none, or if fragments are not checked. */
const char *redirect_place(const struct crawler *crawler, const struct target *page);

#endif
