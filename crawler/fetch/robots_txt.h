/*
 * robots_txt.h - fetch the robots.txt of a host, and apply its rules. (RFC 9309)
 */
#ifndef CRAWLER_ROBOTS_TXT_H
#define CRAWLER_ROBOTS_TXT_H

#include "request.h"

/*
 * Fetch the robots.txt of the host. Sets host->robots.state to ROBOTS_KNOWN, or to
 * ROBOTS_WANTED if the request failed and must be repeated at host->pace.next_ns. A
 * status of 400 to 499 allows everything. After a status of 500 or more, or without an
 * answer, no page may be fetched, and host->robots.failure is the reason. However, if the
 * host cannot be reached at all, its pages are requested, so that each page reports the
 * error. Fails only with errors that end the crawl: -ECANCELED and -ENOMEM.
 */
COIL_SUSPENDS int robots_txt_get(struct requester *requester, struct host *host);

/* Return 1 if the host's rules forbid this URL of the host, 0 if they allow it, or
   -ENOMEM. *line is set to the number of the line in robots.txt that applies to the URL,
   or to 0. */
int robots_txt_forbids(const struct host *host, const char *url, unsigned *line);

#endif
