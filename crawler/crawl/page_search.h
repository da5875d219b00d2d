/*
 * page_search.h - what a page points at, into targets; and its ids.
 */
#ifndef CRAWLER_PAGE_SEARCH_H
#define CRAWLER_PAGE_SEARCH_H

#include "crawl.h"
#include "../page/search.h"
#include "../saved/link_blob.h"
#include "../saved/saved_urls.h"

/* One for each worker. */
struct page_search {
    struct crawler *crawler;
    bool nofollow;         /* the page's header says so of all its links */
    struct search *search; /* to be fed with the page: search.h */
    uint64_t *ids;         /* of the page that is being searched */
    size_t id_count, id_capacity;
    bool is_replay; /* what is searched was kept already */
    struct link_blob
        links; /* that were told of it, if crawler->state is to keep them; emptied
                               by who asks for a page */
};

/* 0 or -ENOMEM; finish it in any case. */
int page_search_init(struct page_search *pages, struct crawler *crawler);
void page_search_finish(struct page_search *pages);

/* What has come of a page. */
struct page_source {
    const char *base;                   /* its links are relative to it */
    bool has_body;                      /* all of it has been fed, */
    bool is_cut;                        /* or its beginning */
    const coil_http_response *response; /* whose headers are searched, too; or NULL */
};

/* True if there is something in it to search. */
bool page_search_is_due(const struct page_source *source);

/*
 * Tell each of a page's links, and see to their targets. Of a target of another site, and a file that nobody named, only the ids are
 * taken. *links becomes their number. What is wrong with the page alone is *problem, a negative
 * errno, or 0. Fails with what must end the crawl: -ECANCELED, -ENOMEM, a sink that fails.
 */
COIL_SUSPENDS int page_search_end(struct page_search *pages, struct target *page,
                                  const struct page_source *source, size_t *links,
                                  int *problem);

/*
 * The same of the Sitemap lines in the robots.txt of a host, whose rules are known: what they name
 * is a link away from where the crawl starts. *rules is that robots.txt, or NULL if it names none.
 */
COIL_SUSPENDS int page_search_robots(struct page_search *pages, const struct host *host,
                                     const struct target **rules);

/*
 * The same of a page that was kept, whose links' URLs are in the book. Fails also with -EBADMSG: it is
 * damaged.
 */
COIL_SUSPENDS int page_search_replay(struct page_search *pages, struct target *page,
                                     const struct store_page *kept,
                                     const struct saved_urls *book, size_t *links,
                                     int *problem);

#endif
