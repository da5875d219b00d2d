/*
 * link_visit.h - the URLs in a value that is more than a URL: of srcset, of a refresh, of style; and
 * what relations lead to.
 */
#ifndef CRAWLER_LINK_VISIT_H
#define CRAWLER_LINK_VISIT_H

#include "links.h"

struct link_visit {
    links_visit_function function;
    void *arg;
    struct link link; /* but for its reference and `cut` */
    bool cut;         /* the value that the link is of */
};

#define LINK_SEPARATORS HTML_SPACE ","

/* How many of a link's relations, "next preload", lead to a resource that can be asked for by GET. */
struct link_relations {
    unsigned to_resources, others;
};

/* Of a text with words between LINK_SEPARATORS, which is taken apart. */
struct link_relations link_relations_of(char *text);

/* Visit n bytes of a text, which a NUL ends for that long. */
int link_visit_part(struct link_visit *visit, char *text, size_t n);

/* Each image of srcset="small.png, large.png 2x". */
int link_visit_srcset(struct link_visit *visit, char *srcset);

/* The URL in "0; url=there", the content of a <meta http-equiv=refresh> or a header. */
int link_visit_refresh(struct link_visit *visit, char *content);

/*
 * A URL of a style sheet, n bytes as written, unless it is a place in the document that is styled,
 * "#x". `text` is what it works in.
 */
int link_visit_css(struct link_visit *visit, const char *url, size_t n,
                   struct html_buffer *text);

/* Each URL in a style attribute. */
int link_visit_style(struct link_visit *visit, const char *style,
                     struct html_buffer *text);

#endif
