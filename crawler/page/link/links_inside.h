/*
 * links_inside.h - the values of attributes as stored by links.c.
 */
#ifndef CRAWLER_LINKS_INSIDE_H
#define CRAWLER_LINKS_INSIDE_H

#include "links.h"

enum kept_kind {
    KEPT_LINK,
    KEPT_SRCSET,
    KEPT_REFRESH,
    KEPT_BASE,
    KEPT_ID,
    KEPT_SRCDOC,
    KEPT_STYLE, /* a style attribute; the name of its element is stored after the NUL */
    KEPT_CSS,   /* a URL in a style sheet; its `attribute` is an enum css_kind */
};

struct kept_value {
    uint32_t start, n; /* range in `bytes`; a NUL follows it */
    struct html_position place;
    uint8_t kind, element, attribute;
    bool cut, nofollow;
};

struct kept_value *links_attribute(const struct links *links, enum html_attribute which);

#endif
