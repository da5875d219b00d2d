/*
 * summary.h - the figures of every report, counted at the end of the crawl.
 */
#ifndef CRAWLER_SUMMARY_H
#define CRAWLER_SUMMARY_H

#include "verdicts.h"

/* Count all targets in verdicts->summary. Each target must have a verdict. */
void summary_count(struct verdicts *verdicts);

#endif
