/*
 * search_inside.h - private declarations shared by search.c and search_links.c.
 */
#ifndef CRAWLER_SEARCH_INSIDE_H
#define CRAWLER_SEARCH_INSIDE_H

#include "charset.h"
#include "search.h"

/* After this many links, let other tasks run. */
#define LINKS_PER_TURN 1000

enum encoding {
    AS_IT_IS,     /* UTF-8, or Windows-1252 if it is not valid UTF-8 */
    CONVERTED,    /* by the open converter */
    TO_BE_OPENED, /* a converter must be opened first */
    HELD,         /* until the end of the page */
    SITEMAP,      /* the sitemap declares its own encoding */
    IGNORED,
};

/* The type of the page. */
enum page_type {
    PAGE_HTML,
    PAGE_MARKDOWN,
    PAGE_SHEET,
    PAGE_TEXT,
    PAGE_SITEMAP,
    PAGE_NONE
};

/* Which other types are possible. */
enum sitemap_mode { NO_SITEMAP, MAY_BE_FEED, MAY_BE_SITEMAP, NAMED_SITEMAP };

#define PROBLEM_BYTES 128

/*
 * The number of links between finding a link and visiting it. Meanwhile the memory that
 * the visit needs is loaded into the CPU cache.
 */
#define AHEAD 8
#define SOON (AHEAD / 2)

struct ahead {
    enum search_kind kind;
    struct link link;
    struct html_buffer text; /* link.reference */
    struct url url;          /* for SEARCH_URL */
    uint64_t mark;
};

struct search {
    struct links links;
    char content_type[256]; /* the beginning, which includes the charset */
    enum page_type type;
    enum sitemap_mode sitemap_mode;
    bool else_html;
    bool is_unknown, takes_text; /* see search_expect_unknown() */
    bool is_cut;                 /* see search_break_off() */
    bool wants_text;             /* see search_want_text() */
    char *page_text;             /* of the last page */
    struct sitemap *sitemap;
    char problem[PROBLEM_BYTES];
    struct charset charset;
    bool knows_charset;
    enum encoding encoding;
    /* open if `opened` is not ""; `opened` is its encoding */
    struct charset_converter converter;
    char opened[CHARSET_BYTES];
    struct html_buffer held; /* bytes held until a converter is open */
    struct html_buffer text; /* plain text, or a page whose text is wanted, in UTF-8 */
    struct markdown *markdown;
    struct charset_check check;
    char head[CHARSET_HEAD_BYTES];
    size_t head_n;
    /* While links are visited: */
    struct whatwg_url base;
    size_t visited;
    const struct search_visitor *visitor;
    struct ahead ahead[AHEAD]; /* a ring: [first, first + waiting) */
    size_t first, waiting;
};

int search_end_sitemap(struct search *search);

int search_process_piece(const char *html, size_t n, void *arg);

int search_feed_held(struct search *search);

int search_feed_head(struct search *search);

/* Runs on a thread: a long text takes a while, and needs more stack than a task has. */
int search_read_markdown(void *arg);

#endif
