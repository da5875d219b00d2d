/*
 * html_tree.h - track the open elements that determine which tags of a page are ignored.
 *
 * A full HTML parser builds a tree, and drops tags where they are not allowed. This code
 * does not build a tree, but only tracks the open elements that determine whether later
 * tags are dropped.
 */
#ifndef CRAWLER_HTML_TREE_H
#define CRAWLER_HTML_TREE_H

#include "html_names.h"

/* Maximum depth of elements in SVG and MathML. Deeper elements are treated as void. */
#define HTML_TREE_DEPTH 128

/* What an open element means for its contents. */
enum html_inside {
    INSIDE_HTML, /* an HTML element inside one of the elements below */
    INSIDE_TEMPLATE,
    INSIDE_SELECT,
    INSIDE_SHADOW, /* a template whose contents are rendered as a shadow tree */
    INSIDE_SVG,
    INSIDE_MATHML,
    /* an SVG element that may contain HTML, such as foreignObject */
    INSIDE_SVG_POINT,
    /* a MathML element, such as mi, that may contain any HTML element except mglyph and
       malignmark */
    INSIDE_MATH_TEXT,
    INSIDE_MATH_POINT, /* annotation-xml whose encoding is HTML */
    INSIDE_ANNOTATION, /* any other annotation-xml */
};

/*
 * The open elements. The struct has many members, because each is part of a rule that
 * decides whether a tag is dropped.
 */
struct html_tree {
    struct {
        uint64_t name; /* a hash of the name */
        enum html_inside inside;
    } open[HTML_TREE_DEPTH];
    unsigned depth;
    unsigned template_count; /* number of templates in `open` */
    unsigned shadow_count;
    unsigned foreign_count;         /* number of SVG and MathML elements in `open` */
    uint32_t counts[ELEMENT_COUNT]; /* number of open elements by name */
    uint32_t frameset_depth;
    bool form_is_open;
    bool has_body;        /* the page has a body, or content that begins one */
    bool may_have_frames; /* a <frameset> may still replace the body */
    bool has_frames;      /* a <frameset> has replaced the body */
    bool is_xml;          /* the page is XHTML; initially false */
    /* no element is in `open`, and the page is HTML with a body that will stay */
    bool is_simple;
};

/* A start tag, with the attributes that matter for the tree. */
struct html_start {
    const struct html_name *name;
    enum html_element element;
    bool is_self_closing;
    bool is_styled; /* has a color, face or size attribute */
    bool has_html;  /* its encoding attribute is HTML (for annotation-xml) */
    bool is_hidden; /* has type="hidden" */
    bool is_shadow; /* has a shadowrootmode attribute (for template) */
};

/* The effect of a start tag. */
struct html_effect {
    bool is_foreign;           /* the tag begins an element of SVG or MathML */
    bool is_inserted;          /* the tag becomes an element that is not in a template */
    bool drops_body;           /* everything in the body so far is dropped */
    enum html_content content; /* how to read the text after the tag */
};

void html_tree_reset(struct html_tree *tree);
struct html_effect html_tree_start(struct html_tree *tree, const struct html_start *tag);
void html_tree_end(struct html_tree *tree, const struct html_name *name,
                   enum html_element element);

/*
 * True for nearly all tags: the tree is simple, and the element has no rules of its own. Then html_tree_count() does the same as html_tree_start() and
 * html_tree_end(), in less time. The start tag has the effect {.is_inserted = true}.
 */
static inline bool html_tree_only_counts(const struct html_tree *tree,
                                         enum html_element element)
{
    return tree->is_simple &&
           !(html_element_properties(element) & (HAS_RULES | IS_OF_TABLE)) &&
           html_element_content(element) == HTML_DATA;
}

static inline void html_tree_count(struct html_tree *tree, enum html_element element,
                                   bool is_end)
{
    uint32_t *count = &tree->counts[element];

    if (!is_end)
        *count += !(html_element_properties(element) & IS_VOID);
    else if (*count > 0)
        --*count;
}

/* Process text in the body. Unless it is white space, it rules out a later <frameset>. */
void html_tree_text(struct html_tree *tree, const char *bytes, size_t n);

/* True if a CDATA section is allowed here. */
static inline bool html_tree_allows_cdata(const struct html_tree *tree)
{
    if (tree->is_xml)
        return true;
    return tree->depth > 0 && tree->open[tree->depth - 1].inside >= INSIDE_SVG;
}

/* True in a shadow tree, in which ids cannot be targets of fragments. */
static inline bool html_tree_is_shadow(const struct html_tree *tree)
{
    return tree->shadow_count > 0;
}

/* True if the next start tag may belong to SVG or MathML. */
static inline bool html_tree_is_foreign(const struct html_tree *tree)
{
    return tree->foreign_count > 0;
}

#endif
