/*
 * rules.h - asking a host for its robots.txt, and heeding it. (RFC 9309)
 */
#ifndef CRAWLER_RULES_H
#define CRAWLER_RULES_H

#include "crawler.h"

/*
 * Ask for it; host->robots is ROBOTS_KNOWN then. A status of 400 to 499 allows everything, 500
 * and more, or no answer, nothing; where nobody is there to ask, the pages will tell. Fails
 * with what must end the crawl: -ECANCELED, -ENOMEM.
 */
COIL_SUSPENDS int rules_get(struct crawler *crawler, struct host *host);

/* 1 if the URL, which is of this host, is not to be asked for, 0 if it is, or -ENOMEM. *line
   is that of robots.txt; 0 if none decided. */
int rules_forbid(const struct host *host, const char *url, unsigned *line);

#endif
