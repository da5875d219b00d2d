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

/* ---- the values of the tag that is being read (tag_values.c) ----------------------- */

/* Return the value of an attribute, or NULL if the tag does not have it. */
struct kept_value *links_attribute(const struct links *links, enum html_attribute which);

/* True if the attribute's value is `one` or `other`, in upper or lower case. */
bool links_attribute_is(const struct links *links, enum html_attribute which,
                        const char *one, const char *other);

#define LINKS_WORDS_BYTES 256

/* Return the decoded value of an attribute, or "" if it is missing or too long. */
char *links_words_of(const struct links *links, enum html_attribute which,
                     char text[3 * LINKS_WORDS_BYTES + 1]);

/*
 * True if `one` or `other` is among the attribute's words, which are separated by spaces
 * or commas.
 */
bool links_attribute_has(const struct links *links, enum html_attribute which,
                         const char *one, const char *other);

#endif
