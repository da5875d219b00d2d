/*
 * html_tree.h - what must be known of a page's tree to tell which tags count.
 *
 * A parser builds a tree and drops what may not stand where it stands. Here is no tree: only
 * which elements are open that decide about others.
 */
#ifndef CRAWLER_HTML_TREE_H
#define CRAWLER_HTML_TREE_H

#include "html_names.h"

/* Of elements in SVG and MathML; deeper ones are taken for void. */
#define HTML_TREE_DEPTH 128

/* What an open element is to those inside of it. */
enum html_inside {
    INSIDE_HTML, /* an HTML element in one of the integration points below */
    INSIDE_TEMPLATE,
    INSIDE_SELECT,
    INSIDE_SHADOW, /* a template whose content is a shadow tree, and shown */
    INSIDE_SVG,
    INSIDE_MATHML,
    INSIDE_SVG_POINT,  /* foreignObject and the like: HTML follows */
    INSIDE_MATH_TEXT,  /* mi and the like: the same, but for two elements */
    INSIDE_MATH_POINT, /* annotation-xml that says it has HTML */
    INSIDE_ANNOTATION, /* annotation-xml otherwise */
};

struct html_tree {
    struct {
        uint64_t name; /* a hash of it */
        enum html_inside inside;
    } open[HTML_TREE_DEPTH];
    unsigned depth;
    unsigned template_count; /* of those in `open` */
    unsigned shadow_count;
    unsigned foreign_count;         /* of those that are SVG's or MathML's */
    uint32_t counts[ELEMENT_COUNT]; /* of HTML elements: start tags less end tags */
    uint32_t frameset_depth;
    bool form_is_open;
    bool has_body;        /* or will have: something has come that belongs there */
    bool may_have_frames; /* a frameset would be taken for one */
    bool has_frames;      /* a frameset stands for the body */
    bool is_xml;          /* the page is XHTML: false at first */
};

/* A start tag, and what of its attributes matters to the tree. */
struct html_start {
    const struct html_name *name;
    enum html_element element;
    bool is_self_closing;
    bool is_styled; /* it has a color, face or size */
    bool has_html;  /* it has an encoding of HTML: annotation-xml */
    bool is_hidden; /* it has a type of "hidden" */
    bool is_shadow; /* it has a shadowrootmode: template */
};

/* What becomes of it. */
struct html_effect {
    bool is_foreign;           /* it is of SVG or MathML */
    bool is_inserted;          /* it is an element, and not in a template */
    bool drops_body;           /* all that the body had until now is dropped */
    enum html_content content; /* of what follows */
};

void html_tree_reset(struct html_tree *tree);
struct html_effect html_tree_start(struct html_tree *tree, const struct html_start *tag);
void html_tree_end(struct html_tree *tree, const struct html_name *name,
                   enum html_element element);

/* Text in the body, or where it would begin. */
void html_tree_text(struct html_tree *tree, const char *bytes, size_t n);

/* True where a CDATA section may stand. */
static inline bool html_tree_allows_cdata(const struct html_tree *tree)
{
    if (tree->is_xml)
        return true;
    return tree->depth > 0 && tree->open[tree->depth - 1].inside >= INSIDE_SVG;
}

/* True in a shadow tree, whose ids are none of the page's. */
static inline bool html_tree_is_shadow(const struct html_tree *tree)
{
    return tree->shadow_count > 0;
}

/* True if the next start tag may be SVG's or MathML's. */
static inline bool html_tree_is_foreign(const struct html_tree *tree)
{
    return tree->foreign_count > 0;
}

#endif
