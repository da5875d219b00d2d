/*
 * whatwg_url.c - the basic URL parser of the standard. Each function implements one or
 * two of its states.
 *
 * The standard (https://url.spec.whatwg.org, section 4.4) describes a state machine that
 * reads its input once, and never returns to a state for an earlier part of the URL. So
 * each state can be a function that ends by calling the next one. Each arrow is labelled
 * with the input that leads to the next state:
 *
 *     parse -- scheme --> parse_scheme -- opaque -----------------> parser_opaque_path
 *       |                   |    |  |   \------ "/x" ------------------> parser_path
 *       | none              |    |  | "//x", special                        ^
 *       v                   |    |  +--> parser_authority --------> parser_path_start
 *     parse_without_scheme  |                ^                        ^    ^
 *       |   file            v file           | "//x"                  |    |
 *       +-------------> parse_file ----------|--> parse_file_slash --> parse_file_host
 *       +-- else -----> parse_relative ------+
 *
 * All paths end in parser_query(), which calls parser_fragment(). The functions named
 * parser_ are in url_parser.c.
 */
#include "whatwg_url.h"

#include "host.h"
#include "url_parser.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- relative to the base ---------------------------------------------------------- */

/*
 * Parse input that replaces the last path segment, the query or the fragment of the base.
 */
static int parse_after_base(struct parser *p)
{
    int rc = parser_copy_authority(p);

    if (rc < 0)
        return rc;
    parser_add_from_base(p, p->base->path_at, p->base->query_at);
    if (parser_at_query(p)) {
        bool keep_query = p->at == p->end || *p->at == '#';
        parser_end_path(p);
        if (keep_query)
            parser_add_from_base(p, p->base->query_at, p->base->fragment_at);
        return parser_query(p);
    }
    if (parser_is_file(p) && parser_at_drive(p))
        p->text.n = p->url->path_at;
    else
        parser_shorten_path(p);
    return parser_path(p);
}

/*
 * Parse a reference relative to a base with any scheme except file. "//x" has its own
 * authority, and "/x" inherits the authority of the base.
 */
static int parse_relative(struct parser *p)
{
    int rc;

    if (!parser_at_slash(p))
        return parse_after_base(p);
    p->at++;
    if (parser_at_slash(p)) {
        p->at++;
        parser_add_from_base(p, 0, p->base->scheme_end + 1);
        return p->url->special ? parser_special_authority(p) : parser_authority(p);
    }
    rc = parser_copy_authority(p);
    return rc < 0 ? rc : parser_path(p);
}

/* ---- files ------------------------------------------------------------------------- */

/*
 * Parse "file://host/path". In "file://C:/path", the drive is part of the path, and the
 * host is empty.
 */
static int parse_file_host(struct parser *p)
{
    size_t n = parser_to_delimiter(p);
    int rc = 0;

    parser_set_authority(p, true);
    if (parser_is_drive(p->at, n))
        return parser_path(p);
    if (n > 0)
        rc = host_parse(&p->text, p->at, n, false);
    if (rc < 0)
        return rc;
    if (p->text.n - p->url->host_at == strlen("localhost") &&
        memcmp(p->text.at + p->url->host_at, "localhost", strlen("localhost")) == 0)
        p->text.n = p->url->host_at;
    p->url->host_end = p->text.n;
    p->at += n;
    return parser_path_start(p);
}

/* Parse "/path" with scheme file. Host and drive are taken from the base. */
static int parse_file_slash(struct parser *p)
{
    const struct whatwg_url *base = p->base;
    const char *path;
    int rc;

    if (base == NULL) {
        parser_set_authority(p, true);
        return parser_path(p);
    }
    p->text.n = 0;
    rc = parser_copy_authority(p);
    if (rc < 0)
        return rc;
    path = base->href + base->path_at;
    if (!parser_at_drive(p) && base->query_at - base->path_at >= 3 &&
        parser_is_drive(path + 1, 2) && path[2] == ':' &&
        (base->query_at - base->path_at == 3 || path[3] == '/'))
        text_add(&p->text, path, 3);
    return parser_path(p);
}

/* Parse the text after "file:". Ignore the base if it has another scheme. */
static int parse_file(struct parser *p)
{
    if (p->base != NULL && !whatwg_url_scheme_is(p->base, "file"))
        p->base = NULL;
    if (parser_at_slash(p)) {
        p->at++;
        if (!parser_at_slash(p))
            return parse_file_slash(p);
        p->at++;
        return parse_file_host(p);
    }
    if (p->base != NULL) {
        p->text.n = 0;
        return parse_after_base(p);
    }
    parser_set_authority(p, true);
    return parser_path(p);
}

/* ---- scheme ------------------------------------------------------------------------ */

/* Return the length of the scheme at the beginning of the input, or 0. */
static size_t scheme_length(const struct parser *p)
{
    size_t n = 0;

    if (parser_left(p) == 0 || !is_letter(*p->at))
        return 0;
    while (n < parser_left(p) &&
           (is_letter(p->at[n]) || is_digit(p->at[n]) || memchr("+-.", p->at[n], 3)))
        n++;
    return n < parser_left(p) && p->at[n] == ':' ? n : 0;
}

static void add_scheme(struct parser *p, const char *scheme, size_t n)
{
    text_add_lower(&p->text, scheme, n);
    parser_add(p, ":");
    p->url->scheme_end = n;
}

/*
 * True if a reference with a scheme is relative because the base has the same special
 * scheme, such as "http:x". Early browsers accepted this by accident, and pages rely on
 * it.
 */
static bool is_relative_with_scheme(const struct parser *p)
{
    size_t n = p->url->scheme_end;

    return p->base != NULL && p->base->scheme_end == n &&
           memcmp(p->base->href, p->text.at, n) == 0 &&
           !(parser_left(p) >= 2 && memcmp(p->at, "//", 2) == 0);
}

static int parse_scheme(struct parser *p, size_t n)
{
    add_scheme(p, p->at, n);
    p->at += n + 1;
    if (p->text.failed)
        return -ENOMEM;
    p->url->special = parser_default_port(p->text.at, n) != NOT_SPECIAL;
    if (parser_is_file(p))
        return parse_file(p);
    if (p->url->special && is_relative_with_scheme(p)) {
        p->text.n = 0;
        return parse_relative(p);
    }
    if (p->url->special)
        return parser_special_authority(p);
    if (!parser_at_slash(p))
        return parser_opaque_path(p);
    p->at++;
    if (parser_at_slash(p)) {
        p->at++;
        return parser_authority(p);
    }
    parser_set_authority(p, false);
    return parser_path(p);
}

static int parse_without_scheme(struct parser *p)
{
    const struct whatwg_url *base = p->base;

    if (base == NULL)
        return -EINVAL;
    p->url->special = base->special;
    p->url->scheme_end = base->scheme_end;
    if (base->opaque_path) {
        if (p->at == p->end || *p->at != '#')
            return -EINVAL;
        *p->url = *base;
        parser_add_from_base(p, 0, base->fragment_at);
        return parser_fragment(p);
    }
    if (!whatwg_url_scheme_is(base, "file"))
        return parse_relative(p);
    add_scheme(p, "file", 4);
    return p->text.failed ? -ENOMEM : parse_file(p);
}

/* ---- whole ------------------------------------------------------------------------- */

/*
 * Copy the input without white space and control characters at its ends, and without any
 * newlines and tabs.
 */
static void copy_clean(struct text *out, const char *s, size_t n)
{
    while (n > 0 && (unsigned char)*s <= ' ') {
        s++;
        n--;
    }
    while (n > 0 && (unsigned char)s[n - 1] <= ' ')
        n--;
    text_add_utf8(out, s, n, "\t\n\r");
}

static int parse_url(struct parser *p)
{
    size_t n = scheme_length(p);

    return n > 0 ? parse_scheme(p, n) : parse_without_scheme(p);
}

int whatwg_url_parse(const char *input, size_t n, const struct whatwg_url *base,
                     struct whatwg_url *url)
{
    struct parser p = {.base = base, .url = url};
    struct text cleaned = {0};
    int rc = -ENOMEM;

    *url = (struct whatwg_url){0};
    copy_clean(&cleaned, input, n);
    if (!cleaned.failed) {
        p.at = cleaned.n > 0 ? cleaned.at : "";
        p.end = p.at + cleaned.n;
        rc = parse_url(&p);
    }
    text_finish(&cleaned);
    url->length = p.text.n;
    url->href = rc == 0 ? text_take(&p.text) : NULL;
    if (url->href != NULL)
        return 0;
    text_finish(&p.text);
    *url = (struct whatwg_url){0};
    return rc < 0 ? rc : -ENOMEM;
}

void whatwg_url_finish(struct whatwg_url *url)
{
    free(url->href);
    *url = (struct whatwg_url){0};
}

/* ---- parts ------------------------------------------------------------------------- */

static struct whatwg_span span(const struct whatwg_url *url, size_t begin, size_t end)
{
    return (struct whatwg_span){url->href + begin, end - begin};
}

/*
 * Return a query or fragment with its "?" or "#", or "" if it is empty, like JavaScript.
 */
static struct whatwg_span signed_span(const struct whatwg_url *url, size_t begin,
                                      size_t end)
{
    return span(url, begin, end - begin > 1 ? end : begin);
}

/*
 * Return the part after the delimiter at `begin`, or an empty span if there is no
 * delimiter.
 */
static struct whatwg_span span_behind(const struct whatwg_url *url, size_t begin,
                                      size_t end)
{
    return span(url, begin < end ? begin + 1 : begin, end);
}

struct whatwg_span whatwg_url_part(const struct whatwg_url *url, enum whatwg_part part)
{
    size_t port_end = url->has_host ? url->path_at : url->host_end;

    switch (part) {
    case WHATWG_PROTOCOL:
        return span(url, 0, url->scheme_end + 1);
    case WHATWG_USERNAME:
        return span(url, url->username_at, url->username_end);
    case WHATWG_PASSWORD:
        return span_behind(url, url->username_end, url->password_end);
    case WHATWG_HOST:
        return span(url, url->host_at, port_end);
    case WHATWG_HOSTNAME:
        return span(url, url->host_at, url->host_end);
    case WHATWG_PORT:
        return span_behind(url, url->host_end, port_end);
    case WHATWG_PATHNAME:
        return span(url, url->path_at, url->query_at);
    case WHATWG_SEARCH:
        return signed_span(url, url->query_at, url->fragment_at);
    case WHATWG_HASH:
        return signed_span(url, url->fragment_at, url->length);
    }
    return span(url, 0, 0);
}

/* Return the origin of a special URL: its scheme, host and port. */
static char *tuple_origin(const struct whatwg_url *url)
{
    struct whatwg_span protocol = whatwg_url_part(url, WHATWG_PROTOCOL);
    struct whatwg_span host = whatwg_url_part(url, WHATWG_HOST);
    struct text origin = {0};

    text_add(&origin, protocol.at, protocol.n);
    text_add(&origin, "//", 2);
    text_add(&origin, host.at, host.n);
    return text_take(&origin);
}

/*
 * Set *out to the origin of a blob URL, that is, of the web URL in its path. (Section
 * 4.7)
 */
static int origin_of_blob(const struct whatwg_url *blob, char **out)
{
    struct whatwg_span path = whatwg_url_part(blob, WHATWG_PATHNAME);
    struct whatwg_url inner;
    int rc = whatwg_url_parse(path.at, path.n, NULL, &inner);

    if (rc == -ENOMEM)
        return rc;
    if (rc == 0 &&
        (whatwg_url_scheme_is(&inner, "http") || whatwg_url_scheme_is(&inner, "https")))
        *out = tuple_origin(&inner);
    else
        *out = strdup("null");
    whatwg_url_finish(&inner);
    return *out != NULL ? 0 : -ENOMEM;
}

int whatwg_url_origin(const struct whatwg_url *url, char **out)
{
    *out = NULL;
    if (whatwg_url_scheme_is(url, "blob"))
        return origin_of_blob(url, out);
    if (url->special && !whatwg_url_scheme_is(url, "file"))
        *out = tuple_origin(url);
    else
        *out = strdup("null");
    return *out != NULL ? 0 : -ENOMEM;
}
