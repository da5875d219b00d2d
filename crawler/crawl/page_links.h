/*
 * page_links.h - make the target, reference and record of a link on a page.
 *
 * Only page_search.c uses it.
 */
#ifndef CRAWLER_PAGE_LINKS_H
#define CRAWLER_PAGE_LINKS_H

#include "page_search.h"

struct finding {
    struct page_search *pages;
    struct target *page;
    const char *from; /* the page's URL, if the link may be a trap; or NULL */
    size_t links;
    bool tells_links;
    int rc; /* below 0: the failure that ends the crawl */
};

/* Make the target, reference and record of a link. Fails like page_search_end(). */
int page_note_link(struct finding *finding, const struct search_found *found);

/* For search_visitor.rebase: resolve a link of a local file. */
int page_rebase(const char *reference, struct url *url, void *arg);

#endif
