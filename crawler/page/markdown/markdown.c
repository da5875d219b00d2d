/*
 * markdown.c - find the links in a Markdown text.
 *
 *      text --cmark--> tree --walk--+--> links and ids, with offsets --> sorted ---+
 *                             |                                                    +--> visit()
 *                             '--> raw HTML, at its place --links.c----------------+
 *
 * Raw HTML is copied to a text that is otherwise blank, at the same offset as in the
 * source. So one tokenizer can read all raw HTML, with the same lines and columns as in
 * the source. In addition, the walk over the tree passes raw HTML to a second tokenizer
 * that finds headings, because headings in HTML and in Markdown must get their ids in
 * document order.
 */
#include "markdown.h"

#include "../../base/arena.h"
#include "../../base/array.h"
#include "heading_ids.h"
#include "../html/html_names.h"
#include "markdown_mask.h"
#include "markdown_source.h"
#include "../../base/text.h"

#include <cmark-gfm-core-extensions.h>
#include <cmark-gfm.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* A link or an id. */
struct found {
    struct link link; /* its strings are in the arena */
    size_t offset, order;
};

struct found_list {
    struct found *at;
    size_t count, capacity;
};

struct markdown {
    struct arena arena;
    struct found_list own, html; /* found in Markdown and in raw HTML */
};

/*
 * The state of a document that is being read. The struct has many members, because the
 * walk over the tree and the callbacks of the tokenizers share it.
 */
struct reader {
    struct markdown *found;
    struct markdown_source source;
    struct heading_ids heading_ids;
    /* a copy of the source, blank except for raw HTML; NULL if there is no raw HTML */
    char *blank;
    struct text heading;               /* the text of the current heading */
    enum html_element heading_element; /* ELEMENT_OTHER outside of headings */
    bool heading_is_html;
    size_t heading_at;
    struct html_tokenizer html_headings; /* reads raw HTML to find headings */
    size_t block_at;                     /* where the current block begins */
    struct markdown_options options;
    unsigned image_depth; /* number of images around the current text */
    int rc;
};

/* ---- findings ---------------------------------------------------------------------- */

static int add_found(struct reader *reader, struct found_list *list,
                     const struct link *link, size_t offset)
{
    struct found *found;

    if (list->count == list->capacity &&
        array_grow(&list->at, &list->capacity, sizeof *list->at) < 0)
        return -ENOMEM;
    found = &list->at[list->count];
    *found = (struct found){.link = *link, .offset = offset, .order = list->count};
    found->link.reference =
        arena_text(&reader->found->arena, link->reference, strlen(link->reference));
    list->count++;
    return found->link.reference != NULL ? 0 : -ENOMEM;
}

static void add_copy(struct reader *reader, enum link_kind kind, const char *reference,
                     const char *element, enum html_attribute attribute, size_t offset)
{
    struct link link = {.kind = kind,
                        .reference = reference,
                        .element = element,
                        .attribute = html_attribute_name(attribute)};

    if (reader->rc == 0)
        reader->rc = add_found(reader, &reader->found->own, &link, offset);
}

/* ---- raw HTML ---------------------------------------------------------------------- */

/* True for tags that GitHub shows as text. (GFM, 6.11) */
static bool is_filtered(const char *s, size_t n)
{
    static const char *const names[] = {"title",    "textarea", "style",
                                        "xmp",      "iframe",   "noembed",
                                        "noframes", "script",   "plaintext"};

    size_t name_at = n > 1 && s[1] == '/' ? 2 : 1;

    if (s[0] != '<')
        return false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t end = name_at + strlen(names[i]);
        if (n >= end && strncasecmp(s + name_at, names[i], end - name_at) == 0 &&
            (n == end || strchr(" \t\f/>", s[end]) != NULL))
            return true;
    }
    return false;
}

static bool make_blank(struct reader *reader)
{
    const struct markdown_source *source = &reader->source;

    if (reader->blank != NULL)
        return true;
    reader->blank = malloc(source->n > 0 ? source->n : 1);
    for (size_t i = 0; reader->blank != NULL && i < source->n; i++) {
        char c = source->text[i];
        /* Keep continuation bytes of UTF-8, because they do not count as columns. */
        reader->blank[i] =
            c == '\n' || c == '\r' || ((unsigned char)c & 0xc0) == 0x80 ? c : ' ';
    }
    return reader->blank != NULL;
}

/*
 * Copy raw HTML to reader->blank line by line, because each line of a quotation or list
 * has a prefix in the source. Indentation is ignored, because the parser may have changed
 * it.
 */
static void copy_html(struct reader *reader, const char *html)
{
    size_t at;

    if (!make_blank(reader)) {
        reader->rc = -ENOMEM;
        return;
    }
    for (size_t n; *html != '\0'; html += n + strspn(html + n, "\r\n")) {
        html += strspn(html, " \t");
        n = strcspn(html, "\r\n");
        if (n == 0 || !markdown_source_find(&reader->source, html, n, &at))
            continue;
        for (size_t i = 0; i < n; i++)
            reader->blank[at + i] = is_filtered(html + i, n - i) ? ' ' : html[i];
    }
}

static int add_html_link(const struct link *link, void *arg)
{
    struct reader *reader = arg;

    /* GitHub removes <base>. In MDX, "{url}" is an expression. */
    if (link->kind == LINK_BASE || (reader->options.is_mdx && link->reference[0] == '{'))
        return 0;
    return add_found(reader, &reader->found->html, link, 0);
}

static int search_html(struct reader *reader)
{
    struct links links;
    int rc;

    if (reader->blank == NULL)
        return 0;
    links_init(&links);
    links.wants_ids = reader->options.wants_ids;
    rc = links_feed(&links, reader->blank, reader->source.n);
    if (rc == 0)
        rc = links_end(&links);
    if (rc == 0)
        rc = links_visit(&links, false, add_html_link, reader);
    links_finish(&links);
    return rc;
}

/* ---- headings ---------------------------------------------------------------------- */

/* Append text to the current heading, unless it is the alternative text of an image. */
static void add_to_heading(struct reader *reader, const char *s, size_t n)
{
    if (reader->heading_element != ELEMENT_OTHER && reader->image_depth == 0)
        text_add(&reader->heading, s, n);
}

/*
 * Return the id in a heading such as "Title {#id}", or NULL. Docusaurus, Hugo, kramdown
 * and Pandoc use this syntax. In Pandoc, classes may follow the id in the braces. The id
 * points into the heading's text, in which a NUL is written after it.
 */
static const char *explicit_id(struct text *heading)
{
    size_t n = heading->n;
    char *brace;

    while (n > 0 && heading->at[n - 1] == ' ')
        n--;
    if (n == 0 || heading->at[n - 1] != '}')
        return NULL;
    brace = memrchr(heading->at, '{', n);
    if (brace == NULL || brace[1] != '#')
        return NULL;
    brace[strcspn(brace, " }")] = '\0';
    return brace + 2;
}

static void add_id(struct reader *reader, const char *id)
{
    if (reader->options.wants_ids && id[0] != '\0')
        add_copy(reader, LINK_ID, id, html_element_name(reader->heading_element),
                 ATTRIBUTE_ID, reader->heading_at);
}

/*
 * End the current heading, and add its ids. Even a heading with "{#id}" gets an id from
 * its text, because GitHub treats "{#id}" as text.
 */
static void end_heading(struct reader *reader)
{
    const char *id, *own;

    if (reader->heading_element == ELEMENT_OTHER)
        return;
    id = heading_ids_add(&reader->heading_ids, reader->heading.at, reader->heading.n);
    own = explicit_id(&reader->heading);
    if (id == NULL || reader->heading.failed) {
        reader->rc = -ENOMEM;
    } else {
        add_id(reader, id);
        if (own != NULL)
            add_id(reader, own);
    }
    text_finish(&reader->heading);
    reader->heading_element = ELEMENT_OTHER;
    reader->html_headings.wants_text = false;
}

/* Begin a heading. If the previous one is still open, end it first. */
static void begin_heading(struct reader *reader, enum html_element element, bool is_html)
{
    end_heading(reader);
    reader->heading_element = element;
    reader->heading_is_html = is_html;
    reader->heading_at = reader->block_at;
    reader->html_headings.wants_text = is_html;
}

static int on_html_tag_end(const struct html_name *name, bool is_end,
                           bool is_self_closing, void *arg)
{
    struct reader *reader = arg;
    enum html_element element = html_element_of(name);
    bool in_markdown =
        reader->heading_element != ELEMENT_OTHER && !reader->heading_is_html;

    (void)is_self_closing;
    if (element < ELEMENT_H1 || element > ELEMENT_H6 || in_markdown)
        return 0;
    if (is_end)
        end_heading(reader);
    else
        begin_heading(reader, element, true);
    return 0;
}

static int on_html_text(const char *bytes, size_t n, void *arg)
{
    add_to_heading(arg, bytes, n);
    return 0;
}

static const struct html_sink heading_sink = {.tag_end = on_html_tag_end,
                                              .text = on_html_text};

/*
 * Find headings in raw HTML, because GitHub generates ids for them too. Their contents
 * may be Markdown.
 */
static void find_headings(struct reader *reader, const char *html)
{
    int rc = html_tokenizer_feed(&reader->html_headings, html, strlen(html));

    if (reader->rc == 0)
        reader->rc = rc;
}

/* ---- the tree ---------------------------------------------------------------------- */

static bool is_of_type(cmark_node *node, const char *type)
{
    return strcmp(cmark_node_get_type_string(node), type) == 0;
}

/* Return the text of a link, or NULL if the link contains anything else. */
static const char *label_of(cmark_node *node)
{
    cmark_node *child = cmark_node_first_child(node);

    return child != NULL && cmark_node_next(child) == NULL &&
                   cmark_node_get_type(child) == CMARK_NODE_TEXT
               ? cmark_node_get_literal(child)
               : NULL;
}

static void add_link(struct reader *reader, cmark_node *node, bool is_image)
{
    const char *url = cmark_node_get_url(node);
    size_t at = markdown_source_link(&reader->source, url, label_of(node));

    add_copy(reader, LINK_OTHER, url,
             html_element_name(is_image ? ELEMENT_IMG : ELEMENT_A),
             is_image ? ATTRIBUTE_SRC : ATTRIBUTE_HREF, at);
}

static void add_footnote_id(struct reader *reader, const char *prefix, const char *label,
                            size_t n)
{
    struct text id = {0};
    char *taken;

    text_add(&id, prefix, strlen(prefix));
    text_add(&id, label, n);
    taken = text_take(&id);
    if (taken == NULL)
        reader->rc = -ENOMEM;
    else
        add_copy(reader, LINK_ID, taken, html_element_name(ELEMENT_LI), ATTRIBUTE_ID,
                 (size_t)(label - 2 - reader->source.text));
    free(taken);
}

/*
 * Add the ids of a footnote: "fn-label" for the footnote "[^label]:", and "fnref-label"
 * for the first reference to it. (cmark drops footnotes without a reference.) The label
 * is read from the source, because cmark does not provide it.
 */
static void add_footnote(struct reader *reader, cmark_node *node)
{
    const struct markdown_source *source = &reader->source;
    size_t line = markdown_source_line(source, cmark_node_get_start_line(node));
    size_t end = markdown_source_line(source, cmark_node_get_start_line(node) + 1);
    const char *label = memmem(source->text + line, end - line, "[^", 2), *close = NULL;

    if (label != NULL)
        close = memchr(label, ']', (size_t)(source->text + end - label));
    if (close == NULL || !reader->options.wants_ids)
        return;
    label += 2;
    add_footnote_id(reader, "fn-", label, (size_t)(close - label));
    add_footnote_id(reader, "fnref-", label, (size_t)(close - label));
}

static size_t offset_of(const struct reader *reader, cmark_node *node)
{
    int column = cmark_node_get_start_column(node);

    return markdown_source_line(&reader->source, cmark_node_get_start_line(node)) +
           (column > 1 ? (size_t)column - 1 : 0);
}

/*
 * Enter a block. If it is raw HTML, extend it by one line, because the end reported by
 * cmark is one line too early if the last line contains "-->".
 */
static void enter_block(struct reader *reader, cmark_node *node)
{
    bool is_html = cmark_node_get_type(node) == CMARK_NODE_HTML_BLOCK;

    markdown_source_enter(&reader->source, cmark_node_get_start_line(node),
                          cmark_node_get_start_column(node),
                          cmark_node_get_end_line(node) + is_html);
    reader->block_at = offset_of(reader, node);
}

static void add_html(struct reader *reader, const char *html)
{
    copy_html(reader, html);
    find_headings(reader, html);
}

static void enter_node(struct reader *reader, cmark_node *node)
{
    cmark_node_type type = cmark_node_get_type(node);
    const char *literal = cmark_node_get_literal(node);

    if (type == CMARK_NODE_HEADING || type == CMARK_NODE_PARAGRAPH ||
        type == CMARK_NODE_HTML_BLOCK || is_of_type(node, "table_cell"))
        enter_block(reader, node);
    if (type == CMARK_NODE_HEADING)
        begin_heading(
            reader,
            (enum html_element)(ELEMENT_H1 + cmark_node_get_heading_level(node) - 1),
            false);
    else if (type == CMARK_NODE_IMAGE)
        reader->image_depth++;
    else if (type == CMARK_NODE_FOOTNOTE_DEFINITION)
        add_footnote(reader, node);
    else if (type == CMARK_NODE_HTML_BLOCK || type == CMARK_NODE_HTML_INLINE)
        add_html(reader, literal);
    else if (type == CMARK_NODE_CODE)
        markdown_source_skip_code(&reader->source, literal);
    if (type == CMARK_NODE_TEXT || type == CMARK_NODE_CODE)
        add_to_heading(reader, literal, strlen(literal));
}

static void leave_node(struct reader *reader, cmark_node *node)
{
    cmark_node_type type = cmark_node_get_type(node);

    reader->image_depth -= type == CMARK_NODE_IMAGE;
    if (type == CMARK_NODE_LINK || type == CMARK_NODE_IMAGE)
        add_link(reader, node, type == CMARK_NODE_IMAGE);
    else if (type == CMARK_NODE_HEADING)
        end_heading(reader);
}

static void walk_tree(struct reader *reader, cmark_node *document)
{
    cmark_iter *iter = cmark_iter_new(document);
    cmark_event_type event;

    while ((event = cmark_iter_next(iter)) != CMARK_EVENT_DONE && reader->rc == 0) {
        if (event == CMARK_EVENT_EXIT)
            leave_node(reader, cmark_iter_get_node(iter));
        else
            enter_node(reader, cmark_iter_get_node(iter));
    }
    cmark_iter_free(iter);
    end_heading(reader);
}

/*
 * Parse a text. A mutex lets only one thread parse at a time, because all parsers of
 * cmark share a table of the special characters of extensions.
 */
static cmark_node *parse_text(const char *text, size_t n)
{
    static const char *const names[] = {"table", "strikethrough", "autolink"};
    static pthread_mutex_t alone = PTHREAD_MUTEX_INITIALIZER;
    cmark_parser *parser;
    cmark_node *document;

    pthread_mutex_lock(&alone);
    cmark_gfm_core_extensions_ensure_registered();
    parser = cmark_parser_new(CMARK_OPT_FOOTNOTES);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        cmark_parser_attach_syntax_extension(parser,
                                             cmark_find_syntax_extension(names[i]));
    cmark_parser_feed(parser, text, n);
    document = cmark_parser_finish(parser);
    cmark_parser_free(parser);
    pthread_mutex_unlock(&alone);
    return document;
}

/* ---- order ------------------------------------------------------------------------- */

static int compare_found(const void *a, const void *b)
{
    const struct found *x = a, *y = b;

    if (x->offset != y->offset)
        return x->offset < y->offset ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

/* Set the places of all links and ids from their offsets, in one pass over the source. */
static void place_own(struct reader *reader)
{
    struct html_counter counter = {{1, 1}, false};
    struct found_list *own = &reader->found->own;
    size_t at = 0;

    if (own->count > 0)
        qsort(own->at, own->count, sizeof *own->at, compare_found);
    for (size_t i = 0; i < own->count; i++) {
        html_count(&counter, reader->source.text + at, own->at[i].offset - at);
        at = own->at[i].offset;
        own->at[i].link.place = counter.place;
    }
}

static bool is_before(const struct html_position *a, const struct html_position *b)
{
    return a->line != b->line ? a->line < b->line : a->column <= b->column;
}

int markdown_visit(const struct markdown *markdown, links_visit_function visit, void *arg)
{
    const struct found_list *own = &markdown->own, *html = &markdown->html;
    int rc = 0;

    for (size_t i = 0, j = 0; rc == 0 && (i < own->count || j < html->count);) {
        bool is_own = j == html->count ||
                      (i < own->count &&
                       is_before(&own->at[i].link.place, &html->at[j].link.place));
        rc = visit(is_own ? &own->at[i++].link : &html->at[j++].link, arg);
    }
    return rc;
}

/* ---- whole ------------------------------------------------------------------------- */

static int read_text(struct reader *reader, const char *text, size_t n)
{
    cmark_node *document;

    reader->rc = markdown_source_init(&reader->source, text, n);
    if (reader->rc < 0)
        return reader->rc;
    document = parse_text(text, n);
    walk_tree(reader, document);
    cmark_node_free(document);
    place_own(reader);
    return reader->rc == 0 ? search_html(reader) : reader->rc;
}

static int read_masked(const char *text, size_t n, struct markdown_options options,
                       struct markdown *markdown)
{
    struct reader reader = {.found = markdown, .options = options};
    char *copy;
    int rc = markdown_mask(text, n, options.is_mdx, &copy);

    if (rc < 0)
        return rc;
    heading_ids_init(&reader.heading_ids);
    html_names_prepare();
    html_tokenizer_init(&reader.html_headings, &heading_sink, &reader);
    reader.html_headings.wants_text = false;
    rc = read_text(&reader, copy != NULL ? copy : text, n);
    markdown_source_finish(&reader.source);
    heading_ids_finish(&reader.heading_ids);
    html_tokenizer_finish(&reader.html_headings);
    text_finish(&reader.heading);
    free(reader.blank);
    free(copy);
    return rc;
}

int markdown_read(const char *text, size_t n, struct markdown_options options,
                  struct markdown **out)
{
    int rc;

    *out = NULL;
    if (n > MARKDOWN_BYTES)
        return -EMSGSIZE;
    *out = calloc(1, sizeof **out);
    if (*out == NULL)
        return -ENOMEM;
    rc = read_masked(text, n, options, *out);
    if (rc < 0) {
        markdown_destroy(*out);
        *out = NULL;
    }
    return rc;
}

void markdown_destroy(struct markdown *markdown)
{
    if (markdown == NULL)
        return;
    arena_finish(&markdown->arena);
    free(markdown->own.at);
    free(markdown->html.at);
    free(markdown);
}
