/*
 * save_page.h - the results of a page, for the crawl's file or for a shared crawl.
 *
 * If the crawl is neither saved nor shared, these functions do nothing. They return 0,
 * -ENOMEM, or the failure of the file.
 */
#ifndef CRAWLER_SAVE_PAGE_H
#define CRAWLER_SAVE_PAGE_H

#include "../fetch/answer.h"
#include "worker.h"

/* The answer of a page, after process_answer(): a resumed crawl does not fetch it
   again. */
int save_answer(struct worker *worker, const struct target *page,
                const struct answer *answer);

/* `line` of robots.txt forbids the page. */
int save_forbidden(struct crawler *crawler, const struct target *page, unsigned line);

/* The robots.txt of its host could not be fetched. */
int save_failed_rules(struct crawler *crawler, const struct target *page,
                      const struct answer *failure);

/* Other processes ended while they fetched the page. */
int save_given_up(struct crawler *crawler, const struct target *page);

/* The sitemaps in the robots.txt of a host, whose target is `rules`:
   worker->pages.links. */
int save_sitemaps(struct worker *worker, struct host *host, const struct target *rules);

#endif
