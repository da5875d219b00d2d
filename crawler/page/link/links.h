/*
 * links.h - find the links in an HTML page or a style sheet that arrives in pieces.
 *
 *     links_init(&links);
 *     while (... more of the page ...)
 *         rc = links_feed(&links, html, n);
 *     rc = links_end(&links);
 *     rc = links_visit(&links, false, visit, arg);
 *     links_reset(&links);       // for the next page
 *     links_finish(&links);
 *
 * Only the links of the page are stored. The functions do not use coil, and can run on
 * any thread.
 */
#ifndef CRAWLER_LINKS_H
#define CRAWLER_LINKS_H

#include "../css/css.h"
#include "../html/html_tokenizer.h"
#include "../html/html_tree.h"

enum link_kind {
    /*
     * <base href>, to which other links are relative; at most one per page, visited first
     */
    LINK_BASE,
    LINK_OTHER,
    LINK_ID /* not a link, but an id to which fragments refer; only with `wants_ids` */
};

/* A link as passed to the visitor. Valid only during the call. */
struct link {
    enum link_kind kind;
    const char *reference; /* the link as written, with character references decoded */
    bool stays;            /* `reference` stays valid until the page is dropped */
    /*
     * The bases of this link, one URL per line, each relative to the previous one, and
     * the first to the base of the page. NULL if the link itself is relative to the base
     * of the page.
     */
    const char *base;
    bool nofollow;   /* its `rel` or the page forbids following the link */
    bool cut;        /* the reference was truncated to HTML_VALUE_BYTES */
    bool is_sitemap; /* the link refers to a sitemap */
    /* its query is always in UTF-8, as in style sheets and headers */
    bool has_no_encoding;
    const char *element; /* name of the element; or NULL */
    /* name of the attribute; in a style sheet "url()", "@import" or "image-set()" */
    const char *attribute;
    /* Position of the attribute's value, or of the URL in a style sheet. */
    struct html_position place;
};

typedef int (*links_visit_function)(const struct link *link, void *arg);

/*
 * The links of a page, and the state of the search. The struct has many members, because
 * all functions that the tokenizer calls share the state of the current tag.
 */
struct links {
    bool wants_ids; /* also visit links of kind LINK_ID; initially false */
    bool wants_rel; /* set `nofollow`; initially false */
    bool wants_css; /* also search <style> and style attributes; initially false */
    bool nofollow;  /* a <meta name=robots> forbids following the page's links */

    /* The other members are private to links.c. */
    struct html_tokenizer tokenizer;
    struct html_tree tree;
    struct html_buffer bytes; /* all stored values, as written */
    struct kept_value *kept;
    size_t count, capacity;
    size_t body_at; /* number of values stored before the body began */
    size_t base;    /* 1 + the index of the <base>; 0 without one */
    /* The following members describe the current tag. */
    enum html_element element;
    enum html_attribute attribute;
    /* where the tag's values begin in `kept` and `bytes` */
    size_t tag_at, bytes_at;
    uint32_t wanted;                   /* bit mask of the wanted attributes */
    struct html_buffer text, css_text; /* scratch buffers for links_visit() */
    struct css css;
    bool is_sheet;    /* the page is a style sheet */
    bool in_style;    /* a <style> is open */
    bool form_is_get; /* the last <form> is submitted with GET */
    unsigned depth;   /* number of srcdoc attributes around the document */
};

/* Initialize the struct, without allocating memory. */
void links_init(struct links *links);
void links_finish(struct links *links);

/*
 * Drop the current page. Memory is kept for the next page, except that needed only for
 * unusually large pages.
 */
void links_reset(struct links *links);

/* Treat the next page as a style sheet. Call this before the page's first piece. */
void links_expect_sheet(struct links *links);

/*
 * Treat the next page as XHTML instead of HTML: elements may be empty ("<title/>"), and
 * CDATA sections are allowed everywhere. Call this before the page's first piece.
 */
void links_expect_xml(struct links *links);

/*
 * Process the next piece of the page. The page must be in UTF-8, or in another encoding
 * in which ASCII bytes always represent ASCII characters. Malformed pages are accepted,
 * as in browsers. Fails with -ENOMEM, or -EMSGSIZE if more than 1 GiB must be stored.
 */
int links_feed(struct links *links, const char *html, size_t n);
int links_end(struct links *links);

/*
 * End a page that was not received completely, ignoring an unfinished tag or URL. Call
 * this instead of links_end().
 */
void links_break_off(struct links *links);

/*
 * Call visit() for every stored link, in document order, until visit() returns nonzero.
 * Returns the last value that visit() returned, or -ENOMEM.
 */
int links_visit(struct links *links, bool is_windows_1252, links_visit_function visit,
                void *arg);

#endif
