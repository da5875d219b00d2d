/*
 * links.h - what an HTML page or a style sheet points at, out of a page that comes in pieces.
 *
 *     links_init(&links);
 *     while (... more of the page ...)
 *         rc = links_feed(&links, html, n);
 *     rc = links_end(&links);
 *     rc = links_visit(&links, false, visit, arg);
 *     links_reset(&links);      // for the next page
 *     links_finish(&links);
 *
 * Of the page nothing is kept but its links. Calls nothing of coil, and can run on any thread.
 */
#ifndef CRAWLER_LINKS_H
#define CRAWLER_LINKS_H

#include "../css/css.h"
#include "../html/html_tokenizer.h"
#include "../html/html_tree.h"

enum link_kind {
    LINK_BASE, /* <base href>: what the others are relative to; at most one, and first */
    LINK_OTHER,
    LINK_ID /* no link: a name for a place in the page, where they are asked for */
};

/* It lasts for the call. */
struct link {
    enum link_kind kind;
    const char *reference; /* as written, with character references decoded */
    /* The link's own base, or NULL for the page's: URLs, one a line. Each is relative to the one
       before, and the first to the page's base. */
    const char *base;
    bool nofollow;        /* its `rel` says so, or the page */
    bool cut;             /* it was longer than HTML_VALUE_BYTES: this is its beginning */
    bool is_sitemap;      /* it names a sitemap */
    bool has_no_encoding; /* of a style sheet or header: its query is in UTF-8 */
    const char *element;  /* NULL outside of any */
    const char *attribute; /* or "url()", "@import", "image-set()" in a style sheet */
    struct html_position
        place; /* of the attribute's value, or of a URL in a style sheet */
};

typedef int (*links_visit_function)(const struct link *link, void *arg);

struct links {
    bool wants_ids; /* tell of LINK_ID as well; false at first */
    bool wants_rel; /* and of `nofollow`; false at first */
    bool wants_css; /* and of URLs in <style> and style attributes; false at first */
    bool nofollow;  /* a <meta name=robots> says so of the whole page */

    /* The rest is for links.c. */
    struct html_tokenizer tokenizer;
    struct html_tree tree;
    struct html_buffer bytes; /* of all values that are kept, as written */
    struct kept_value *kept;
    size_t count, capacity;
    size_t body_at; /* so many were kept before the body began */
    size_t base;    /* 1 + the index of the base; 0 if there is none */
    /* Of the tag that is being read: */
    enum html_element element;
    enum html_attribute attribute;
    size_t tag_at, bytes_at;           /* where it began in `kept` and `bytes` */
    uint32_t wanted;                   /* attributes, a bit each */
    struct html_buffer text, css_text; /* what links_visit() works in */
    struct css css;
    bool is_sheet;    /* the page is a style sheet */
    bool in_style;    /* a <style> is open */
    bool form_is_get; /* the last <form> is not one that is posted */
    unsigned depth;   /* of srcdoc attributes around it */
};

/* Nothing is allocated before there is a page. */
void links_init(struct links *links);
void links_finish(struct links *links);

/* Forget the page, and keep as much memory as most pages need. */
void links_reset(struct links *links);

/* The page, of which nothing has been given yet, is a style sheet and no HTML. */
void links_expect_sheet(struct links *links);

/* The page, of which nothing has been given yet, is XHTML: an element of it may be empty, "<title/>", and
   a CDATA section stand anywhere. All else is read as HTML. */
void links_expect_xml(struct links *links);

/*
 * Take the next piece of the page: UTF-8, or another encoding that has ASCII's bytes for
 * ASCII's characters alone. Anything is accepted, as browsers do. Fails with -ENOMEM, and
 * with -EMSGSIZE if the values that must be kept are longer than 1 GiB.
 */
int links_feed(struct links *links, const char *html, size_t n);
int links_end(struct links *links);

/* Call this instead of links_end() if the page goes on, but no more of it comes. A tag or URL that is
   incomplete does not count. */
void links_break_off(struct links *links);

/*
 * Call visit() for every reference of the page to another resource, in the order of the page,
 * until it returns non-zero, and return that. -ENOMEM.
 */
int links_visit(struct links *links, bool is_windows_1252, links_visit_function visit,
                void *arg);

#endif
