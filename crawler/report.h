/*
 * report.h - what came of a crawl, for people and for programs.
 */
#ifndef CRAWLER_REPORT_H
#define CRAWLER_REPORT_H

#include "crawler.h"

#include <stdio.h>

/* One line that overwrites itself on a terminal, and its removal. */
void report_progress(FILE *to, const struct crawler *crawler);
void report_clear_progress(FILE *to);

/* One line about one page that is done. */
void report_page(FILE *to, const struct page *page);

/* A line about each URL that is done, sorted, with its figures. 0 or -ENOMEM. */
int report_table(FILE *to, const struct crawler *crawler);

/* What is broken and who points at it, unless `quiet`, and the totals. */
void report_text(FILE *to, const struct crawler *crawler, bool quiet);

/*
 * One JSON object a line for each URL of the site that is done, in the order in which
 * they were met. What an earlier call has told is left out. Returns 0, or a negative
 * errno of writing.
 */
int report_jsonl(FILE *to, const struct crawler *crawler);

#endif
