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

int page_note_url(struct finding *finding, const struct search_found *found);

int page_rebase(const char *reference, struct url *url, void *arg);

int page_note_no_url(struct finding *finding, const struct search_found *found);

#endif
