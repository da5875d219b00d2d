/*
 * stored_links.c - visit the links that links.c has stored.
 */
#include "links_inside.h"

#include "../../base/array.h"
#include "link_visit.h"
#include "srcdoc.h"

#include <errno.h>
#include <string.h>

/* ---- visits ------------------------------------------------------------------------ */

/*
 * True for a reference such as "#x" that must not be checked: <use href="#x"> refers to
 * an SVG element in the page, which a script may add, and background="#FFFFFF" is meant
 * as a color.
 */
static bool is_exempt_fragment(const struct kept_value *value, const char *text)
{
    return (value->element == ELEMENT_USE || value->element == ELEMENT_IMAGE ||
            value->attribute == ATTRIBUTE_BACKGROUND) &&
           text[strspn(text, HTML_SPACE)] == '#';
}

static size_t from_windows_1252(const char *bytes, size_t n, char *out)
{
    char *begin = out;

    for (size_t i = 0; i < n; i++)
        out += html_put_utf8(html_windows_1252((unsigned char)bytes[i]), out);
    return (size_t)(out - begin);
}

/*
 * Return the bytes of a value in UTF-8, and store their number in *n. If they must be
 * converted, the result is in links->text, after the space into which the value is
 * decoded later. Returns NULL if memory runs out.
 */
static const char *bytes_of(struct links *links, const struct kept_value *value,
                            bool is_windows_1252, size_t *n)
{
    const char *raw = links->bytes.bytes + value->start;
    size_t room = 3 * (size_t)value->n + 1;
    char *converted;

    *n = value->n;
    if (html_buffer_reserve(&links->text, is_windows_1252 ? 4 * room : room) < 0)
        return NULL;
    if (!is_windows_1252)
        return raw;
    converted = links->text.bytes + 3 * room;
    *n = from_windows_1252(raw, value->n, converted);
    return converted;
}

static enum link_kind visible_kind(const struct kept_value *value)
{
    return value->kind == KEPT_BASE ? LINK_BASE
           : value->kind == KEPT_ID ? LINK_ID
                                    : LINK_OTHER;
}

static const char *const css_names[CSS_KINDS] = {
    [CSS_URL] = "url()",
    [CSS_IMPORT] = "@import",
    [CSS_IMAGE_SET] = "image-set()",
};

/*
 * Create a link with the place, the element and the attribute of a stored value. The
 * element of a style attribute may be unknown, so its name is stored after the value.
 */
static struct link link_of(const struct links *links, const struct kept_value *value)
{
    const char *behind = links->bytes.bytes + value->start + value->n + 1;
    struct link link = {
        .kind = visible_kind(value),
        .element = html_element_name((enum html_element)value->element),
        .place = value->place,
        .nofollow = value->nofollow || links->nofollow,
        .has_no_encoding = value->kind == KEPT_CSS || value->kind == KEPT_STYLE,
    };

    if (value->kind == KEPT_STYLE && value->element == ELEMENT_OTHER)
        link.element = behind;
    if (value->kind == KEPT_CSS && value->element == ELEMENT_OTHER)
        link.element = NULL;
    link.attribute = value->kind == KEPT_CSS
                         ? css_names[value->attribute]
                         : html_attribute_name((enum html_attribute)value->attribute);
    return link;
}

/*
 * True for most values: the value is one reference or id, and need not be decoded. So it
 * can be used where it is stored.
 */
static bool is_usable(const struct links *links, const struct kept_value *value,
                      bool is_windows_1252)
{
    return (value->kind == KEPT_LINK || value->kind == KEPT_ID) && !is_windows_1252 &&
           html_is_decoded(links->bytes.bytes + value->start, value->n);
}

static int visit_text(const struct kept_value *value, const char *text,
                      struct link_visit *visit)
{
    bool may_be_empty = value->element == ELEMENT_A || value->element == ELEMENT_AREA;

    if (value->kind == KEPT_LINK &&
        ((*text == '\0' && !may_be_empty) || is_exempt_fragment(value, text)))
        return 0;
    visit->link.reference = text;
    visit->link.cut = visit->cut;
    return visit->function(&visit->link, visit->arg);
}

/*
 * Visit the links in a stored value. An empty <a href> is a link to the page itself.
 * Other empty attributes are ignored, as browsers do.
 */
static int visit_value(struct links *links, const struct kept_value *value,
                       bool is_windows_1252, struct link_visit *visit)
{
    const char *bytes;
    char *text;
    size_t n;

    visit->cut = value->cut;
    visit->link = link_of(links, value);
    if (is_usable(links, value, is_windows_1252)) {
        visit->link.stays = true;
        return visit_text(value, links->bytes.bytes + value->start, visit);
    }
    bytes = bytes_of(links, value, is_windows_1252, &n);
    if (bytes == NULL)
        return -ENOMEM;
    text = links->text.bytes;
    if (value->kind == KEPT_CSS)
        return link_visit_css(visit, bytes, n, &links->css_text);
    text[html_decode(bytes, n, text)] = '\0';
    switch (value->kind) {
    case KEPT_SRCSET:
        return link_visit_srcset(visit, text);
    case KEPT_REFRESH:
        return link_visit_refresh(visit, text);
    case KEPT_SRCDOC:
        return srcdoc_visit(links, visit, text);
    case KEPT_STYLE:
        return link_visit_style(visit, text, &links->css_text);
    default:
        return visit_text(value, text, visit);
    }
}

int links_visit(struct links *links, bool is_windows_1252, links_visit_function visit,
                void *arg)
{
    struct link_visit state = {.function = visit, .arg = arg};
    int rc = 0;

    if (links->base > 0)
        rc = visit_value(links, &links->kept[links->base - 1], is_windows_1252, &state);
    for (size_t i = 0; i < links->count && rc == 0; i++)
        if (links->kept[i].kind != KEPT_BASE)
            rc = visit_value(links, &links->kept[i], is_windows_1252, &state);
    return rc;
}
