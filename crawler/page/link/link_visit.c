/*
 * link_visit.c - see link_visit.h
 */
#include "link_visit.h"

#include "../css/css.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

int link_visit_part(struct link_visit *visit, char *text, size_t n)
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

/* ---- relations --------------------------------------------------------------------- */

/*
 * True for relations whose targets are not resources to be fetched: names (RFC 6903, RFC
 * 6906), hosts to connect to, and URLs that accept only POST (HTML, 4.6.7.13; Webmention,
 * 3.1.3).
 */
static bool names_no_resource(const char *relation)
{
    static const char *const names[] = {"type",         "profile",  "preconnect",
                                        "dns-prefetch", "pingback", "webmention"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcasecmp(relation, names[i]) == 0)
            return true;
    return false;
}

struct link_relations link_relations_of(char *text)
{
    struct link_relations relations = {0, 0};
    char *rest = text, *word;

    while ((word = strtok_r(rest, LINK_SEPARATORS, &rest)) != NULL) {
        bool is_other = names_no_resource(word);
        relations.others += is_other;
        relations.to_resources += !is_other;
    }
    return relations;
}

/* ---- refresh ----------------------------------------------------------------------- */

/*
 * Skip "url =", in upper or lower case and with any amount of white space. Returns the
 * address after it, or `s` if the text does not begin with it.
 */
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

/* Visit the URL in a refresh value. (HTML standard: shared declarative refresh steps) */
int link_visit_refresh(struct link_visit *visit, char *s)
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
    return n > 0 ? link_visit_part(visit, s, n) : 0;
}

/* ---- srcset ------------------------------------------------------------------------ */

/*
 * Skip the descriptors after a URL, such as "2x" or "100w". Descriptors may contain
 * commas in parentheses.
 */
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

/* Visit the URLs in a srcset. (HTML standard: parse a srcset) */
int link_visit_srcset(struct link_visit *visit, char *s)
{
    int rc = 0;

    for (s += strspn(s, "," HTML_SPACE); *s != '\0' && rc == 0;
         s += strspn(s, "," HTML_SPACE)) {
        size_t n = strcspn(s, HTML_SPACE), url_n = n;

        while (url_n > 0 && s[url_n - 1] == ',')
            url_n--;
        rc = link_visit_part(visit, s, url_n);
        s += n;
        if (url_n == n)
            s = skip_descriptors(s);
    }
    return rc;
}

/* ---- style ------------------------------------------------------------------------- */

int link_visit_css(struct link_visit *visit, const char *url, size_t n,
                   struct html_buffer *text)
{
    if (html_buffer_reserve(text, 3 * n + 1) < 0)
        return -ENOMEM;
    n = css_decode(url, n, text->bytes);
    text->bytes[n] = '\0';
    if (text->bytes[strspn(text->bytes, HTML_SPACE)] == '#')
        return 0;
    return link_visit_part(visit, text->bytes, n);
}

struct styling {
    struct link_visit *visit;
    struct html_buffer *text;
    bool breaks_off; /* set at the end of a truncated attribute */
    int rc;          /* nonzero return value of visit() */
};

static int visit_url(const struct css_url *url, void *arg)
{
    struct styling *styling = arg;

    styling->visit->cut = url->cut || styling->breaks_off;
    styling->rc = link_visit_css(styling->visit, url->bytes, url->n, styling->text);
    return styling->rc != 0 ? -EINTR : 0;
}

int link_visit_style(struct link_visit *visit, const char *style,
                     struct html_buffer *text)
{
    struct styling styling = {.visit = visit, .text = text};
    bool is_cut = visit->cut;
    struct css css;
    int rc;

    css_init(&css, visit_url, &styling);
    rc = css_feed(&css, style, strlen(style));
    styling.breaks_off = is_cut;
    if (rc == 0)
        rc = css_end(&css);
    css_finish(&css);
    return styling.rc != 0 ? styling.rc : rc;
}
