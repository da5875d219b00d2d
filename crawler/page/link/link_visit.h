/*
 * link_visit.h - find the URLs in attributes whose value is not simply a URL (srcset,
 * refresh, style), and classify the relations in `rel`.
 */
#ifndef CRAWLER_LINK_VISIT_H
#define CRAWLER_LINK_VISIT_H

#include "links.h"

struct link_visit {
    links_visit_function function;
    void *arg;
    struct link link; /* `reference` and `cut` are set for each link */
    bool cut;         /* the value was truncated */
};

#define LINK_SEPARATORS HTML_SPACE ","

/*
 * The number of relations in a `rel` such as "next preload" whose targets can be fetched
 * with GET, and the number of all others.
 */
struct link_relations {
    unsigned to_resources, others;
};

/*
 * Count the relations in a text, in which they are separated by LINK_SEPARATORS. Modifies
 * the text.
 */
struct link_relations link_relations_of(char *text);

/* Visit the URL in the first n bytes of a text. During the visit, the byte after the URL
   is replaced with NUL. */
int link_visit_part(struct link_visit *visit, char *text, size_t n);

/* Visit each image in a srcset such as "small.png, large.png 2x". */
int link_visit_srcset(struct link_visit *visit, char *srcset);

/*
 * Visit the URL in the content of a <meta http-equiv=refresh> or of a Refresh header,
 * such as "0; url=there".
 */
int link_visit_refresh(struct link_visit *visit, char *content);

/*
 * Visit a URL of n bytes that is written in a style sheet. References such as "#x" are
 * ignored, because they refer to the style sheet itself. `text` is a scratch buffer.
 */
int link_visit_css(struct link_visit *visit, const char *url, size_t n,
                   struct html_buffer *text);

/* Visit each URL in a style attribute. */
int link_visit_style(struct link_visit *visit, const char *style,
                     struct html_buffer *text);

#endif
