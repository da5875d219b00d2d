/*
 * search.h - find the URLs in a page while it arrives.
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
     * Called before visit(), so that the visitor can prefetch its data about the URL into
     * the CPU cache. expect() is called first, and returns a mark. A few links later,
     * expect_soon() is called with this mark. Both functions may be NULL.
     */
    uint64_t (*expect)(const struct url *url, void *arg);
    void (*expect_soon)(uint64_t mark, void *arg);
    /*
     * Called after `reference` was resolved to `url`. The function may replace the URL,
     * as for local files (see local.h). If url->href is NULL, the reference is not a
     * valid URL, but rebase() may set one. Fails with -EINVAL or -ENOMEM. May be NULL.
     */
    int (*rebase)(const char *reference, struct url *url, void *arg);
    void *arg;
};

/*
 * Create an object that searches one page after another. Returns NULL if memory runs out.
 * search_destroy() accepts NULL.
 */
struct search *search_create(void);
void search_destroy(struct search *search);

/* Find out which links have nofollow, and set link->nofollow. Call this before the first
 * page. */
void search_want_rel(struct search *search);

/*
 * Do not search style sheets, <style> and style attributes. Call this before the first
 * page.
 */
void search_leave_out_css(struct search *search);

/* Drop the current page, if there is one. */
void search_cancel(struct search *search);

/*
 * Begin a page, and drop an unfinished one. `content_type` is copied, and may be NULL.
 * The page is HTML, unless the type is text/markdown, text/mdx, text/css or text/plain.
 */
void search_begin(struct search *search, const char *content_type);

/*
 * Treat the current page as a sitemap if its first bytes look like one. If `else_html` is
 * true, also accept a feed. `is_named` means that the user or a robots.txt calls the page
 * a sitemap. Such a page may also be a feed or a list of URLs, and may be compressed with
 * gzip. If the page is none of these, search it as HTML if `else_html` is true, and
 * ignore it otherwise.
 */
void search_expect_sitemap(struct search *search, bool is_named, bool else_html);

/* Treat the current page as a feed if it looks like one, otherwise as HTML. */
void search_expect_feed(struct search *search);

/*
 * Guess the type of the current page from its first bytes, because the server did not
 * send a type. Plain text is searched if `takes_text` is true. Types other than HTML, XML
 * and text are ignored.
 */
void search_expect_unknown(struct search *search, bool takes_text);

/*
 * Process the next piece. Usually only links are stored. Compressed sitemaps, Markdown,
 * and pages whose converter is not open yet are stored as a whole. Never suspends. Fails
 * with -ENOMEM, or with -EMSGSIZE if more than 1 GiB must be stored.
 */
int search_feed(struct search *search, const char *html, size_t n);

/* Also extract the text of the current page, if it is HTML. */
void search_want_text(struct search *search);

/*
 * Return the text of the last page in the form of page_text(). The caller frees the text.
 * Returns NULL if search_want_text() was not called, or if the page is not HTML.
 */
char *search_take_text(struct search *search);

/* Record that the rest of the page is missing. search_end() then searches the part that
 * has arrived. */
void search_break_off(struct search *search);

/* True if it is already known that the page will not be searched. */
bool search_is_ignored(const struct search *search);

/*
 * End the page, which came from `url`. Resolve all references, and visit the links and
 * ids in document order. The page is dropped even if this fails.
 *
 * If the page has many links, the call suspends from time to time to let other tasks run.
 * The call also suspends while a thread parses Markdown, decompresses gzip, or loads a
 * converter from disk. Fails with the errors of search_feed(), with -ECANCELED, or with
 * -EAGAIN if no thread is available.
 */
COIL_SUSPENDS int search_end(struct search *search, const char *url,
                             const struct search_visitor *visitor);

/*
 * Resolve and visit the links that find() passes to `visit`, for example those in headers
 * of the page. These links are relative to `url`, even if the page has another base. Call
 * this before search_end(), or without a page.
 */
COIL_SUSPENDS int
search_links(struct search *search,
             int (*find)(links_visit_function visit, void *visit_arg, void *arg),
             void *arg, const char *url, const struct search_visitor *visitor);

/*
 * Return properties of the last page: whether it was searched at all, whether it can have
 * ids that fragments refer to, and whether it was Markdown.
 */
bool search_was_page(const struct search *search);
bool search_has_ids(const struct search *search);
bool search_was_markdown(const struct search *search);

/* Return the error in the last page, such as "line 3: mismatched tag", or NULL. */
const char *search_problem(const struct search *search);

#endif
