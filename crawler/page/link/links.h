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
    /* <base href>, which other links are relative to; at most one, and visited first */
    LINK_BASE,
    LINK_OTHER,
    LINK_ID /* not a link, but an id that fragments can name; only if wants_ids */
};

/* Valid during the call. */
struct link {
    enum link_kind kind;
    const char *reference; /* as written, with character references decoded */
    /*
     * The base of this link, or NULL for the base of the page. These are URLs, one per
     * line. The first is relative to the page's base, and each other to the line before
     * it.
     */
    const char *base;
    bool nofollow;         /* because of its `rel`, or of the page */
    bool cut;              /* shortened, because it is longer than HTML_VALUE_BYTES */
    bool is_sitemap;       /* it refers to a sitemap */
    bool has_no_encoding;  /* in a style sheet or header, so that its query is in UTF-8 */
    const char *element;   /* NULL outside of elements */
    const char *attribute; /* or "url()", "@import" or "image-set()" in a style sheet */
    /* the position of the attribute's value, or of the URL in a style sheet */
    struct html_position place;
};

typedef int (*links_visit_function)(const struct link *link, void *arg);

struct links {
    bool wants_ids; /* visit links of kind LINK_ID, too; initially false */
    bool wants_rel; /* set `nofollow`; initially false */
    bool wants_css; /* search <style> and style attributes, too; initially false */
    bool nofollow;  /* a <meta name=robots> sets it for the whole page */

    /* The rest is private to links.c. */
    struct html_tokenizer tokenizer;
    struct html_tree tree;
    struct html_buffer bytes; /* all stored values, as written */
    struct kept_value *kept;
    size_t count, capacity;
    size_t body_at; /* number of values stored before the body began */
    size_t base;    /* 1 + the index of the base; 0: none */
    /* About the current tag: */
    enum html_element element;
    enum html_attribute attribute;
    size_t tag_at, bytes_at;           /* where it began in `kept` and `bytes` */
    uint32_t wanted;                   /* a bit for each wanted attribute */
    struct html_buffer text, css_text; /* scratch buffers for links_visit() */
    struct css css;
    bool is_sheet;    /* the page is a style sheet */
    bool in_style;    /* a <style> is open */
    bool form_is_get; /* the last <form> is submitted by GET */
    unsigned depth;   /* number of enclosing srcdoc attributes */
};

/* Nothing is allocated before the first page. */
void links_init(struct links *links);
void links_finish(struct links *links);

/* Forget the page, but reuse as much memory as most pages need. */
void links_reset(struct links *links);

/* Treat the next page as a style sheet. Call this before the page's first piece. */
void links_expect_sheet(struct links *links);

/*
 * Treat the next page as XHTML: elements may be empty ("<title/>"), and CDATA sections
 * are allowed everywhere. Otherwise it is read as HTML. Call this before the page's first
 * piece.
 */
void links_expect_xml(struct links *links);

/*
 * Process the next piece of the page, which is UTF-8, or another encoding in which the
 * bytes of ASCII always mean ASCII characters. Malformed pages are accepted, as in
 * browsers. Fails with -ENOMEM, or -EMSGSIZE if more than 1 GiB must be stored.
 */
int links_feed(struct links *links, const char *html, size_t n);
int links_end(struct links *links);

/*
 * Call this instead of links_end() if the rest of the page is missing. An unfinished tag
 * or URL does not count.
 */
void links_break_off(struct links *links);

/*
 * Call visit() for every link to another resource, in the order of the page, until it
 * returns nonzero. Returns that value, or -ENOMEM.
 */
int links_visit(struct links *links, bool is_windows_1252, links_visit_function visit,
                void *arg);

#endif
