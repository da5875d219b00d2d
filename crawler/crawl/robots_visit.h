/* robots_visit.h - fetch the robots.txt of a host, and settle pages that it forbids. */
#ifndef CRAWLER_ROBOTS_VISIT_H
#define CRAWLER_ROBOTS_VISIT_H

#include "page_search.h"

/* Fetch the robots.txt of the job's host, and report its sitemaps. Fails like
   robots_txt_get(), or with the error of a sink or a file. */
COIL_SUSPENDS int robots_visit(struct page_search *pages, const struct frontier_job *job);

/*
 * Return 0 if the job's page may be fetched. Return 1 if it was settled because
 * robots.txt forbids it or could not be fetched, or if it was requeued because robots.txt
 * is outdated and must be fetched again first. Fails like verdicts_settle().
 */
int robots_settle(struct crawler *crawler, const struct frontier_job *job);

#endif
