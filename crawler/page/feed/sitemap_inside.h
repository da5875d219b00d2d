/*
 * sitemap_inside.h - declarations shared by the files of the sitemap parser.
 */
#ifndef CRAWLER_SITEMAP_INSIDE_H
#define CRAWLER_SITEMAP_INSIDE_H

#include "sitemap.h"

#include <expat.h>

#define TOKEN_BYTES ((size_t)256 * 1024) /* maximum size of a tag or comment in bytes */
#define DEPTH_MAX 100
#define KEPT_BYTES_MAX ((size_t)1 << 30)
#define PROBLEM_BYTES 128
#define PIECE_BYTES 16384
#define BLANK " \t\r\n"
#define TOO_MANY_URLS "it has more than 50,000 URLs, and only those are read"
#define TOO_MANY_BYTES "it is longer than 50 MiB, and no more than that is read"

enum form { UNKNOWN, LINES, XML };

struct entry {
    uint32_t start, n; /* range of the URL in `bytes` */
    /* offset of the URL's NUL-terminated base in `bases`; 0: no base */
    uint32_t base;
    struct html_position place;
    uint8_t source; /* index into `sources` */
    bool cut;
};

/*
 * The state of a sitemap that is being read. The struct has many members, because a piece
 * may end after any byte.
 */
struct sitemap {
    enum form form;
    enum sitemap_root root;
    size_t total;  /* number of bytes processed */
    size_t listed; /* number of URLs that count towards the limit */
    struct html_counter counter;
    size_t mark_n; /* number of bytes read so far of the byte order mark */
    XML_Parser parser;
    size_t token_at; /* value of `total` before the last token */
    unsigned depth;
    /* index into `sources` of the element whose text is being read, or -1 */
    int source;
    bool has_text; /* the text being read began at `place` */
    struct html_position place;
    struct html_buffer text; /* text of the current element or line */
    struct html_buffer bytes;
    struct html_buffer base; /* xml:base of all open elements, one per line */
    /* For each open element, by depth, the length of `base` before it. */
    uint32_t base_n[DEPTH_MAX + 2];
    struct html_buffer bases; /* the bases of the entries */
    uint32_t last_base;       /* offset of the current `base` in `bases`, or 0 */
    struct entry *entries;
    size_t count, capacity;
    char problem[PROBLEM_BYTES];
    bool is_over; /* further input is ignored */
    int rc;
};

#define ROOT(name) (1U << SITEMAP_##name)

/*
 * The elements that contain URLs. Names are listed without prefixes, which documents may
 * choose.
 */
static const struct source {
    const char *name, *attribute; /* attribute: NULL if the URL is the element's text */
    unsigned roots;
} sources[] = {
    {"loc", NULL, ROOT(URLSET) | ROOT(INDEX)}, /* also <image:loc> */
    {"link", "href", ROOT(URLSET) | ROOT(ATOM) | ROOT(RSS)},
    {"link", NULL, ROOT(RSS)},
    {"thumbnail_loc", NULL, ROOT(URLSET)},
    {"content_loc", NULL, ROOT(URLSET)},
    {"player_loc", NULL, ROOT(URLSET)},
    {"enclosure", "url", ROOT(RSS)},
    {"content", "src", ROOT(ATOM)},
};

#define SOURCE_COUNT (sizeof sources / sizeof sources[0])

/*
 * Return the kind of a document whose root element has this name of n bytes, ignoring a
 * prefix.
 */
enum sitemap_root sitemap_root_of_name(const char *name, size_t n);

const char *sitemap_local_name(const char *name);

bool sitemap_is_blank(char c);

/* Record a problem, and ignore further input. */
void sitemap_stop(struct sitemap *sitemap, const char *problem);

void sitemap_fail(struct sitemap *sitemap, int rc);

/* Store the current base. Returns its offset in `bases`, or 0 without a base. */
uint32_t sitemap_store_base(struct sitemap *sitemap);

/*
 * Store a URL, which ends at the first NUL. NULs can only occur in a list of URLs, not in
 * XML.
 */
void sitemap_store_url(struct sitemap *sitemap, const char *url, size_t n, size_t source,
                       bool cut, struct html_position place);

/*
 * Count a URL. If the sitemap already has SITEMAP_URLS URLs, stop reading it and return
 * false.
 */
bool sitemap_may_list(struct sitemap *sitemap);

/*
 * Store the text of an element as a URL, without trailing white space. sitemap_add_text()
 * has already skipped leading white space.
 */
void sitemap_store_text(struct sitemap *sitemap, size_t source);

/* Append a part of an element's text. `place` is the position of this part. */
void sitemap_add_text(struct sitemap *sitemap, const char *bytes, size_t n,
                      struct html_position place);

void sitemap_begin_xml(struct sitemap *sitemap);

void sitemap_process_xml(struct sitemap *sitemap, const char *bytes, size_t n,
                         bool is_final);

#endif
