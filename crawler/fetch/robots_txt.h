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
 * answer, no page may be fetched, and host->robots.failure is set. Exception: the pages
 * of a host that cannot be reached are requested, to report the error for each of them.
 * Fails with errors that end the crawl: -ECANCELED and -ENOMEM. Also fails if
 * retry_is_lack(); the state is ROBOTS_WANTED then.
 */
COIL_SUSPENDS int robots_txt_get(struct requester *requester, struct host *host);

/*
 * Return 1 if the host's rules forbid this URL of the host, 0 if they allow it, or
 * -ENOMEM. Stores in *line the number of the line in robots.txt that applies to the URL,
 * or 0.
 */
int robots_txt_forbids(const struct host *host, const char *url, unsigned *line);

#endif
