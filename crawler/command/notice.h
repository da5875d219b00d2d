/*
 * notice.h - print messages about the end of a crawl to stderr.
 */
#ifndef CRAWLER_NOTICE_H
#define CRAWLER_NOTICE_H

#include "../crawl/crawl.h"
#include "command.h"

/*
 * Print a message and free it. If it is NULL, print the system's message for the error
 * `rc`. Returns `rc`.
 */
int notice_failure(char *message, int rc);

/* Print why the crawl ended with this status. `complaint` is the crawler's message, or
   NULL. */
void notice_end(enum exit_status status, int rc, const char *complaint);

/*
 * Print which start URLs were not fetched or not searched, and how many URLs were not
 * checked.
 */
void notice_gaps(const struct crawler *crawler, enum exit_status status);

#endif
