/*
 * html_tree.c - decide which tags become elements, and how the text after them is read.
 *
 * `open` is a stack of the open templates, selects, and elements of SVG and MathML, and
 * of the HTML elements inside them. Other open HTML elements are only counted by name, so
 * that a "</div>" in an unclosed <svg> can be matched with an open <div>.
 *
 * (WHATWG: HTML, 13.2.6 Tree construction; docs/design/tokenizer-deviations.md lists the
 * simplifications)
 */
#include "html_tree.h"

#include <string.h>

/* ---- open elements ----------------------------------------------------------------- */

static uint64_t hash_of(const struct html_name *name)
{
    uint64_t hash = name->n;

    for (size_t i = 0; i < name->n; i++)
        hash = (hash ^ (unsigned char)name->bytes[i]) * 1099511628211U;
    return hash;
}

static bool is_foreign(enum html_inside current_inside)
{
    return current_inside >= INSIDE_SVG;
}

static enum html_inside current_inside(const struct html_tree *tree)
{
    return tree->depth > 0 ? tree->open[tree->depth - 1].inside : INSIDE_HTML;
}

static void push_element(struct html_tree *tree, const struct html_name *name,
                         enum html_inside what)
{
    if (tree->depth == HTML_TREE_DEPTH)
        return;
    tree->open[tree->depth].name = hash_of(name);
    tree->open[tree->depth++].inside = what;
    tree->template_count += what == INSIDE_TEMPLATE;
    tree->shadow_count += what == INSIDE_SHADOW;
    tree->foreign_count += is_foreign(what);
}

static void pop_to(struct html_tree *tree, unsigned depth)
{
    while (tree->depth > depth) {
        enum html_inside what = tree->open[--tree->depth].inside;
        tree->template_count -= what == INSIDE_TEMPLATE;
        tree->shadow_count -= what == INSIDE_SHADOW;
        tree->foreign_count -= is_foreign(what);
    }
}

/* Close elements of SVG and MathML up to the innermost element that may contain HTML. */
static void leave_foreign(struct html_tree *tree)
{
    while (current_inside(tree) == INSIDE_SVG || current_inside(tree) == INSIDE_MATHML ||
           current_inside(tree) == INSIDE_ANNOTATION)
        pop_to(tree, tree->depth - 1);
}

void html_tree_reset(struct html_tree *tree)
{
    memset(tree, 0, sizeof *tree);
    tree->may_have_frames = true;
}

/* ---- SVG and MathML ---------------------------------------------------------------- */

/*
 * True if a start tag here belongs to SVG or MathML. (13.2.6: tree construction
 * dispatcher)
 */
static bool starts_foreign(const struct html_tree *tree, enum html_element element)
{
    switch (current_inside(tree)) {
    case INSIDE_SVG:
    case INSIDE_MATHML:
        return true;
    case INSIDE_MATH_TEXT:
        return element == ELEMENT_MGLYPH || element == ELEMENT_MALIGNMARK;
    case INSIDE_ANNOTATION:
        return element != ELEMENT_SVG;
    default:
        return false;
    }
}

static enum html_inside in_svg(enum html_element element)
{
    return element == ELEMENT_FOREIGNOBJECT || element == ELEMENT_DESC ||
                   element == ELEMENT_TITLE
               ? INSIDE_SVG_POINT
               : INSIDE_SVG;
}

static enum html_inside in_mathml(const struct html_start *tag)
{
    switch (tag->element) {
    case ELEMENT_MI:
    case ELEMENT_MN:
    case ELEMENT_MO:
    case ELEMENT_MS:
    case ELEMENT_MTEXT:
        return INSIDE_MATH_TEXT;
    case ELEMENT_ANNOTATION_XML:
        return tag->has_html ? INSIDE_MATH_POINT : INSIDE_ANNOTATION;
    default:
        return INSIDE_MATHML;
    }
}

static void start_foreign(struct html_tree *tree, const struct html_start *tag)
{
    if (!tag->is_self_closing)
        push_element(tree, tag->name,
                     current_inside(tree) == INSIDE_SVG ? in_svg(tag->element)
                                                        : in_mathml(tag));
}

/* ---- HTML -------------------------------------------------------------------------- */

static void rule_out_frames(struct html_tree *tree)
{
    tree->has_body = true;
    tree->may_have_frames = false;
}

static void note_body(struct html_tree *tree, const struct html_start *tag)
{
    unsigned properties = html_element_properties(tag->element);

    if (!(properties & STAYS_IN_HEAD))
        tree->has_body = true;
    if (properties & RULES_OUT_FRAMES && !tag->is_hidden)
        tree->may_have_frames = false;
}

/*
 * Process a start tag after a <frameset> replaced the body. Most tags are dropped there.
 */
static struct html_effect start_in_frames(struct html_tree *tree,
                                          enum html_element element)
{
    struct html_effect effect = {.content = HTML_DATA};

    if (element == ELEMENT_NOFRAMES)
        effect.content = HTML_RAWTEXT;
    else if (tree->frameset_depth == 0)
        return effect;
    else if (element == ELEMENT_FRAMESET)
        tree->frameset_depth++;
    else if (element != ELEMENT_FRAME)
        return effect;
    effect.is_inserted = true;
    return effect;
}

static struct html_effect start_frameset(struct html_tree *tree)
{
    if (!tree->may_have_frames || tree->depth > 0)
        return (struct html_effect){.content = HTML_DATA};
    tree->has_frames = true;
    tree->frameset_depth = 1;
    return (struct html_effect){.is_inserted = true, .drops_body = tree->has_body};
}

/*
 * Process a start tag in a <select>. The tag is kept, or it ends the <select>, or both.
 * Returns false if the tag is dropped.
 */
static bool start_in_select(struct html_tree *tree, enum html_element element)
{
    switch (element) {
    case ELEMENT_OPTION:
    case ELEMENT_OPTGROUP:
    case ELEMENT_HR:
    case ELEMENT_SCRIPT:
    case ELEMENT_TEMPLATE:
        return true;
    case ELEMENT_INPUT:
    case ELEMENT_KEYGEN:
    case ELEMENT_TEXTAREA:
        pop_to(tree, tree->depth - 1);
        return true;
    case ELEMENT_SELECT: /* here, <select> counts as </select> */
        pop_to(tree, tree->depth - 1);
        return false;
    default:
        if (!(html_element_properties(element) & IS_OF_TABLE) ||
            tree->counts[ELEMENT_TABLE] == 0)
            return false;
        pop_to(tree, tree->depth - 1);
        return true;
    }
}

/*
 * True if the tag is an empty element. In XML, "<title/>" is an empty element; in HTML,
 * it is a start tag.
 */
static bool is_empty(const struct html_tree *tree, const struct html_start *tag)
{
    return tree->is_xml && tag->is_self_closing;
}

/* Process a <form>. Returns false if it is dropped because another form is open. */
static bool start_form(struct html_tree *tree, const struct html_start *tag)
{
    bool was_open = tree->form_is_open;

    if (tree->template_count > 0)
        return true;
    tree->form_is_open = was_open || !is_empty(tree, tag);
    return !was_open;
}

/* True for a part of a table, such as <tr>, outside of a table. Such a tag is dropped. */
static bool is_stray_of_table(const struct html_tree *tree, enum html_element element)
{
    return html_element_properties(element) & IS_OF_TABLE && element != ELEMENT_TABLE &&
           tree->counts[ELEMENT_TABLE] == 0;
}

static void open_html(struct html_tree *tree, const struct html_start *tag)
{
    unsigned properties = html_element_properties(tag->element);

    if (tag->element == ELEMENT_SVG || tag->element == ELEMENT_MATH) {
        if (!tag->is_self_closing)
            push_element(tree, tag->name,
                         tag->element == ELEMENT_SVG ? INSIDE_SVG : INSIDE_MATHML);
        return;
    }
    if (properties & IS_VOID || is_stray_of_table(tree, tag->element))
        return;
    tree->counts[tag->element]++;
    if (tag->element == ELEMENT_TEMPLATE)
        push_element(tree, tag->name, tag->is_shadow ? INSIDE_SHADOW : INSIDE_TEMPLATE);
    else if (tag->element == ELEMENT_SELECT)
        push_element(tree, tag->name, INSIDE_SELECT);
    else if (tree->foreign_count > 0)
        push_element(tree, tag->name, INSIDE_HTML);
}

static struct html_effect start_html(struct html_tree *tree, const struct html_start *tag)
{
    struct html_effect effect = {.content = HTML_DATA};
    bool counts = tree->template_count == 0;

    if (tree->has_frames)
        return start_in_frames(tree, tag->element);
    if (tag->element == ELEMENT_FRAMESET)
        return start_frameset(tree);
    if (current_inside(tree) == INSIDE_SELECT && !start_in_select(tree, tag->element))
        return effect;
    note_body(tree, tag);
    if (tag->element == ELEMENT_FRAME)
        return effect;
    if (tag->element == ELEMENT_FORM && !start_form(tree, tag))
        return effect;
    effect.is_inserted = counts;
    if (is_empty(tree, tag))
        return effect;
    open_html(tree, tag);
    effect.content = html_element_content(tag->element);
    return effect;
}

static struct html_effect start_element(struct html_tree *tree,
                                        const struct html_start *tag)
{
    unsigned properties = html_element_properties(tag->element);
    struct html_effect effect = {.is_inserted = tree->template_count == 0,
                                 .is_foreign = true,
                                 .content = HTML_DATA};

    if (!starts_foreign(tree, tag->element))
        return start_html(tree, tag);
    if (properties & LEAVES_FOREIGN || (tag->element == ELEMENT_FONT && tag->is_styled)) {
        leave_foreign(tree);
        return start_html(tree, tag);
    }
    start_foreign(tree, tag);
    return effect;
}

/* Update `is_simple` after each change of the members on which it depends. */
static void note_simplicity(struct html_tree *tree)
{
    tree->is_simple = tree->depth == 0 && tree->has_body && !tree->may_have_frames &&
                      !tree->has_frames && !tree->is_xml;
}

struct html_effect html_tree_start(struct html_tree *tree, const struct html_start *tag)
{
    struct html_effect effect = start_element(tree, tag);

    note_simplicity(tree);
    return effect;
}

/* ---- end tags ---------------------------------------------------------------------- */

/*
 * Close the innermost HTML element with this name inside the current integration point,
 * and everything in this element.
 */
static void close_html(struct html_tree *tree, const struct html_name *name)
{
    uint64_t hash;

    if (tree->depth == 0) /* the usual case */
        return;
    hash = hash_of(name);
    for (unsigned i = tree->depth; i > 0 && tree->open[i - 1].inside == INSIDE_HTML; i--)
        if (tree->open[i - 1].name == hash) {
            pop_to(tree, i - 1);
            return;
        }
}

static bool is_template(enum html_inside what)
{
    return what == INSIDE_TEMPLATE || what == INSIDE_SHADOW;
}

static void close_template(struct html_tree *tree)
{
    unsigned i = tree->depth;

    while (i > 0 && !is_template(tree->open[i - 1].inside))
        i--;
    if (i > 0)
        pop_to(tree, i - 1);
}

static void end_html(struct html_tree *tree, const struct html_name *name,
                     enum html_element element)
{
    bool is_in_select = current_inside(tree) == INSIDE_SELECT;
    bool leaves_select =
        element == ELEMENT_SELECT ||
        (html_element_properties(element) & IS_OF_TABLE && tree->counts[element] > 0);

    if (tree->has_frames) {
        tree->frameset_depth -= element == ELEMENT_FRAMESET && tree->frameset_depth > 0;
        return;
    }
    if (element == ELEMENT_BODY || element == ELEMENT_HTML)
        tree->has_body = true;
    if (element == ELEMENT_TEMPLATE)
        close_template(tree);
    else if (is_in_select && !leaves_select)
        return;
    else if (element == ELEMENT_BR) /* "</br>" counts as "<br>" */
        rule_out_frames(tree);
    else if (is_in_select)
        pop_to(tree, tree->depth - 1);
    else
        close_html(tree, name);
    if (element == ELEMENT_FORM && tree->template_count == 0)
        tree->form_is_open = false;
    if (tree->counts[element] > 0)
        tree->counts[element]--;
}

/*
 * True if this end tag in SVG or MathML closes an HTML element around the <svg> or
 * <math>, and thereby the <svg> or <math> itself.
 */
static bool closes_foreign(const struct html_tree *tree, enum html_element element)
{
    return tree->counts[element] > 0 && element != ELEMENT_OTHER &&
           element != ELEMENT_BODY && element != ELEMENT_HTML && element != ELEMENT_FORM;
}

/*
 * Process an end tag in SVG or MathML. The tag closes the innermost SVG or MathML element
 * with this name, or otherwise an HTML element.
 */
static void end_foreign(struct html_tree *tree, const struct html_name *name,
                        enum html_element element)
{
    uint64_t hash = hash_of(name);
    unsigned i = tree->depth;

    for (; i > 0 && is_foreign(tree->open[i - 1].inside); i--)
        if (tree->open[i - 1].name == hash) {
            pop_to(tree, i - 1);
            return;
        }
    if (closes_foreign(tree, element))
        pop_to(tree, i);
    end_html(tree, name, element);
}

static void end_element(struct html_tree *tree, const struct html_name *name,
                        enum html_element element)
{
    if (!is_foreign(current_inside(tree))) {
        end_html(tree, name, element);
        return;
    }
    if (element == ELEMENT_P || element == ELEMENT_BR) {
        leave_foreign(tree);
        end_html(tree, name, element);
        return;
    }
    end_foreign(tree, name, element);
}

void html_tree_end(struct html_tree *tree, const struct html_name *name,
                   enum html_element element)
{
    end_element(tree, name, element);
    note_simplicity(tree);
}

/* ---- text -------------------------------------------------------------------------- */

void html_tree_text(struct html_tree *tree, const char *bytes, size_t n)
{
    for (size_t i = 0; i < n && tree->may_have_frames; i++)
        if (memchr(HTML_SPACE, bytes[i], sizeof HTML_SPACE) == NULL) /* or NUL */
            rule_out_frames(tree);
    note_simplicity(tree);
}
