/*
 * process.h - process the answer of a page: find its links, and settle its verdict.
 *
 * A saved crawl is replayed through the same functions: its answers come from a file.
 */
#ifndef CRAWLER_PROCESS_H
#define CRAWLER_PROCESS_H

#include "../fetch/answer.h"
#include "worker.h"

/* Search the page, or follow its redirect, and settle its verdict. 0, -ECANCELED,
   -ENOMEM, or the failure of a sink. */
COIL_SUSPENDS int process_answer(struct worker *worker, struct target *page,
                                 struct answer *answer);

/* Settle a page that `line` of robots.txt forbids. Fails like verdicts_settle(). */
int forbid_page(struct crawler *crawler, struct target *page, unsigned line);

/* Settle a page that is not fetched because the robots.txt of its host could not be
   fetched. Fails like verdicts_settle(). */
int fail_page(struct crawler *crawler, struct target *page, const struct answer *failure);

#endif
