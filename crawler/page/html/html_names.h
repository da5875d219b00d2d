/* html_names.h - look up the elements and attributes that matter to coil-crawl. */
#ifndef CRAWLER_HTML_NAMES_H
#define CRAWLER_HTML_NAMES_H

#include "html_tokenizer.h"

/* clang-format off */
enum html_element {
    ELEMENT_OTHER,
    ELEMENT_A, ELEMENT_ADDRESS, ELEMENT_ANNOTATION_XML, ELEMENT_APPLET, ELEMENT_AREA,
    ELEMENT_ARTICLE, ELEMENT_ASIDE, ELEMENT_AUDIO, ELEMENT_B, ELEMENT_BASE, ELEMENT_BASEFONT,
    ELEMENT_BGSOUND, ELEMENT_BIG, ELEMENT_BLOCKQUOTE, ELEMENT_BODY, ELEMENT_BR, ELEMENT_BUTTON,
    ELEMENT_CAPTION, ELEMENT_CENTER, ELEMENT_CODE, ELEMENT_COL, ELEMENT_COLGROUP, ELEMENT_DD,
    ELEMENT_DESC, ELEMENT_DETAILS, ELEMENT_DIALOG, ELEMENT_DIR, ELEMENT_DIV, ELEMENT_DL,
    ELEMENT_DT, ELEMENT_EM, ELEMENT_EMBED, ELEMENT_FIELDSET, ELEMENT_FIGCAPTION,
    ELEMENT_FIGURE, ELEMENT_FONT, ELEMENT_FOOTER, ELEMENT_FOREIGNOBJECT, ELEMENT_FORM,
    ELEMENT_FRAME, ELEMENT_FRAMESET, ELEMENT_H1, ELEMENT_H2, ELEMENT_H3, ELEMENT_H4,
    ELEMENT_H5, ELEMENT_H6, ELEMENT_HEAD, ELEMENT_HEADER, ELEMENT_HR, ELEMENT_HTML, ELEMENT_I,
    ELEMENT_IFRAME, ELEMENT_IMAGE, ELEMENT_IMG, ELEMENT_INPUT, ELEMENT_KEYGEN, ELEMENT_LABEL,
    ELEMENT_LI, ELEMENT_LINK, ELEMENT_LISTING, ELEMENT_MAIN, ELEMENT_MALIGNMARK,
    ELEMENT_MARQUEE, ELEMENT_MATH, ELEMENT_MENU, ELEMENT_META, ELEMENT_MGLYPH, ELEMENT_MI,
    ELEMENT_MN, ELEMENT_MO, ELEMENT_MS, ELEMENT_MTEXT, ELEMENT_NAV, ELEMENT_NOBR,
    ELEMENT_NOEMBED, ELEMENT_NOFRAMES, ELEMENT_NOSCRIPT, ELEMENT_OBJECT, ELEMENT_OL,
    ELEMENT_OPTGROUP, ELEMENT_OPTION, ELEMENT_P, ELEMENT_PARAM, ELEMENT_PLAINTEXT, ELEMENT_PRE,
    ELEMENT_RUBY, ELEMENT_S, ELEMENT_SCRIPT, ELEMENT_SECTION, ELEMENT_SELECT, ELEMENT_SMALL,
    ELEMENT_SOURCE, ELEMENT_SPAN, ELEMENT_STRIKE, ELEMENT_STRONG, ELEMENT_STYLE, ELEMENT_SUB,
    ELEMENT_SUP, ELEMENT_SVG, ELEMENT_TABLE, ELEMENT_TBODY, ELEMENT_TD, ELEMENT_TEMPLATE,
    ELEMENT_TEXTAREA, ELEMENT_TFOOT, ELEMENT_TH, ELEMENT_THEAD, ELEMENT_TITLE, ELEMENT_TR,
    ELEMENT_TRACK, ELEMENT_TT, ELEMENT_U, ELEMENT_UL, ELEMENT_USE, ELEMENT_VAR, ELEMENT_VIDEO,
    ELEMENT_WBR, ELEMENT_XMP,
    ELEMENT_COUNT
};

enum html_attribute {
    ATTRIBUTE_OTHER,
    ATTRIBUTE_ACTION, ATTRIBUTE_BACKGROUND, ATTRIBUTE_COLOR, ATTRIBUTE_CONTENT, ATTRIBUTE_DATA,
    ATTRIBUTE_ENCODING, ATTRIBUTE_FACE, ATTRIBUTE_FORMACTION, ATTRIBUTE_FORMMETHOD,
    ATTRIBUTE_HREF, ATTRIBUTE_HTTP_EQUIV, ATTRIBUTE_ID, ATTRIBUTE_IMAGESRCSET,
    ATTRIBUTE_METHOD, ATTRIBUTE_NAME, ATTRIBUTE_POSTER, ATTRIBUTE_REL,
    ATTRIBUTE_SHADOWROOTMODE, ATTRIBUTE_SIZE, ATTRIBUTE_SRC, ATTRIBUTE_SRCDOC, ATTRIBUTE_SRCSET,
    ATTRIBUTE_STYLE, ATTRIBUTE_TYPE, ATTRIBUTE_XLINK_HREF,
    ATTRIBUTE_COUNT
};
/* clang-format on */

/* Properties of elements that affect which links are found. */
enum {
    IS_VOID = 1,          /* the element has no end tag */
    LEAVES_FOREIGN = 2,   /* its start tag ends SVG or MathML */
    STAYS_IN_HEAD = 4,    /* its start tag does not end the head */
    RULES_OUT_FRAMES = 8, /* a <frameset> after it is ignored */
    IS_OF_TABLE = 16,     /* its start tag ends a <select> inside a table */
    HAS_RULES = 32,       /* its tags do more than change the number of open elements */
};

/*
 * Build the hash tables. Call this before the other functions, on any thread. Repeated
 * calls do nothing.
 */
void html_names_prepare(void);

#define HTML_NAME_ROOM 16
#define HTML_NAME_SLOTS 512 /* a power of two, four times the number of entries */

struct html_known {
    char name[HTML_NAME_ROOM];
    uint8_t properties;
    uint8_t content; /* enum html_content */
};

extern const struct html_known html_elements[ELEMENT_COUNT];

struct html_index {
    const struct html_known *all;
    size_t count;
    struct {
        uint64_t key;
        uint8_t n;
        uint8_t which; /* 0 if the slot is free */
        /* a name of this slot is in a later slot, because this one was not free */
        bool is_passed;
    } slots[HTML_NAME_SLOTS];
};

extern struct html_index html_element_index, html_attribute_index;

/*
 * Return the slot of a key. The factor was found by trial, so that no two elements have
 * the same slot.
 */
static inline size_t html_name_slot(uint64_t key)
{
    return (key * 0x31485df24037a85b) >> 55;
}

/*
 * Find a name that is not in its slot, or is longer than its key. Returns 0 if the name
 * is unknown.
 */
unsigned html_name_find(const struct html_index *index, const struct html_name *name);

/* Return the index of a name, or 0 if the name is unknown. */
static inline unsigned html_name_look_up(const struct html_index *index,
                                         const struct html_name *name)
{
    size_t at = html_name_slot(name->key);

    if (index->slots[at].key != name->key && !index->slots[at].is_passed)
        return 0;
    if (index->slots[at].n == name->n && name->n <= sizeof name->key &&
        index->slots[at].key == name->key)
        return index->slots[at].which;
    return html_name_find(index, name);
}

/* These functions may be called on any thread. */
static inline enum html_element html_element_of(const struct html_name *name)
{
    return (enum html_element)html_name_look_up(&html_element_index, name);
}

static inline enum html_attribute html_attribute_of(const struct html_name *name)
{
    return (enum html_attribute)html_name_look_up(&html_attribute_index, name);
}

static inline unsigned html_element_properties(enum html_element element)
{
    return html_elements[element].properties;
}

static inline enum html_content html_element_content(enum html_element element)
{
    return (enum html_content)html_elements[element].content;
}

/* Return the name, or "" for ELEMENT_OTHER and ATTRIBUTE_OTHER. */
const char *html_element_name(enum html_element element);
const char *html_attribute_name(enum html_attribute attribute);

#endif
