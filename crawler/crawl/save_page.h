/*
 * save_page.h - save the result of a page in the crawl's file or in a shared crawl.
 *
 * The functions return 0, -ENOMEM, or the error of the file.
 */
#ifndef CRAWLER_SAVE_PAGE_H
#define CRAWLER_SAVE_PAGE_H

#include "../fetch/answer.h"
#include "process.h"

/* True if the results of pages are saved. */
bool saves_pages(const struct crawler *crawler);

/*
 * Save the server's answer for a page, so that a resumed crawl does not fetch the page
 * again. Call this after process_answer(), and only if saves_pages() is true.
 */
int save_answer(const struct visit *visit, const struct answer *answer);

/* Record that `line` of robots.txt forbids the page. */
int save_forbidden(struct crawler *crawler, const struct target *page, unsigned line);

/* Record that the robots.txt of the page's host could not be fetched. */
int save_failed_rules(struct crawler *crawler, const struct target *page,
                      const struct answer *failure);

/*
 * Record that the page was given up, because too many processes ended while fetching it.
 */
int save_given_up(struct crawler *crawler, const struct target *page);

/*
 * Save the sitemaps listed in a host's robots.txt. The caller has stored them in
 * pages->links. `rules` is the target of the robots.txt.
 */
int save_sitemaps(const struct page_search *pages, struct host *host,
                  const struct target *rules);

#endif
