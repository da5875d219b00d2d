/*
 * links.c - which attributes are links.
 *
 * Values are kept as written, one behind the other, since the page's encoding and its base are
 * certain only at its end; then they are decoded and taken apart. A tag keeps the values that may
 * be wanted of it while it is read, and most of them go again at its '>', where it is known
 * whether it counts.
 */
#include "links.h"

#include "../base/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define KEPT_BYTES_MAX ((size_t)1 << 30)
#define USUAL_LINKS 4096 /* of a page; room for more is given back */

enum kept_kind { KEPT_LINK, KEPT_SRCSET, KEPT_REFRESH, KEPT_BASE, KEPT_ID };

struct kept_value {
    uint32_t start, n; /* in `bytes` */
    struct html_place place;
    uint8_t kind, element, attribute;
    bool cut, nofollow;
};

/* ---- what counts as a link --------------------------------------------------------- */

#define BIT(name) (1U << ATTRIBUTE_##name)

/* Attributes that are URLs, or say whether another is one. */
static const uint32_t wanted_of[ELEMENT_COUNT] = {
    [ELEMENT_A] = BIT(HREF),
    [ELEMENT_AREA] = BIT(HREF),
    [ELEMENT_AUDIO] = BIT(SRC),
    [ELEMENT_BASE] = BIT(HREF),
    [ELEMENT_EMBED] = BIT(SRC),
    [ELEMENT_FORM] = BIT(ACTION) | BIT(METHOD),
    [ELEMENT_FRAME] = BIT(SRC),
    [ELEMENT_IFRAME] = BIT(SRC),
    [ELEMENT_IMAGE] = BIT(SRC) | BIT(SRCSET),
    [ELEMENT_IMG] = BIT(SRC) | BIT(SRCSET),
    [ELEMENT_INPUT] = BIT(SRC) | BIT(TYPE),
    [ELEMENT_LINK] = BIT(HREF) | BIT(REL),
    [ELEMENT_META] = BIT(CONTENT) | BIT(HTTP_EQUIV),
    [ELEMENT_OBJECT] = BIT(DATA),
    [ELEMENT_SCRIPT] = BIT(SRC),
    [ELEMENT_SOURCE] = BIT(SRC) | BIT(SRCSET),
    [ELEMENT_TRACK] = BIT(SRC),
    [ELEMENT_VIDEO] = BIT(SRC) | BIT(POSTER),
};

static const uint32_t urls =
    BIT(HREF) | BIT(SRC) | BIT(SRCSET) | BIT(POSTER) | BIT(DATA) | BIT(ACTION);

/* Attributes that say whether links are to be followed. */
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
    if (!html_tree_is_foreign(&links->tree))
        return wanted;
    if (links->element == ELEMENT_FONT)
        wanted |= BIT(COLOR) | BIT(FACE) | BIT(SIZE);
    if (links->element == ELEMENT_ANNOTATION_XML)
        wanted |= BIT(ENCODING);
    return wanted;
}

/* ---- the tag that is being read ---------------------------------------------------- */

static struct kept_value *attribute(const struct links *links, enum html_attribute which)
{
    for (size_t i = links->tag_at; i < links->count; i++)
        if (links->kept[i].attribute == which)
            return &links->kept[i];
    return NULL;
}

/* True for an attribute that is one of these words. */
static bool attribute_is(const struct links *links, enum html_attribute which,
                         const char *one, const char *other)
{
    const struct kept_value *value = attribute(links, which);
    char text[3 * 64 + 1];

    if (value == NULL || value->n > 64)
        return false;
    text[html_decode(links->bytes.bytes + value->start, value->n, text)] = '\0';
    return strcasecmp(text, one) == 0 || strcasecmp(text, other) == 0;
}

/* How many of an attribute's words, between white space or commas, are one of two, and how
   many are not. */
struct words {
    unsigned those, others;
};

static struct words words_of(const struct links *links, enum html_attribute which,
                             const char *one, const char *other)
{
    const struct kept_value *value = attribute(links, which);
    char text[3 * 256 + 1], *rest = text, *word;
    struct words words = {0, 0};

    if (value == NULL || value->n > 256)
        return words;
    text[html_decode(links->bytes.bytes + value->start, value->n, text)] = '\0';
    while ((word = strtok_r(rest, " \t\n\f\r,", &rest)) != NULL) {
        bool is_one = strcasecmp(word, one) == 0 || strcasecmp(word, other) == 0;
        words.those += is_one;
        words.others += !is_one;
    }
    return words;
}

static bool attribute_has(const struct links *links, enum html_attribute which,
                          const char *one, const char *other)
{
    return words_of(links, which, one, other).those > 0;
}

static bool attribute_has_only(const struct links *links, enum html_attribute which,
                               const char *one, const char *other)
{
    struct words words = words_of(links, which, one, other);

    return words.those > 0 && words.others == 0;
}

/* What <a rel=nofollow> says of itself, or <meta name=robots content=nofollow> of the page. */
static bool says_nofollow(struct links *links)
{
    if (!links->wants_rel)
        return false;
    if (links->element == ELEMENT_META &&
        attribute_is(links, ATTRIBUTE_NAME, "robots", "coil-crawl") &&
        attribute_has(links, ATTRIBUTE_CONTENT, "nofollow", "none"))
        links->nofollow = true;
    return rel_of(links->element) == BIT(REL) &&
           attribute_has(links, ATTRIBUTE_REL, "nofollow", "nofollow");
}

/*
 * A <link rel="preconnect"> names a host to get ready and no resource; what a form is
 * posted to need not answer to GET; and of inputs, only images have a source.
 */
static bool names_no_resource(const struct links *links)
{
    switch (links->element) {
    case ELEMENT_OTHER:
        return true;
    case ELEMENT_LINK:
        return attribute_has_only(links, ATTRIBUTE_REL, "preconnect", "dns-prefetch");
    case ELEMENT_FORM:
        return attribute_is(links, ATTRIBUTE_METHOD, "post", "dialog");
    case ELEMENT_INPUT:
        return !attribute_is(links, ATTRIBUTE_TYPE, "image", "image");
    case ELEMENT_META:
        return !attribute_is(links, ATTRIBUTE_HTTP_EQUIV, "refresh", "refresh");
    default:
        return false;
    }
}

/* What a value is; -1 for what is not kept. */
static int kind_of(const struct links *links, const struct kept_value *value,
                   bool has_resource)
{
    if (value->attribute == ATTRIBUTE_ID)
        return KEPT_ID;
    if (value->attribute == ATTRIBUTE_NAME)
        return links->element == ELEMENT_A ? KEPT_ID : -1;
    if (!has_resource)
        return -1;
    if (links->element == ELEMENT_META)
        return value->attribute == ATTRIBUTE_CONTENT ? KEPT_REFRESH : -1;
    if (links->element == ELEMENT_BASE)
        return links->base == 0 ? KEPT_BASE : -1;
    if (value->attribute == ATTRIBUTE_SRCSET)
        return KEPT_SRCSET;
    return urls >> value->attribute & 1 ? KEPT_LINK : -1;
}

/* Of the tag's values, keep those that count. */
static void keep_tag(struct links *links)
{
    bool has_resource = !names_no_resource(links), nofollow = says_nofollow(links);
    size_t kept = links->tag_at;

    for (size_t i = links->tag_at; i < links->count; i++) {
        int kind = kind_of(links, &links->kept[i], has_resource);
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

/* All that stood in the body before the frameset, whose tag is being read. */
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

/* ---- what the tokenizer tells ------------------------------------------------------ */

static bool on_tag(const struct html_name *name, bool is_end, void *arg)
{
    struct links *links = arg;

    drop_tag(links); /* if the one before never ended */
    links->element = html_element_of(name);
    if (is_end)
        return false;
    links->wanted = wanted_attributes(links);
    return links->wanted != 0;
}

static bool on_wants(const struct html_name *name, void *arg)
{
    struct links *links = arg;

    links->attribute = html_attribute_of(name);
    return links->wanted >> links->attribute & 1;
}

static int on_attribute(const struct html_name *name, const struct html_value *value,
                        void *arg)
{
    struct links *links = arg;
    struct kept_value *kept;

    (void)name;
    if (links->count == links->capacity &&
        array_grow(&links->kept, &links->capacity, sizeof *links->kept) < 0)
        return -ENOMEM;
    kept = &links->kept[links->count];
    *kept = (struct kept_value){.start = (uint32_t)links->bytes.n,
                                .n = (uint32_t)value->n,
                                .place = value->place,
                                .attribute = (uint8_t)links->attribute,
                                .cut = value->cut};
    if (html_buffer_reserve(&links->bytes, 1) < 0 ||
        html_buffer_add(&links->bytes, value->bytes, value->n, KEPT_BYTES_MAX) < 0)
        return -ENOMEM;
    links->count++;
    return links->bytes.cut ? -EMSGSIZE : 0;
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
        start.is_styled = attribute(links, ATTRIBUTE_COLOR) != NULL ||
                          attribute(links, ATTRIBUTE_FACE) != NULL ||
                          attribute(links, ATTRIBUTE_SIZE) != NULL;
    else if (links->element == ELEMENT_INPUT)
        start.is_hidden = attribute_is(links, ATTRIBUTE_TYPE, "hidden", "hidden");
    else if (links->element == ELEMENT_ANNOTATION_XML)
        start.has_html =
            attribute_is(links, ATTRIBUTE_ENCODING, "text/html", "application/xhtml+xml");
    return start;
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
    if (links->element == ELEMENT_IMAGE) /* "Don't ask", says the standard */
        links->element = effect.is_foreign ? ELEMENT_OTHER : ELEMENT_IMG;
    else if (links->element == ELEMENT_BASE && effect.is_foreign)
        links->element = ELEMENT_OTHER; /* SVG has none: links would lead elsewhere */
    if (!effect.is_inserted)
        drop_tag(links);
    else if (links->count > links->tag_at)
        keep_tag(links);
}

static int on_tag_end(const struct html_name *name, bool is_end, bool is_self_closing,
                      void *arg)
{
    struct links *links = arg;
    struct html_tokenizer *tokenizer = &links->tokenizer;
    bool had_body = links->tree.has_body;

    if (is_end)
        html_tree_end(&links->tree, name, links->element);
    else
        start_tag(links, name, is_self_closing);
    if (!had_body && links->tree.has_body)
        links->body_at = links->tag_at;
    begin_tag(links);
    tokenizer->allows_cdata = html_tree_allows_cdata(&links->tree);
    tokenizer->wants_text =
        links->tree.may_have_frames && tokenizer->content == HTML_DATA;
    return 0;
}

static int on_text(const char *bytes, size_t n, void *arg)
{
    struct links *links = arg;
    bool had_body = links->tree.has_body;

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
                                      .text = on_text};

/* ---- a page ------------------------------------------------------------------------ */

void links_init(struct links *links)
{
    memset(links, 0, sizeof *links);
    html_names_prepare();
    html_tokenizer_init(&links->tokenizer, &sink, links);
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
    html_buffer_finish(&links->bytes);
    html_buffer_finish(&links->text);
    free_kept(links);
}

void links_reset(struct links *links)
{
    html_tokenizer_reset(&links->tokenizer);
    html_tree_reset(&links->tree);
    html_buffer_shrink(&links->bytes);
    html_buffer_shrink(&links->text);
    if (links->capacity > USUAL_LINKS)
        free_kept(links);
    links->count = links->body_at = links->base = 0;
    links->nofollow = false;
    begin_tag(links);
}

int links_feed(struct links *links, const char *html, size_t n)
{
    return html_tokenizer_feed(&links->tokenizer, html, n);
}

int links_end(struct links *links)
{
    int rc = html_tokenizer_end(&links->tokenizer);

    drop_tag(links);
    return rc;
}

/* ---- visiting ---------------------------------------------------------------------- */

struct visit {
    links_visit_function function;
    void *arg;
    struct link link;
    bool cut; /* the value that the link is of */
};

/* Visit n bytes of a text, which a NUL ends for that long; `next` is what follows them. */
static int visit_part(struct visit *visit, char *text, size_t n)
{
    char next = text[n];
    int rc;

    text[n] = '\0';
    visit->link.reference = text;
    visit->link.cut = visit->cut && next == '\0';
    rc = visit->function(&visit->link, visit->arg);
    text[n] = next;
    return rc;
}

/* Behind "url =", in any case and with any white space; or `s` if it is not there. */
static char *skip_word_url(char *s)
{
    char *at = s + 3;

    if (strncasecmp(s, "url", 3) != 0)
        return s;
    at += strspn(at, HTML_SPACE);
    if (*at != '=')
        return s;
    at++;
    return at + strspn(at, HTML_SPACE);
}

/*
 * The URL in <meta http-equiv="refresh" content="0; url=there">.
 * (HTML standard: shared declarative refresh steps)
 */
static int visit_refresh(struct visit *visit, char *s)
{
    char quote[2] = "";
    size_t n;

    s += strspn(s, HTML_SPACE);
    n = strspn(s, "0123456789.");
    if (n == 0 || (s[n] != ';' && s[n] != ',' && strchr(HTML_SPACE, s[n]) == NULL))
        return 0;
    s += n;
    s += strspn(s, HTML_SPACE);
    s += *s == ';' || *s == ',';
    s = skip_word_url(s + strspn(s, HTML_SPACE));
    if (*s == '"' || *s == '\'')
        quote[0] = *s++;
    n = strcspn(s, quote);
    return n > 0 ? visit_part(visit, s, n) : 0;
}

/* Behind what follows a URL, "2x" or "100w", which may have commas in parentheses. */
static char *skip_descriptors(char *s)
{
    bool in_parentheses = false;

    for (; *s != '\0'; s++) {
        if (*s == '(')
            in_parentheses = true;
        else if (*s == ')')
            in_parentheses = false;
        else if (*s == ',' && !in_parentheses)
            return s + 1;
    }
    return s;
}

/* Each image of srcset="small.png, large.png 2x". (HTML standard: parse a srcset) */
static int visit_srcset(struct visit *visit, char *s)
{
    int rc = 0;

    for (s += strspn(s, "," HTML_SPACE); *s != '\0' && rc == 0;
         s += strspn(s, "," HTML_SPACE)) {
        size_t n = strcspn(s, HTML_SPACE), url_n = n;

        while (url_n > 0 && s[url_n - 1] == ',')
            url_n--;
        rc = visit_part(visit, s, url_n);
        s += n;
        if (url_n == n)
            s = skip_descriptors(s);
    }
    return rc;
}

/* An empty <a href> leads to the page itself; elsewhere browsers take it for none. */
static int visit_value(struct visit *visit, const struct kept_value *value, char *text)
{
    bool may_be_empty = value->element == ELEMENT_A || value->element == ELEMENT_AREA;

    if (value->kind == KEPT_SRCSET)
        return visit_srcset(visit, text);
    if (value->kind == KEPT_REFRESH)
        return visit_refresh(visit, text);
    if (value->kind == KEPT_LINK && *text == '\0' && !may_be_empty)
        return 0;
    return visit_part(visit, text, strlen(text));
}

static size_t from_windows_1252(const char *bytes, size_t n, char *out)
{
    char *begin = out;

    for (size_t i = 0; i < n; i++)
        out += html_put_utf8(html_windows_1252((unsigned char)bytes[i]), out);
    return (size_t)(out - begin);
}

/* The text of a value, which lasts until the next call; NULL without memory. */
static char *text_of(struct links *links, const struct kept_value *value,
                     bool is_windows_1252)
{
    const char *raw = links->bytes.bytes + value->start;
    size_t n = value->n, room = (is_windows_1252 ? 9 * n + 3 * n : 3 * n) + 1;

    if (html_buffer_reserve(&links->text, room) < 0)
        return NULL;
    if (is_windows_1252) {
        n = from_windows_1252(raw, n, links->text.bytes + 9 * value->n);
        raw = links->text.bytes + 9 * value->n;
    }
    links->text.bytes[html_decode(raw, n, links->text.bytes)] = '\0';
    return links->text.bytes;
}

static enum link_kind kind_told(const struct kept_value *value)
{
    return value->kind == KEPT_BASE ? LINK_BASE
           : value->kind == KEPT_ID ? LINK_ID
                                    : LINK_OTHER;
}

static int visit_kept(struct links *links, const struct kept_value *value,
                      bool is_windows_1252, struct visit *visit)
{
    char *text = text_of(links, value, is_windows_1252);

    if (text == NULL)
        return -ENOMEM;
    visit->cut = value->cut;
    visit->link = (struct link){
        .kind = kind_told(value),
        .element = html_element_name((enum html_element)value->element),
        .attribute = html_attribute_name((enum html_attribute)value->attribute),
        .place = value->place,
        .nofollow = value->nofollow || links->nofollow};
    return visit_value(visit, value, text);
}

int links_visit(struct links *links, bool is_windows_1252, links_visit_function visit,
                void *arg)
{
    struct visit state = {.function = visit, .arg = arg};
    int rc = 0;

    if (links->base > 0)
        rc = visit_kept(links, &links->kept[links->base - 1], is_windows_1252, &state);
    for (size_t i = 0; i < links->count && rc == 0; i++)
        if (links->kept[i].kind != KEPT_BASE)
            rc = visit_kept(links, &links->kept[i], is_windows_1252, &state);
    return rc;
}
