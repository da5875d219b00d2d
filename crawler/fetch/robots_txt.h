/*
 * robots_txt.h - asking a host for its robots.txt, and heeding it. (RFC 9309)
 */
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

/* 1 if the URL, which is of this host, is not to be asked for, 0 if it is, or -ENOMEM. *line
   is that of robots.txt; 0 if none decided. */
int robots_txt_forbids(const struct host *host, const char *url, unsigned *line);

#endif
