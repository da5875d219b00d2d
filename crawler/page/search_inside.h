/*
 * search_inside.h - private declarations shared by search.c and search_links.c.
 */
#ifndef CRAWLER_SEARCH_INSIDE_H
#define CRAWLER_SEARCH_INSIDE_H

#include "charset.h"
#include "search.h"

/* Number of links after which other tasks may run. */
#define LINKS_PER_TURN 1000

enum encoding {
    AS_IT_IS,     /* not converted: UTF-8, or Windows-1252 if it is not valid UTF-8 */
    CONVERTED,    /* convert each piece with the open converter */
    TO_BE_OPENED, /* a converter must be opened first */
    HELD,         /* store the page until its end, then convert or decompress it */
    SITEMAP,      /* a sitemap, which declares its own encoding */
    IGNORED,
};

/* The type of a page. */
enum page_type {
    PAGE_HTML,
    PAGE_MARKDOWN,
    PAGE_SHEET,
    PAGE_TEXT,
    PAGE_SITEMAP,
    PAGE_NONE
};

/* Whether the page may be a feed or a sitemap. */
enum sitemap_mode { NO_SITEMAP, MAY_BE_FEED, MAY_BE_SITEMAP, NAMED_SITEMAP };

#define PROBLEM_BYTES 128

/*
 * A link is visited when AHEAD more links have been found, so that the data that the
 * visit needs is in the CPU cache by then.
 */
#define AHEAD 8
#define SOON (AHEAD / 2)

struct ahead {
    enum search_kind kind;
    struct link link;
    struct html_buffer text; /* link.reference, unless link.stays is true */
    struct url url;          /* for SEARCH_URL */
    struct url_room room;    /* usually contains url.href */
    uint64_t mark;
};

/*
 * The state of a search. The struct has many members, because the same object reads pages
 * of all types, piece by piece.
 */
struct search {
    struct links links;
    char content_type[256]; /* the Content-Type header, truncated if it is longer */
    enum page_type type;
    enum sitemap_mode sitemap_mode;
    bool else_html;
    bool is_unknown, takes_text; /* see search_expect_unknown() */
    bool is_cut;                 /* see search_break_off() */
    bool wants_text;             /* see search_want_text() */
    char *page_text;             /* the text of the last page */
    struct sitemap *sitemap;
    char problem[PROBLEM_BYTES];
    struct charset charset;
    bool knows_charset;
    enum encoding encoding;
    /*
     * The open converter. `opened` is the name of its encoding, or "" if it is not open.
     */
    struct charset_converter converter;
    char opened[CHARSET_BYTES];
    struct html_buffer held; /* the whole page as received, if it must be stored */
    struct html_buffer text; /* plain text, or a page whose text is wanted, in UTF-8 */
    struct markdown *markdown;
    struct charset_check check;
    char head[CHARSET_HEAD_BYTES];
    size_t head_n;
    /* The following members are used while links are visited. */
    struct whatwg_url base; /* the last one stays until the next page */
    size_t visited;
    const struct search_visitor *visitor;
    struct ahead ahead[AHEAD]; /* a ring: [first, first + waiting) */
    size_t first, waiting;
};

int search_end_sitemap(struct search *search);

int search_process_piece(const char *html, size_t n, void *arg);

int search_feed_held(struct search *search);

int search_feed_head(struct search *search);

/*
 * Parse Markdown. Runs on a thread, because this may take long, and because cmark needs
 * more stack than a task has.
 */
int search_read_markdown(void *arg);

#endif
