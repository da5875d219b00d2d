/*
 * links.c - find the attributes that are links, and store their values.
 *
 * Values are stored as written, one after another. At the end of the page, when its
 * encoding and its base are known, stored_links.c decodes the values and splits them into
 * URLs. While a tag is being read, all values that may be needed are stored. At the '>'
 * of the tag, values that turned out not to be links are dropped.
 */
#include "links_inside.h"

#include "../../base/array.h"
#include "link_visit.h"
#include "srcdoc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define KEPT_BYTES_MAX ((size_t)1 << 30)
#define USUAL_LINKS 4096 /* larger arrays are freed after the page */

/* ---- links ------------------------------------------------------------------------- */

#define BIT(name) (1U << ATTRIBUTE_##name)

/*
 * For each element, the attributes that are links, or that decide whether another
 * attribute is a link.
 */
static const uint32_t wanted_of[ELEMENT_COUNT] = {
    [ELEMENT_A] = BIT(HREF) | BIT(XLINK_HREF),
    [ELEMENT_AREA] = BIT(HREF),
    [ELEMENT_AUDIO] = BIT(SRC),
    [ELEMENT_BASE] = BIT(HREF),
    [ELEMENT_BODY] = BIT(BACKGROUND),
    [ELEMENT_BUTTON] = BIT(FORMACTION) | BIT(FORMMETHOD) | BIT(TYPE),
    [ELEMENT_EMBED] = BIT(SRC),
    [ELEMENT_FORM] = BIT(ACTION) | BIT(METHOD),
    [ELEMENT_FRAME] = BIT(SRC),
    [ELEMENT_IFRAME] = BIT(SRC) | BIT(SRCDOC),
    [ELEMENT_IMAGE] = BIT(HREF) | BIT(XLINK_HREF) | BIT(SRC) | BIT(SRCSET),
    [ELEMENT_IMG] = BIT(SRC) | BIT(SRCSET),
    [ELEMENT_INPUT] = BIT(SRC) | BIT(FORMACTION) | BIT(FORMMETHOD) | BIT(TYPE),
    [ELEMENT_LINK] = BIT(HREF) | BIT(IMAGESRCSET) | BIT(REL),
    [ELEMENT_META] = BIT(CONTENT) | BIT(HTTP_EQUIV),
    [ELEMENT_OBJECT] = BIT(DATA),
    [ELEMENT_SCRIPT] = BIT(SRC),
    [ELEMENT_SOURCE] = BIT(SRC) | BIT(SRCSET),
    [ELEMENT_STYLE] = BIT(TYPE),
    [ELEMENT_TABLE] = BIT(BACKGROUND),
    [ELEMENT_TD] = BIT(BACKGROUND),
    [ELEMENT_TEMPLATE] = BIT(SHADOWROOTMODE),
    [ELEMENT_TH] = BIT(BACKGROUND),
    [ELEMENT_TRACK] = BIT(SRC),
    [ELEMENT_USE] = BIT(HREF) | BIT(XLINK_HREF),
    [ELEMENT_VIDEO] = BIT(SRC) | BIT(POSTER),
};

static const uint32_t urls = BIT(HREF) | BIT(XLINK_HREF) | BIT(SRC) | BIT(SRCSET) |
                             BIT(IMAGESRCSET) | BIT(POSTER) | BIT(DATA) | BIT(ACTION) |
                             BIT(FORMACTION) | BIT(BACKGROUND);

/* Return the attributes of an element that may contain nofollow. */
static uint32_t rel_of(enum html_element element)
{
    if (element == ELEMENT_A || element == ELEMENT_AREA)
        return BIT(REL);
    return element == ELEMENT_META ? BIT(NAME) : 0;
}

static uint32_t wanted_attributes(const struct links *links)
{
    uint32_t wanted = wanted_of[links->element];

    if (links->wants_ids)
        wanted |= BIT(ID) | (links->element == ELEMENT_A ? BIT(NAME) : 0);
    if (links->wants_rel)
        wanted |= rel_of(links->element);
    if (links->wants_css)
        wanted |= BIT(STYLE);
    if (!html_tree_is_foreign(&links->tree))
        return wanted;
    if (links->element == ELEMENT_FONT)
        wanted |= BIT(COLOR) | BIT(FACE) | BIT(SIZE);
    if (links->element == ELEMENT_ANNOTATION_XML)
        wanted |= BIT(ENCODING);
    return wanted;
}

/* ---- the tag that is being read ---------------------------------------------------- */

static bool has_only_other_relations(const struct links *links)
{
    char text[3 * LINKS_WORDS_BYTES + 1];
    struct link_relations relations =
        link_relations_of(links_words_of(links, ATTRIBUTE_REL, text));

    return relations.to_resources == 0 && relations.others > 0;
}

/* True if the tag forbids following links: <a rel=nofollow> or <meta name=robots
   content=nofollow>. */
static bool says_nofollow(struct links *links)
{
    if (!links->wants_rel)
        return false;
    if (links->element == ELEMENT_META &&
        links_attribute_is(links, ATTRIBUTE_NAME, "robots", "coil-crawl") &&
        links_attribute_has(links, ATTRIBUTE_CONTENT, "nofollow", "none"))
        links->nofollow = true;
    return rel_of(links->element) == BIT(REL) &&
           links_attribute_has(links, ATTRIBUTE_REL, "nofollow", "nofollow");
}

/*
 * True if the button submits its form with GET: according to its own `formmethod`, or
 * otherwise the form's `method`.
 */
static bool submits_by_get(const struct links *links)
{
    if (links_attribute(links, ATTRIBUTE_FORMMETHOD) != NULL)
        return !links_attribute_is(links, ATTRIBUTE_FORMMETHOD, "post", "dialog");
    return links->tree.form_is_open && links->form_is_get;
}

static uint32_t counted_of_input(const struct links *links)
{
    bool is_image = links_attribute_is(links, ATTRIBUTE_TYPE, "image", "image");
    bool submits =
        is_image || links_attribute_is(links, ATTRIBUTE_TYPE, "submit", "submit");

    return (is_image ? BIT(SRC) : 0) |
           (submits && submits_by_get(links) ? BIT(FORMACTION) : 0);
}

/*
 * Return a bit mask of the tag's attributes that are links to resources to be fetched.
 * For example, <link rel="preconnect"> only names a host, forms and pingbacks may accept
 * only POST, and the `src` of an input is used only if it is an image.
 */
static uint32_t counted_attributes(const struct links *links)
{
    uint32_t wanted = wanted_of[links->element];

    switch (links->element) {
    case ELEMENT_LINK:
        return has_only_other_relations(links) ? 0 : wanted;
    case ELEMENT_FORM:
        return links->form_is_get ? wanted : 0;
    case ELEMENT_BUTTON:
        return links_attribute_is(links, ATTRIBUTE_TYPE, "button", "reset") ||
                       !submits_by_get(links)
                   ? 0
                   : wanted;
    case ELEMENT_INPUT:
        return counted_of_input(links);
    case ELEMENT_IMAGE: /* <image> of SVG; in HTML, <image> becomes <img> */
        return BIT(HREF) | BIT(XLINK_HREF);
    case ELEMENT_META:
        return links_attribute_is(links, ATTRIBUTE_HTTP_EQUIV, "refresh", "refresh")
                   ? wanted
                   : 0;
    default:
        return wanted;
    }
}

/*
 * True if an "xlink:href" of this tag is a link. The attribute is ignored outside SVG,
 * and if the tag also has an "href". (SVG 2, 16.1.6)
 */
static bool takes_xlink(const struct links *links, bool is_foreign)
{
    return is_foreign && links_attribute(links, ATTRIBUTE_HREF) == NULL;
}

static int kind_of_id(const struct links *links, const struct kept_value *value)
{
    bool is_id = value->attribute == ATTRIBUTE_ID || links->element == ELEMENT_A;

    return is_id && !html_tree_is_shadow(&links->tree) ? KEPT_ID : -1;
}

/* Return the enum kept_kind of a value, or -1 if it is neither a link nor an id. */
static int kind_of(const struct links *links, const struct kept_value *value,
                   uint32_t counted)
{
    if (value->attribute == ATTRIBUTE_ID || value->attribute == ATTRIBUTE_NAME)
        return kind_of_id(links, value);
    if (value->attribute == ATTRIBUTE_STYLE)
        return KEPT_STYLE;
    if ((counted >> value->attribute & 1) == 0)
        return -1;
    if (links->element == ELEMENT_META)
        return value->attribute == ATTRIBUTE_CONTENT ? KEPT_REFRESH : -1;
    if (links->element == ELEMENT_BASE)
        return links->base == 0 ? KEPT_BASE : -1;
    if (value->attribute == ATTRIBUTE_SRCSET || value->attribute == ATTRIBUTE_IMAGESRCSET)
        return KEPT_SRCSET;
    if (value->attribute == ATTRIBUTE_SRCDOC)
        return KEPT_SRCDOC;
    return urls >> value->attribute & 1 ? KEPT_LINK : -1;
}

/* End the tag: drop its values that are neither links nor ids. */
static void store_tag(struct links *links, bool is_foreign)
{
    uint32_t counted = counted_attributes(links);
    bool nofollow = says_nofollow(links);
    size_t kept = links->tag_at;

    if (!takes_xlink(links, is_foreign))
        counted &= ~BIT(XLINK_HREF);
    for (size_t i = links->tag_at; i < links->count; i++) {
        int kind = kind_of(links, &links->kept[i], counted);
        if (kind < 0)
            continue;
        links->kept[kept] = links->kept[i];
        links->kept[kept].element = (uint8_t)links->element;
        links->kept[kept].nofollow = nofollow;
        links->kept[kept++].kind = (uint8_t)kind;
        if (kind == KEPT_BASE)
            links->base = kept;
    }
    links->count = kept;
}

static void drop_tag(struct links *links)
{
    links->count = links->tag_at;
    links->bytes.n = links->bytes_at;
}

/* Drop the values in the body before the current <frameset>. */
static void drop_body(struct links *links)
{
    size_t n = links->count - links->tag_at;

    if (n > 0)
        memmove(&links->kept[links->body_at], &links->kept[links->tag_at],
                n * sizeof *links->kept);
    links->tag_at = links->body_at;
    links->count = links->body_at + n;
    if (links->base > links->body_at)
        links->base = 0;
}

/* ---- tokens ------------------------------------------------------------------------ */

static bool on_tag(const struct html_name *name, bool is_end, void *arg)
{
    struct links *links = arg;

    drop_tag(links); /* drop the values of an unfinished tag */
    links->element = html_element_of(name);
    if (is_end)
        return false;
    links->wanted = wanted_attributes(links);
    links->tokenizer.marks_end = links->wants_css && links->element == ELEMENT_STYLE;
    return links->wanted != 0;
}

static bool on_wants(const struct html_name *name, void *arg)
{
    struct links *links = arg;

    links->attribute = html_attribute_of(name);
    return links->wanted >> links->attribute & 1;
}

/* Store the n bytes of a value and a NUL, and append `value`, which describes it. */
static int store_value(struct links *links, const char *bytes, size_t n,
                       struct kept_value value)
{
    if (links->count == links->capacity &&
        array_grow(&links->kept, &links->capacity, sizeof *links->kept) < 0)
        return -ENOMEM;
    value.start = (uint32_t)links->bytes.n;
    value.n = (uint32_t)n;
    if (html_buffer_add(&links->bytes, bytes, n, KEPT_BYTES_MAX) < 0 ||
        html_buffer_add(&links->bytes, "", 1, KEPT_BYTES_MAX) < 0)
        return -ENOMEM;
    links->kept[links->count++] = value;
    return links->bytes.cut ? -EMSGSIZE : 0;
}

/* True if a style attribute may contain "url(": it contains a parenthesis, or a character
   reference that may stand for one. Most style attributes do not. */
static bool may_have_url(const struct html_value *style)
{
    return memchr(style->bytes, '(', style->n) != NULL ||
           memchr(style->bytes, '&', style->n) != NULL;
}

static int on_attribute(const struct html_name *name, const struct html_value *value,
                        void *arg)
{
    struct links *links = arg;
    const struct html_name_buffer *element = &links->tokenizer.name;
    int rc;

    (void)name;
    if (links->attribute == ATTRIBUTE_STYLE && !may_have_url(value))
        return 0;
    rc = store_value(links, value->bytes, value->n,
                     (struct kept_value){.place = value->place,
                                         .attribute = (uint8_t)links->attribute,
                                         .cut = value->cut});
    if (rc == 0 && links->attribute == ATTRIBUTE_STYLE)
        rc = html_buffer_add(&links->bytes, element->bytes, element->name.n + 1,
                             KEPT_BYTES_MAX);
    return rc == 0 && links->bytes.cut ? -EMSGSIZE : rc;
}

static void begin_tag(struct links *links)
{
    links->tag_at = links->count;
    links->bytes_at = links->bytes.n;
}

static struct html_start start_of(const struct links *links, const struct html_name *name,
                                  bool is_self_closing)
{
    struct html_start start = {
        .name = name, .element = links->element, .is_self_closing = is_self_closing};

    if (links->element == ELEMENT_FONT)
        start.is_styled = links_attribute(links, ATTRIBUTE_COLOR) != NULL ||
                          links_attribute(links, ATTRIBUTE_FACE) != NULL ||
                          links_attribute(links, ATTRIBUTE_SIZE) != NULL;
    else if (links->element == ELEMENT_INPUT)
        start.is_hidden = links_attribute_is(links, ATTRIBUTE_TYPE, "hidden", "hidden");
    else if (links->element == ELEMENT_TEMPLATE)
        start.is_shadow =
            links_attribute_is(links, ATTRIBUTE_SHADOWROOTMODE, "open", "closed");
    else if (links->element == ELEMENT_ANNOTATION_XML)
        start.has_html = links_attribute_is(links, ATTRIBUTE_ENCODING, "text/html",
                                            "application/xhtml+xml");
    return start;
}

/* ---- style sheets ------------------------------------------------------------------ */

/*
 * Store a URL from a style sheet. The URL does not belong to a tag, so the values of the
 * next tag begin after it.
 */
static int on_css_url(const struct css_url *url, void *arg)
{
    struct links *links = arg;
    int rc = store_value(
        links, url->bytes, url->n,
        (struct kept_value){.place = url->place,
                            .kind = KEPT_CSS,
                            .element = links->is_sheet ? ELEMENT_OTHER : ELEMENT_STYLE,
                            .attribute = (uint8_t)url->kind,
                            .cut = url->cut});

    begin_tag(links);
    return rc;
}

/* True if the current start tag begins a style sheet. (HTML: update a style block) */
static bool is_style_sheet(const struct links *links, const struct html_effect *effect)
{
    return links->wants_css && links->element == ELEMENT_STYLE && effect->is_inserted &&
           effect->content == HTML_RAWTEXT &&
           (links_attribute(links, ATTRIBUTE_TYPE) == NULL ||
            links_attribute_is(links, ATTRIBUTE_TYPE, "", "text/css"));
}

static int end_style(struct links *links)
{
    if (!links->in_style)
        return 0;
    links->in_style = false;
    return css_end(&links->css);
}

/* ---- the end of a tag -------------------------------------------------------------- */

/* Change links->element if the tag means another element at this place, or is ignored
   here. */
static void adjust_element(struct links *links, const struct html_effect *effect)
{
    if (links->element == ELEMENT_IMAGE && !effect->is_foreign)
        /* as in the standard, whose only explanation is "Don't ask" */
        links->element = ELEMENT_IMG;
    else if (links->element == ELEMENT_BASE && effect->is_foreign)
        /* SVG has no <base>, so this must not change the page's base */
        links->element = ELEMENT_OTHER;
    else if ((links->element == ELEMENT_BASE || links->element == ELEMENT_META) &&
             html_tree_is_shadow(&links->tree))
        links->element = ELEMENT_OTHER; /* a <base> in a shadow tree is ignored */
    else if (links->element == ELEMENT_USE && !effect->is_foreign)
        links->element = ELEMENT_OTHER;
    else if (links->element == ELEMENT_FORM && effect->is_inserted)
        links->form_is_get =
            !links_attribute_is(links, ATTRIBUTE_METHOD, "post", "dialog");
}

static void start_tag(struct links *links, const struct html_name *name,
                      bool is_self_closing)
{
    struct html_start start = start_of(links, name, is_self_closing);
    struct html_effect effect = html_tree_start(&links->tree, &start);

    if (effect.content != HTML_DATA)
        html_tokenizer_set_content(&links->tokenizer, effect.content, name->bytes);
    if (effect.drops_body)
        drop_body(links);
    links->in_style = is_style_sheet(links, &effect);
    if (links->in_style)
        css_begin(&links->css, links->tokenizer.end_place);
    adjust_element(links, &effect);
    if (!effect.is_inserted)
        drop_tag(links);
    else if (links->count > links->tag_at)
        store_tag(links, effect.is_foreign);
}

/* not inlined, because few tags need its large stack frame */
__attribute__((noinline)) static int end_tag(struct links *links,
                                             const struct html_name *name, bool is_end,
                                             bool is_self_closing)
{
    struct html_tokenizer *tokenizer = &links->tokenizer;
    bool had_body = links->tree.has_body;
    int rc = end_style(links);

    if (is_end)
        html_tree_end(&links->tree, name, links->element);
    else
        start_tag(links, name, is_self_closing);
    if (!had_body && links->tree.has_body)
        links->body_at = links->tag_at;
    begin_tag(links);
    tokenizer->allows_cdata = html_tree_allows_cdata(&links->tree);
    tokenizer->wants_text = links->in_style || (links->tree.may_have_frames &&
                                                tokenizer->content == HTML_DATA);
    return rc;
}

/*
 * Return the number for a tag that does nothing except html_tree_count(). Which attributes
 * are wanted is the same for each such tag, so the tag's text alone determines its effect.
 */
static uint16_t repeat_of(enum html_element element, bool is_end)
{
    return (uint16_t)(2 * (element + 1) + is_end);
}

static int on_tag_end(const struct html_name *name, bool is_end, bool is_self_closing,
                      void *arg)
{
    struct links *links = arg;

    if (!html_tree_only_counts(&links->tree, links->element))
        return end_tag(links, name, is_end, is_self_closing);
    html_tree_count(&links->tree, links->element, is_end);
    if (links->count > links->tag_at)
        store_tag(links, false);
    else
        links->tokenizer.repeat = repeat_of(links->element, is_end);
    begin_tag(links);
    return 0; /* the tag does not change how the text after it is read */
}

static bool on_repeat(unsigned number, void *arg)
{
    struct links *links = arg;

    if (!links->tree.is_simple)
        return false;
    html_tree_count(&links->tree, (enum html_element)(number / 2 - 1), number % 2);
    return true;
}

static int on_text(const char *bytes, size_t n, void *arg)
{
    struct links *links = arg;
    bool had_body = links->tree.has_body;

    if (links->in_style)
        return css_feed(&links->css, bytes, n);
    html_tree_text(&links->tree, bytes, n);
    if (!had_body && links->tree.has_body)
        links->body_at = links->count;
    links->tokenizer.wants_text = links->tree.may_have_frames;
    return 0;
}

static const struct html_sink sink = {.tag = on_tag,
                                      .wants = on_wants,
                                      .attribute = on_attribute,
                                      .tag_end = on_tag_end,
                                      .text = on_text,
                                      .repeat = on_repeat};

/* ---- a page ------------------------------------------------------------------------ */

void links_init(struct links *links)
{
    memset(links, 0, sizeof *links);
    html_names_prepare();
    html_tokenizer_init(&links->tokenizer, &sink, links);
    css_init(&links->css, on_css_url, links);
    links_reset(links);
}

static void free_kept(struct links *links)
{
    free(links->kept);
    links->kept = NULL;
    links->count = links->capacity = 0;
}

void links_finish(struct links *links)
{
    html_tokenizer_finish(&links->tokenizer);
    css_finish(&links->css);
    html_buffer_finish(&links->bytes);
    html_buffer_finish(&links->text);
    html_buffer_finish(&links->css_text);
    free_kept(links);
}

void links_reset(struct links *links)
{
    html_tokenizer_reset(&links->tokenizer);
    html_tree_reset(&links->tree);
    html_buffer_shrink(&links->bytes);
    html_buffer_shrink(&links->text);
    html_buffer_shrink(&links->css_text);
    if (links->capacity > USUAL_LINKS)
        free_kept(links);
    links->count = links->body_at = links->base = 0;
    links->nofollow = links->is_sheet = links->in_style = links->form_is_get = false;
    begin_tag(links);
}

void links_expect_sheet(struct links *links)
{
    links->is_sheet = true;
    css_begin(&links->css, (struct html_position){1, 1});
}

void links_expect_xml(struct links *links)
{
    links->tree.is_xml = true;
}

int links_feed(struct links *links, const char *html, size_t n)
{
    if (links->is_sheet)
        return css_feed(&links->css, html, n);
    return html_tokenizer_feed(&links->tokenizer, html, n);
}

int links_end(struct links *links)
{
    int rc;

    if (links->is_sheet)
        return css_end(&links->css);
    rc = html_tokenizer_end(&links->tokenizer);
    drop_tag(links);
    return rc == 0 ? end_style(links) : rc;
}

void links_break_off(struct links *links)
{
    if (!links->is_sheet)
        drop_tag(links);
}
