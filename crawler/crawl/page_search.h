/*
 * page_search.h - search a page: create targets for its links, and store its ids (the ids
 * and names of its elements, to which fragments refer).
 */
#ifndef CRAWLER_PAGE_SEARCH_H
#define CRAWLER_PAGE_SEARCH_H

#include "../page/search.h"
#include "../saved/link_blob.h"
#include "../saved/saved_urls.h"
#include "crawl.h"

/* The state of a search. Each worker uses one such struct for all of its pages. */
struct page_search {
    struct crawler *crawler;
    bool nofollow;         /* an X-Robots-Tag header forbids following the page's links */
    struct search *search; /* receives the bytes of the page: search.h */
    uint64_t *ids;         /* hashes of the ids of the page being searched */
    size_t id_count, id_capacity;
    bool is_replay; /* pages are read from the file of a saved crawl */
    struct link_blob
        /* the page's links, only in a saved or shared crawl; emptied before each page */
        links;
};

/*
 * Initialize the search. Returns 0 or -ENOMEM. page_search_finish() must be called even
 * after an error.
 */
int page_search_init(struct page_search *pages, struct crawler *crawler);
void page_search_finish(struct page_search *pages);

/* The input of a search. */
struct page_source {
    const char *base; /* base URL of the links */
    bool has_body;    /* the search has received the body or its beginning */
    bool is_cut;      /* the search has received only the beginning of the body */
    const coil_http_response *response; /* headers to search; or NULL */
};

/* The results of a search, except for the targets of the links. */
struct page_findings {
    size_t links; /* number of links that were reported */
    int problem;  /* 0, or the negative errno with which the search failed */
};

/* A page of a saved crawl. */
struct saved_page {
    const struct store_page *page; /* or NULL */
    const struct saved_urls *urls; /* the URLs of its links */
};

/*
 * Finish the search of a page: store its ids, report each link, and decide whether to
 * fetch the link's target. On other sites, and in files that the user did not name, links
 * are ignored. If there is neither a body nor a header to search, do nothing.
 *
 * Fails only with errors that must end the crawl: -ECANCELED, -ENOMEM, or the error of a
 * sink.
 */
COIL_SUSPENDS int page_search_end(struct page_search *pages, struct target *page,
                                  const struct page_source *source,
                                  struct page_findings *found);

/*
 * Report the Sitemap lines in a host's robots.txt as links. The robots.txt must have been
 * fetched. The sitemaps get depth 1. Stores the target of the robots.txt in *rules, or
 * NULL if the file does not list any sitemaps.
 */
COIL_SUSPENDS int page_search_robots(struct page_search *pages, const struct host *host,
                                     const struct target **rules);

/*
 * Report the links and store the ids of a saved page, like page_search_end() for a
 * fetched page. Also fails with -EBADMSG if the file is damaged.
 */
COIL_SUSPENDS int page_search_replay(struct page_search *pages, struct target *page,
                                     const struct saved_page *saved,
                                     struct page_findings *found);

#endif
