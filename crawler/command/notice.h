/*
 * notice.h - messages to stderr about the end of a crawl, for people.
 */
#ifndef CRAWLER_NOTICE_H
#define CRAWLER_NOTICE_H

#include "../crawl/crawl.h"
#include "command.h"

/* Print a message and free it; NULL: the one of `rc`. Returns rc. */
int notice_failure(char *message, int rc);

/* Why the crawl ended with this status. `complaint` is the crawler's message, or NULL. */
void notice_end(enum exit_status status, int rc, const char *complaint);

/* Starts that were not fetched, links that were not checked, starts that were not
   searched. */
void notice_gaps(const struct crawler *crawler, enum exit_status status);

#endif
