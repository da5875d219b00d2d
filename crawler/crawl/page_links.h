/*
 * page_links.h - create the target, the reference and the record of a link on a page.
 *
 * Only page_search.c includes this header.
 */
#ifndef CRAWLER_PAGE_LINKS_H
#define CRAWLER_PAGE_LINKS_H

#include "page_search.h"

struct finding {
    struct page_search *pages;
    struct target *page;
    const char *from; /* the page's URL; NULL: do not check its links for calendars */
    size_t links;
    bool reports_links;
    int rc; /* below 0: the error that ends the crawl */
};

/* True if the crawl can fetch the URL of the link. */
bool page_link_is_followed(const struct finding *finding,
                           const struct search_found *found);

/* Report a link that the crawl can fetch, create its target, and enqueue the target
   unless the link has nofollow. Fails like page_search_end(). */
int page_note_link(struct finding *finding, const struct search_found *found);

/*
 * Report a link that the crawl cannot fetch, such as "mailto:". Create a target with the
 * link's text as its URL, and settle it immediately.
 */
int page_note_text(struct finding *finding, const struct search_found *found);

/* Resolve a link in a local file. Used as search_visitor.rebase. */
int page_rebase(const char *reference, struct url *url, void *arg);

#endif
