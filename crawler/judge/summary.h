/*
 * summary.h - compute the totals for all reports at the end of the crawl.
 */
#ifndef CRAWLER_SUMMARY_H
#define CRAWLER_SUMMARY_H

#include "verdicts.h"

/*
 * Count all targets, and store the totals in verdicts->summary. All targets must have a
 * verdict.
 */
void summary_count(struct verdicts *verdicts);

#endif
