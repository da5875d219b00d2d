/*
 * search.h - find the URLs and ids in a page while it arrives: decode the page, find its
 * links, and resolve them.
 *
 *     search_begin(search, content_type);
 *     while (rc == 0 && ... more of the page ...)
 *         rc = search_feed(search, html, n);
 *     if (rc == 0)
 *         rc = search_end(search, url, &visitor);
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
    SEARCH_NO_URL,   /* a reference that is not a valid URL */
    SEARCH_TOO_LONG, /* the beginning of a reference that is too long */
    SEARCH_ID        /* an id in the page, not a link */
};

/* A link or id as passed to the visitor. Valid only during the call. */
struct search_found {
    enum search_kind kind;
    const struct link *link; /* the link as written, with its place */
    const struct url *url;   /* the resolved URL, for SEARCH_URL */
    uint64_t mark;           /* the value that expect() returned for this link */
};

/* Receives the links and ids that are found. */
struct search_visitor {
    /* A negative return value ends the search. */
    int (*visit)(const struct search_found *found, void *arg);
    /*
     * These functions, which may be NULL, let the visitor prefetch its data about a URL
     * into the CPU cache. expect() is called as soon as the URL is known, and may return
     * any value. expect_soon() is called with this value a few links later, and visit()
     * again a few links later.
     */
    uint64_t (*expect)(const struct url *url, void *arg);
    void (*expect_soon)(uint64_t mark, void *arg);
    /*
     * Called after `reference` was resolved to `url`, which the function may replace: see
     * local.h. If the reference is not a valid URL, url->href is NULL, and the function
     * may set it. Fails with -EINVAL or -ENOMEM. May be NULL.
     */
    int (*rebase)(const char *reference, struct url *url, void *arg);
    void *arg;
};

/*
 * Create an object with which many pages can be searched, one at a time. Returns NULL if
 * memory runs out. search_destroy() accepts NULL.
 */
struct search *search_create(void);
void search_destroy(struct search *search);

/*
 * Set link->nofollow of links that must not be followed. Call this before the first page.
 */
void search_want_rel(struct search *search);

/*
 * Do not search style sheets, <style> and style attributes. Call this before the first
 * page.
 */
void search_leave_out_css(struct search *search);

/* Drop the current page, if there is one. */
void search_cancel(struct search *search);

/*
 * Begin a page, dropping the current one. `content_type` is copied, and may be NULL. The
 * page is treated as HTML, unless its type is text/markdown, text/mdx, text/css or
 * text/plain.
 */
void search_begin(struct search *search, const char *content_type);

/*
 * Treat the current page as a sitemap if its first bytes look like a sitemap. If
 * `is_named` or `else_html` is true, also accept a feed. `is_named` must be true if the
 * user or a robots.txt calls the page a sitemap: only such a page may be a list of URLs
 * or gzip-compressed. Any other page is searched as HTML if `else_html` is true, and
 * ignored otherwise. If its type is text/xml or the type of a feed, it is also ignored
 * unless its root is <html>.
 */
void search_expect_sitemap(struct search *search, bool is_named, bool else_html);

/* Treat the current page as a feed if it looks like one, otherwise as HTML. */
void search_expect_feed(struct search *search);

/*
 * Guess the type of the current page from its first bytes. Call this if the server did
 * not send a type. HTML and XML are searched. Plain text is searched if `takes_text` is
 * true. Pages of other types are ignored.
 */
void search_expect_unknown(struct search *search, bool takes_text);

/*
 * Process the next piece. Usually only links are stored; but compressed sitemaps,
 * Markdown, and pages whose converter is not open yet are stored completely. Never
 * suspends. Fails with -ENOMEM, or with -EMSGSIZE if more than 1 GiB must be stored.
 */
int search_feed(struct search *search, const char *html, size_t n);

/* Also extract the text of the current page, if it is HTML. */
void search_want_text(struct search *search);

/*
 * Return the text of the last page, as extracted by page_text(), or NULL if
 * search_want_text() was not called or the page is not HTML. The caller frees the text.
 */
char *search_take_text(struct search *search);

/*
 * Record that the rest of the page is missing. search_end() will search the part that has
 * arrived.
 */
void search_break_off(struct search *search);

/* True if it is already known that the page will not be searched. */
bool search_is_ignored(const struct search *search);

/*
 * End the page that was fetched from `url`. Resolve all references, and visit the links
 * and ids in document order. The page is dropped, even after an error.
 *
 * Suspends after every 1000 links to let other tasks run, and while a thread parses
 * Markdown, extracts text, decompresses gzip, or loads a converter from disk. Fails like
 * search_feed(), with -ECANCELED, or with -EAGAIN if no thread is available.
 */
COIL_SUSPENDS int search_end(struct search *search, const char *url,
                             const struct search_visitor *visitor);

/*
 * Resolve and visit the links that find() passes to visit(), for example links in the
 * headers of the page. The links are relative to `url`, even if the page has a different
 * base. Call this before search_end(), or without a page.
 */
COIL_SUSPENDS int
search_links(struct search *search,
             int (*find)(links_visit_function visit, void *visit_arg, void *arg),
             void *arg, const char *url, const struct search_visitor *visitor);

/*
 * These functions return whether the last page was searched, whether it can have ids to
 * which fragments refer, and whether it was Markdown.
 */
bool search_was_page(const struct search *search);
bool search_has_ids(const struct search *search);
bool search_was_markdown(const struct search *search);

/* Return the error in the last page, such as "line 3: mismatched tag", or NULL. */
const char *search_problem(const struct search *search);

#endif
