/*
 * url_parser.c - parse the parts of a URL that do not depend on its beginning: authority,
 * path, query and fragment. whatwg_url.c parses the beginning.
 *
 * The segments of a path are appended to the output one after another, each with a slash
 * before it. A ".." removes the last segment from the output. Each byte is removed at
 * most once, so the time is linear. (The standard uses a list of segments instead of a
 * string, but this is equivalent, because segments cannot contain slashes.)
 */
#include "url_parser.h"

#include "host.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define MAX_PORT 65535

/* ---- search ------------------------------------------------------------------------ */

static const struct {
    const char *scheme;
    int port;
} special_schemes[] = {{"http", 80}, {"https", 443}, {"ws", 80},
                       {"wss", 443}, {"ftp", 21},    {"file", -1}};

/* Return the default port of a special scheme, -1 for file, or NOT_SPECIAL. */
int parser_default_port(const char *scheme, size_t n)
{
    for (size_t i = 0; i < sizeof special_schemes / sizeof special_schemes[0]; i++)
        if (strlen(special_schemes[i].scheme) == n &&
            memcmp(special_schemes[i].scheme, scheme, n) == 0)
            return special_schemes[i].port;
    return NOT_SPECIAL;
}

size_t parser_left(const struct parser *p)
{
    return (size_t)(p->end - p->at);
}

/* True for a slash, and for a backslash in a special URL. */
static bool is_slash(const struct parser *p, char c)
{
    return c == '/' || (c == '\\' && p->url->special);
}

bool parser_at_slash(const struct parser *p)
{
    return p->at < p->end && is_slash(p, *p->at);
}

/* True at the end of a path: at "?", "#" or the end of the input. */
bool parser_at_query(const struct parser *p)
{
    return p->at == p->end || *p->at == '?' || *p->at == '#';
}

/* Return the number of bytes before the next "/", "?" or "#", or before the end. */
size_t parser_to_delimiter(const struct parser *p)
{
    const char *s = p->at;

    while (s < p->end && !is_slash(p, *s) && *s != '?' && *s != '#')
        s++;
    return (size_t)(s - p->at);
}

bool parser_is_file(const struct parser *p)
{
    return p->url->scheme_end == 4 && p->text.n >= 4 &&
           memcmp(p->text.at, "file", 4) == 0;
}

bool parser_is_drive(const char *s, size_t n)
{
    return n == 2 && is_letter(s[0]) && (s[1] == ':' || s[1] == '|');
}

bool parser_at_drive(const struct parser *p)
{
    return parser_left(p) >= 2 && parser_is_drive(p->at, 2) &&
           (parser_left(p) == 2 || memchr("/\\?#", p->at[2], 4) != NULL);
}

/* ---- writing ----------------------------------------------------------------------- */

void parser_add(struct parser *p, const char *s)
{
    text_add(&p->text, s, strlen(s));
}

static void add_encoded_until(struct parser *p, const char *stop, enum percent_set set)
{
    text_add_encoded(&p->text, p->at, (size_t)(stop - p->at), set);
    p->at = stop;
}

void parser_add_from_base(struct parser *p, size_t begin, size_t end)
{
    text_add(&p->text, p->base->href + begin, end - begin);
}

/*
 * Return the offset after the authority or, if there is none, after the scheme. The "/."
 * that makes some paths unambiguous is after this offset.
 */
static size_t authority_end(const struct whatwg_url *url)
{
    return !url->has_host ? url->scheme_end + 1 : url->path_at;
}

/* Copy scheme and authority of the base, and begin a path after them. */
int parser_copy_authority(struct parser *p)
{
    parser_add_from_base(p, 0, authority_end(p->base));
    *p->url = *p->base;
    p->url->path_at = p->text.n;
    return p->text.failed ? -ENOMEM : 0;
}

/* Set the offsets for an empty authority (has_host), or for a URL without authority. */
void parser_set_authority(struct parser *p, bool has_host)
{
    struct whatwg_url *url = p->url;

    if (has_host)
        parser_add(p, "//");
    url->has_host = has_host;
    url->port = -1;
    url->username_at = url->username_end = url->password_end = p->text.n;
    url->host_at = url->host_end = url->path_at = p->text.n;
}

/* ---- query and fragment ------------------------------------------------------------ */

int parser_fragment(struct parser *p)
{
    p->url->fragment_at = p->text.n;
    if (p->at < p->end) {
        parser_add(p, "#");
        p->at++;
        add_encoded_until(p, p->end, PERCENT_FRAGMENT);
    }
    return 0;
}

int parser_query(struct parser *p)
{
    enum percent_set set = p->url->special ? PERCENT_SPECIAL_QUERY : PERCENT_QUERY;

    if (p->at < p->end && *p->at == '?') {
        const char *hash = memchr(p->at, '#', parser_left(p));
        parser_add(p, "?");
        p->at++;
        add_encoded_until(p, hash != NULL ? hash : p->end, set);
    }
    return parser_fragment(p);
}

/* ---- path -------------------------------------------------------------------------- */

/*
 * End the path. If there is no authority, insert "/." before a path that begins with
 * "//", which would otherwise be read as an authority. (Section 4.5)
 */
void parser_end_path(struct parser *p)
{
    struct whatwg_url *url = p->url;

    if (!url->has_host && !url->opaque_path && p->text.n - url->path_at >= 2 &&
        memcmp(p->text.at + url->path_at, "//", 2) == 0) {
        text_insert(&p->text, url->path_at, "/.", 2);
        url->path_at += 2;
    }
    url->query_at = p->text.n;
}

/* True if the path so far is only a drive, "/C:", which ".." must not remove. */
static bool path_is_drive(const struct parser *p)
{
    const char *path = p->text.at + p->url->path_at;

    return parser_is_file(p) && p->text.n - p->url->path_at == 3 &&
           parser_is_drive(path + 1, 2) && path[2] == ':';
}

void parser_shorten_path(struct parser *p)
{
    if (path_is_drive(p))
        return;
    while (p->text.n > p->url->path_at && p->text.at[--p->text.n] != '/')
        continue;
}

static void add_segment(struct parser *p, const char *s, size_t n)
{
    bool drive =
        parser_is_file(p) && p->text.n == p->url->path_at && parser_is_drive(s, n);

    parser_add(p, "/");
    text_add_encoded(&p->text, s, drive ? 1 : n, PERCENT_PATH);
    if (drive)
        parser_add(p, ":");
}

/*
 * Return the number of dots if a segment is "." or "..", otherwise 0. "%2e" counts as a
 * dot.
 */
static int dot_count(const char *s, size_t n)
{
    int dots = 0;

    if (n > strlen("%2e%2e"))
        return 0;
    for (size_t i = 0; i < n; dots++) {
        if (s[i] == '.')
            i++;
        else if (n - i >= 3 && strncasecmp(s + i, "%2e", 3) == 0)
            i += 3;
        else
            return 0;
    }
    return dots <= 2 ? dots : 0;
}

/* Parse the segments of a path. The slash before the first segment was already
   skipped. */
int parser_path(struct parser *p)
{
    for (;;) {
        size_t n = parser_to_delimiter(p);
        int dots = dot_count(p->at, n);
        const char *segment = p->at;

        p->at += n;
        if (dots == 2)
            parser_shorten_path(p);
        if (dots == 0)
            add_segment(p, segment, n);
        else if (!parser_at_slash(p))
            add_segment(p, "", 0);
        if (!parser_at_slash(p))
            break;
        p->at++;
    }
    parser_end_path(p);
    return parser_query(p);
}

/* Parse the path after an authority. A URL that is not special need not have a path. */
int parser_path_start(struct parser *p)
{
    p->url->path_at = p->text.n;
    if (!p->url->special && parser_at_query(p)) {
        parser_end_path(p);
        return parser_query(p);
    }
    if (parser_at_slash(p))
        p->at++;
    return parser_path(p);
}

int parser_opaque_path(struct parser *p)
{
    size_t n = 0;

    parser_set_authority(p, false);
    p->url->opaque_path = true;
    while (n < parser_left(p) && p->at[n] != '?' && p->at[n] != '#')
        n++;
    add_encoded_until(p, p->at + n, PERCENT_CONTROL);
    parser_end_path(p);
    return parser_query(p);
}

/* ---- authority --------------------------------------------------------------------- */

/* Parse "user:password", without '@'. If both are empty (":"), write nothing. */
static void parse_credentials(struct parser *p, const char *s, size_t n)
{
    const char *colon = memchr(s, ':', n);
    size_t username_n = colon != NULL ? (size_t)(colon - s) : n;
    size_t password_n = colon != NULL ? n - username_n - 1 : 0;

    text_add_encoded(&p->text, s, username_n, PERCENT_USERINFO);
    p->url->username_end = p->url->password_end = p->text.n;
    if (password_n > 0) {
        parser_add(p, ":");
        text_add_encoded(&p->text, colon + 1, password_n, PERCENT_USERINFO);
        p->url->password_end = p->text.n;
    }
    if (username_n > 0 || password_n > 0)
        parser_add(p, "@");
}

/* Parse a port, and store it unless it is the default port of the scheme. */
static int parse_port(struct parser *p, const char *s, const char *end)
{
    unsigned port = 0;
    char buf[sizeof ":4294967295"];

    if (s == end)
        return 0;
    for (; s < end; s++) {
        if (!is_digit(*s))
            return -EINVAL;
        port = port * 10 + (unsigned)(*s - '0');
        if (port > MAX_PORT)
            return -EINVAL;
    }
    if ((int)port == parser_default_port(p->text.at, p->url->scheme_end))
        return 0;
    p->url->port = (int)port;
    snprintf(buf, sizeof buf, ":%u", port);
    parser_add(p, buf);
    return 0;
}

/* Return the address of the colon before the port, or `end`. Colons in brackets belong to
   an IPv6 address. */
static const char *find_port(const char *s, const char *end)
{
    bool in_brackets = false;

    for (; s < end; s++) {
        if (*s == '[')
            in_brackets = true;
        else if (*s == ']')
            in_brackets = false;
        else if (*s == ':' && !in_brackets)
            break;
    }
    return s;
}

static int parse_host_and_port(struct parser *p, const char *s, const char *end)
{
    const char *colon = find_port(s, end);
    int rc;

    if (colon == s && (colon < end || p->url->special))
        return -EINVAL;
    p->url->host_at = p->text.n;
    rc = host_parse(&p->text, s, (size_t)(colon - s), !p->url->special);
    if (rc < 0)
        return rc;
    p->url->host_end = p->text.n;
    return colon < end && !p->text.failed ? parse_port(p, colon + 1, end) : 0;
}

/* Parse the authority that follows "//". The last '@' ends the credentials. */
int parser_authority(struct parser *p)
{
    size_t n = parser_to_delimiter(p);
    const char *s = p->at, *end = s + n, *sign = n > 0 ? memrchr(s, '@', n) : NULL;
    int rc;

    parser_set_authority(p, true);
    if (sign != NULL) {
        parse_credentials(p, s, (size_t)(sign - s));
        s = sign + 1;
        if (s == end)
            return -EINVAL;
    }
    rc = parse_host_and_port(p, s, end);
    if (rc < 0)
        return rc;
    p->at = end;
    return parser_path_start(p);
}

/* Skip any number of slashes, and parse the authority of a special URL. */
int parser_special_authority(struct parser *p)
{
    while (parser_at_slash(p))
        p->at++;
    return parser_authority(p);
}
