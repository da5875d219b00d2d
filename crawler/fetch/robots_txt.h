/* robots_txt.h - fetch the robots.txt of a host, and apply its rules. (RFC 9309) */
#ifndef CRAWLER_ROBOTS_TXT_H
#define CRAWLER_ROBOTS_TXT_H

#include "request.h"

/*
 * Fetch it. host->robots is then ROBOTS_KNOWN, or ROBOTS_WANTED if it is to be fetched
 * again at host->next_ns, since that failed. A status of 400 to 499 allows everything.
 * After 500 and more, or without an answer, nothing may be fetched: host->rules_failure
 * says why. If the host cannot be reached at all, its pages will report that. Fails with
 * what must end the crawl: -ECANCELED, -ENOMEM.
 */
COIL_SUSPENDS int robots_txt_get(struct requester *requester, struct host *host);

/* Return 1 if robots.txt forbids the URL, which is on this host; 0; or -ENOMEM. *line
   becomes the line that decided, or 0. */
int robots_txt_forbids(const struct host *host, const char *url, unsigned *line);

#endif
