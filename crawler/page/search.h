/*
 * search.h - the URLs that a page points at, found while the page comes.
 *
 *     search_begin(search, content_type);
 *     while (rc == 0 && ... more of the page ...)
 *         rc = search_feed(search, html, n);
 *     if (rc == 0)
 *         rc = search_end(search, url, visit, arg);
 */
#ifndef CRAWLER_SEARCH_H
#define CRAWLER_SEARCH_H

#include "link/links.h"
#include "../url/url.h"

#include <coil/base.h>

#include <stdint.h>

struct search;

enum search_kind {
    SEARCH_URL,      /* a URL */
    SEARCH_NO_URL,   /* a text that is no URL */
    SEARCH_TOO_LONG, /* the beginning of one that is too long to be kept */
    SEARCH_ID        /* no link, but a place in the page that links may point at */
};

/* All of it lasts for the call. */
struct search_found {
    enum search_kind kind;
    const struct link *link; /* where it stands, and how it is written */
    const struct url *url;   /* of SEARCH_URL */
    uint64_t mark;           /* what search_expect() has returned for it */
};

/* Whoever is told of what is found. */
struct search_visitor {
    /* Returns below 0 to end the search with that. */
    int (*visit)(const struct search_found *found, void *arg);
    /*
     * This URL is to be visited after some others, and so is, sooner, the one with that mark:
     * time to fetch what is known of them into the cache. Returns the URL's own mark. NULL:
     * nobody cares.
     */
    uint64_t (*expect)(const struct url *url, void *arg);
    void (*expect_soon)(uint64_t mark, void *arg);
    /* What `reference` was resolved to may mean something else: local.h. If url->href is NULL, it is no
       URL, but may become one. Fails with -EINVAL, -ENOMEM. NULL: never. */
    int (*rebase)(const char *reference, struct url *url, void *arg);
    void *arg;
};

/* For one page after the other; NULL without memory. NULL may be destroyed. */
struct search *search_create(void);
void search_destroy(struct search *search);

/* Tell whether links are to be followed: link->nofollow. Before the first page. */
void search_want_rel(struct search *search);

/* Leave out style sheets, <style> and style attributes. Before the first page. */
void search_leave_out_css(struct search *search);

/* Forget a page that is not searched to its end. */
void search_cancel(struct search *search);

/* A page begins, whatever came of the last. `content_type` may be NULL, and is copied. The page is
   HTML, unless the type is text/markdown, text/mdx, text/css or text/plain. */
void search_begin(struct search *search, const char *content_type);

/*
 * The page that has begun may be a sitemap, if its first bytes look like one, or, if `else_html`, a
 * feed. `is_named`: somebody says that it is, so it may also be a feed, a list of URLs, or any of them
 * in gzip. What is none of these is HTML if `else_html`, and is not searched otherwise.
 */
void search_expect_sitemap(struct search *search, bool is_named, bool else_html);

/* It may be a feed, and is HTML otherwise. */
void search_expect_feed(struct search *search);

/* The type of the page that has begun is unknown: its first bytes decide. Plain text is searched if
   `takes_text`; other types than HTML, XML and text are ignored. */
void search_expect_unknown(struct search *search, bool takes_text);

/*
 * The next piece of it. Nothing of it is kept but its links, unless it is the first in its
 * encoding, or a sitemap in gzip. Never suspends. Fails with -ENOMEM, or -EMSGSIZE where there is more to keep than
 * anybody would.
 */
int search_feed(struct search *search, const char *html, size_t n);

/* The text of the page that has begun is wanted, too, if it is HTML. */
void search_want_text(struct search *search);

/* Take the text of the page that was searched last, as page_text() makes it, for free(). NULL if it
   was not wanted, or the page is not HTML. */
char *search_take_text(struct search *search);

/* The page goes on behind what has been fed, and search_end() is to search only that. */
void search_break_off(struct search *search);

/* True once it is known that the page is not searched. */
bool search_is_ignored(const struct search *search);

/*
 * The page, which came from `url`, is at its end: resolve each reference, and visit them and the
 * ids in the order of the page. Suspends now and then, so that a page with very many links
 * does not hold up others, for a converter that iconv(3) has on disk, for Markdown, and for gzip. Fails
 * as search_feed(), with -ECANCELED, or -EAGAIN where these get no thread. Whatever comes of it,
 * the page is forgotten.
 */
COIL_SUSPENDS int search_end(struct search *search, const char *url,
                             const struct search_visitor *visitor);

/*
 * The same of links that find() calls `visit` with: those in a header that came with the page, say;
 * they are relative to `url`, whatever base the page has. Before the page's end, or without a page.
 */
COIL_SUSPENDS int
search_links(struct search *search,
             int (*find)(links_visit_function visit, void *visit_arg, void *arg),
             void *arg, const char *url, const struct search_visitor *visitor);

/* Of the page that was searched last: whether it was something to be searched, and whether that has
   places which links may point at. */
bool search_was_page(const struct search *search);
bool search_has_ids(const struct search *search);
bool search_was_markdown(const struct search *search);

/* What was wrong with the page that was searched last, "line 3: mismatched tag", or NULL. */
const char *search_problem(const struct search *search);

#endif
