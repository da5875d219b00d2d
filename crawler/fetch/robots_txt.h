/*
 * robots_txt.h - fetch the robots.txt of a host, and apply its rules. (RFC 9309)
 */
#ifndef CRAWLER_ROBOTS_TXT_H
#define CRAWLER_ROBOTS_TXT_H

#include "request.h"

/*
 * Fetch the robots.txt of the host. Sets host->robots.state to ROBOTS_KNOWN, or to
 * ROBOTS_WANTED if the request failed and must be repeated at host->next_ns. A status of
 * 400 to 499 allows everything. After a status of 500 or more, or without an answer, no
 * page may be fetched, and host->robots.failure is the reason. If the host cannot be
 * reached at all, its pages are still requested, so that each reports the error. Fails
 * only with errors that end the crawl, -ECANCELED and -ENOMEM.
 */
COIL_SUSPENDS int robots_txt_get(struct requester *requester, struct host *host);

/* Return 1 if the host's rules forbid this URL of the host, 0 if they allow it, or
   -ENOMEM. *line is set to the number of the deciding line in robots.txt, or to 0 if no
   line decides. */
int robots_txt_forbids(const struct host *host, const char *url, unsigned *line);

#endif
