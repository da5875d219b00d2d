/*
 * link_visit.h - find the URLs in attribute values that contain more than a URL (srcset,
 * refresh and style), and classify relations.
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
 * Numbers of relations in a link's `rel`, such as "next preload". `to_resources` counts
 * relations whose targets can be fetched with GET. `others` counts all other relations.
 */
struct link_relations {
    unsigned to_resources, others;
};

/* Count the relations in a text, which are separated by LINK_SEPARATORS. The text is
   modified. */
struct link_relations link_relations_of(char *text);

/* Visit the URL in the first n bytes of a text. During the visit, the byte after the URL
 * is replaced with NUL. */
int link_visit_part(struct link_visit *visit, char *text, size_t n);

/* Visit each image in a srcset such as "small.png, large.png 2x". */
int link_visit_srcset(struct link_visit *visit, char *srcset);

/*
 * Visit the URL in "0; url=there", the content of a <meta http-equiv=refresh> or of a
 * header.
 */
int link_visit_refresh(struct link_visit *visit, char *content);

/*
 * Visit a URL of n bytes, as written in a style sheet. References such as "#x" are
 * ignored, because they refer to the document itself. `text` is a scratch buffer.
 */
int link_visit_css(struct link_visit *visit, const char *url, size_t n,
                   struct html_buffer *text);

/* Visit each URL in a style attribute. */
int link_visit_style(struct link_visit *visit, const char *style,
                     struct html_buffer *text);

#endif
