/*
 * url.c - see url.h
 *
 * The output of whatwg_url.c is already normalized.
 */
#include "url.h"

#include "../base/text.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static const char text_directive[] = ":~:";

/*
 * True for a character that need not be encoded in a fragment. (WHATWG: fragment
 * percent-encode set)
 */
static bool stands_for_itself(char c)
{
    return c > ' ' && c < 0x7f && strchr("\"<>`%", c) == NULL;
}

/* True for a "%" that does not begin an escape. */
static bool is_bare_percent(char c, const char *rest, size_t n)
{
    return c == '%' && (n == 0 || hex_value(*rest) < 0);
}

size_t url_unify_escapes(char *s, size_t n)
{
    static const char digits[] = "0123456789ABCDEF";
    size_t to = 0;

    for (size_t i = 0; i < n; i++) {
        int high = s[i] == '%' && n - i > 2 ? hex_value(s[i + 1]) : -1;
        int low = high >= 0 ? hex_value(s[i + 2]) : -1;
        char c = (char)(high * 16 + low);
        if (low < 0) {
            s[to++] = s[i];
        } else {
            if (stands_for_itself(c) || is_bare_percent(c, s + i + 3, n - i - 3)) {
                s[to++] = c;
            } else {
                s[to++] = '%';
                s[to++] = digits[high];
                s[to++] = digits[low];
            }
            i += 2;
        }
    }
    return to;
}

/*
 * Remove the text directive from the fragment, because it does not refer to an element.
 */
static void cut_fragment(struct url *url)
{
    char *fragment = url->href + url->fragment_at;
    char *directive = strstr(fragment, text_directive);

    if (directive != NULL)
        *directive = '\0';
    url->n = url->fragment_at + url_unify_escapes(fragment, strlen(fragment));
    url->href[url->n] = '\0';
    if (*fragment != '\0')
        return;
    url->href[--url->n] = '\0'; /* the '#' */
    url->fragment_at = 0;
}

static enum url_kind kind_of(const struct whatwg_url *url)
{
    if (whatwg_url_scheme_is(url, "http") || whatwg_url_scheme_is(url, "https"))
        return URL_WEB;
    return whatwg_url_scheme_is(url, "file") ? URL_FILE : URL_OTHER;
}

/* ---- plain references -------------------------------------------------------------- */

/*
 * True for a character that is neither encoded nor special in a path or a fragment: a
 * letter, a digit, or one of "-_~+,;=!@$&()*.". Nine of ten references are "plain": they
 * consist of such characters, "/" and "#", like "../a/b.html#c". Plain references can be
 * appended to a part of the base without calling the parser.
 */
static bool is_plain(char c)
{
    /* clang-format off */
    static const bool plain[256] = {
        ['!'] = true, ['$'] = true, ['&'] = true, ['('] = true, [')'] = true,
        ['*'] = true, ['+'] = true, [','] = true, ['-'] = true, ['.'] = true,
        [';'] = true, ['='] = true, ['@'] = true, ['_'] = true, ['~'] = true,
        ['0' ... '9'] = true, ['A' ... 'Z'] = true, ['a' ... 'z'] = true};
    /* clang-format on */

    return plain[(unsigned char)c];
}

/* True for "." and "..". */
static bool is_of_dots(const char *segment, size_t n)
{
    return (n == 1 || n == 2) && segment[0] == '.' && segment[n - 1] == '.';
}

/*
 * Return the length of a plain reference, or SIZE_MAX for any other reference. Stores the
 * offset of its fragment, or 0, in *fragment_at.
 */
static size_t plain_length(const char *s, size_t *fragment_at)
{
    size_t i = 0, segment;

    for (*fragment_at = 0;; i++) {
        for (segment = i; is_plain(s[i]);)
            i++;
        if (*fragment_at == 0 && is_of_dots(s + segment, i - segment))
            return SIZE_MAX;
        if (s[i] == '\0')
            return *fragment_at == i ? SIZE_MAX : i;
        if (s[i] == '#' && *fragment_at == 0)
            *fragment_at = i + 1;
        else if (s[i] != '/')
            return SIZE_MAX;
    }
}

/* Return the offset after the last '/' in the first `end` bytes of the base. */
static size_t end_of_folder(const struct whatwg_url *base, size_t end)
{
    const char *path = base->href + base->path_at;
    const char *slash = memrchr(path, '/', end - base->path_at);

    return (size_t)(slash - base->href) + 1;
}

/*
 * Skip each "../" at the beginning of *reference. Returns the length of the part of the
 * base to which the rest is appended.
 */
static size_t skip_parents(const struct whatwg_url *base, const char **reference)
{
    size_t end;

    if (**reference == '#')
        return base->fragment_at;
    if (**reference == '/')
        return base->path_at;
    end = end_of_folder(base, base->query_at);
    for (; strncmp(*reference, "../", 3) == 0; *reference += 3)
        if (end > base->path_at + 1)
            end = end_of_folder(base, end - 1);
    return end;
}

static int reserve_room(struct url_room *room, size_t n)
{
    char *bytes;

    if (n <= room->n)
        return 0;
    bytes = realloc(room->bytes, n);
    if (bytes == NULL)
        return -ENOMEM;
    *room = (struct url_room){bytes, n};
    return 0;
}

/*
 * Resolve a plain reference. Returns 1 and sets *out. Returns 0 if the reference is not
 * plain, or -ENOMEM.
 */
static int resolve_plain(struct url_room *room, const struct whatwg_url *base,
                         const char *reference, struct url *out)
{
    size_t kept, n, fragment_at;

    if (base == NULL || kind_of(base) != URL_WEB || *reference == '\0' ||
        (reference[0] == '/' && reference[1] == '/'))
        return 0;
    kept = skip_parents(base, &reference);
    n = plain_length(reference, &fragment_at);
    if (n == SIZE_MAX)
        return 0;
    if (reserve_room(room, kept + n + 1) < 0)
        return -ENOMEM;
    out->href = room->bytes;
    memcpy(out->href, base->href, kept);
    memcpy(out->href + kept, reference, n + 1);
    out->kind = URL_WEB;
    out->is_plain = true;
    out->n = kept + n;
    out->fragment_at = fragment_at > 0 ? kept + fragment_at : 0;
    return 1;
}

/* True if the text is the scheme and authority of the URL, followed by a plain path. */
static bool differs_in_plain_path(const struct whatwg_url *url, const char *text)
{
    size_t fragment_at, n = url->path_at;

    return url->href != NULL && kind_of(url) == URL_WEB &&
           strncmp(text, url->href, n) == 0 && text[n] == '/' &&
           plain_length(text + n, &fragment_at) != SIZE_MAX && fragment_at == 0;
}

int url_parse_next(struct whatwg_url *url, const char *text)
{
    size_t n = strlen(text);
    char *href;

    if (!differs_in_plain_path(url, text)) {
        whatwg_url_finish(url);
        return whatwg_url_parse(text, n, NULL, url);
    }
    href = realloc(url->href, n + 1);
    if (href == NULL) {
        whatwg_url_finish(url);
        return -ENOMEM;
    }
    memcpy(href, text, n + 1);
    url->href = href;
    url->length = url->query_at = url->fragment_at = n;
    return 0;
}

/* ---- all references ---------------------------------------------------------------- */

int url_parse(const struct whatwg_url *base, const char *reference, struct url *out)
{
    struct url_room room = {NULL, 0}; /* owned by *out after the call */

    return url_parse_in(&room, base, reference, out);
}

int url_parse_in(struct url_room *room, const struct whatwg_url *base,
                 const char *reference, struct url *out)
{
    struct whatwg_url url;
    int rc;

    *out = (struct url){.kind = URL_OTHER};
    rc = resolve_plain(room, base, reference, out);
    if (rc != 0)
        return rc < 0 ? rc : 0;
    rc = whatwg_url_parse(reference, strlen(reference), base, &url);
    if (rc < 0)
        return rc;
    *out = (struct url){.kind = kind_of(&url), .href = url.href, .n = url.length};
    if (url.fragment_at < url.length) {
        out->fragment_at = url.fragment_at + 1;
        cut_fragment(out);
    }
    return 0;
}

int url_resolve(const char *base, const char *reference, char **out)
{
    struct whatwg_url base_url = {0};
    struct url url;
    int rc = 0;

    if (base != NULL)
        rc = whatwg_url_parse(base, strlen(base), NULL, &base_url);
    if (rc == 0)
        rc = url_parse(base != NULL ? &base_url : NULL, reference, &url);
    whatwg_url_finish(&base_url);
    if (rc < 0)
        return rc;
    if (url.kind != URL_WEB) {
        free(url.href);
        return -EPROTONOSUPPORT;
    }
    if (url.fragment_at > 0)
        url.href[url.fragment_at - 1] = '\0';
    *out = url.href;
    return 0;
}

size_t url_origin_length(const char *url)
{
    const char *authority = strstr(url, "://") + 3;

    return (size_t)(authority - url) + strcspn(authority, "/");
}

bool url_same_origin(const char *a, const char *b)
{
    size_t n = url_origin_length(a);

    return url_origin_length(b) == n && memcmp(a, b, n) == 0;
}

struct whatwg_span url_host_and_port(const char *url)
{
    const char *end = url + url_origin_length(url);
    const char *host = strstr(url, "://") + 3;
    const char *sign = memrchr(host, '@', (size_t)(end - host));

    if (sign != NULL)
        host = sign + 1;
    return (struct whatwg_span){host, (size_t)(end - host)};
}

struct whatwg_span url_credentials(const char *url)
{
    const char *at = strstr(url, "://") + 3;
    const char *host = url_host_and_port(url).at;

    return (struct whatwg_span){at, host > at ? (size_t)(host - 1 - at) : 0};
}

/* Return the length of the host in "example.org:8080" or "[::1]". */
static size_t host_length(struct whatwg_span whole)
{
    const char *colon = memrchr(whole.at, ':', whole.n);

    return colon == NULL || whole.at[whole.n - 1] == ']' ? whole.n
                                                         : (size_t)(colon - whole.at);
}

static bool is_https(const char *url)
{
    return strncmp(url, "https:", 6) == 0;
}

/* True if this is the port of the URL, which may be the default port of its scheme. */
static bool has_port(const char *url, struct whatwg_span whole, unsigned port)
{
    size_t n = host_length(whole);
    unsigned long its = n < whole.n     ? strtoul(whole.at + n + 1, NULL, 10)
                        : is_https(url) ? 443
                                        : 80;

    return port == 0 || its == port;
}

bool url_is_trusted_as(const char *url, const char *as)
{
    struct whatwg_span one = url_host_and_port(url), other = url_host_and_port(as);

    if (one.n != other.n || memcmp(one.at, other.at, one.n) != 0)
        return false;
    return is_https(url) == is_https(as) || (is_https(url) && host_length(one) == one.n);
}

bool url_has_host(const char *url, const char *name, unsigned port)
{
    struct whatwg_span whole = url_host_and_port(url);
    size_t n = strlen(name);

    return host_length(whole) == n && memcmp(whole.at, name, n) == 0 &&
           has_port(url, whole, port);
}

bool url_is_below_host(const char *url, const char *name, unsigned port)
{
    struct whatwg_span whole = url_host_and_port(url);
    size_t n = strlen(name), its = host_length(whole);

    return its > n && whole.at[its - n - 1] == '.' && !is_digit(name[n - 1]) &&
           memcmp(whole.at + its - n, name, n) == 0 && has_port(url, whole, port);
}

/* Return the host without "www.". */
static struct whatwg_span host_without_www(const char *url)
{
    struct whatwg_span whole = url_host_and_port(url);
    const char *host = whole.at;

    if (whole.n > 4 && memcmp(host, "www.", 4) == 0)
        host += 4;
    if (*host == '[')
        return (struct whatwg_span){host, strcspn(host, "]")};
    return (struct whatwg_span){host, strcspn(host, ":/")};
}

bool url_sibling_hosts(const char *a, const char *b)
{
    struct whatwg_span one = host_without_www(a), other = host_without_www(b);

    return one.n == other.n && memcmp(one.at, other.at, one.n) == 0;
}

size_t url_decode(char *s, size_t n)
{
    size_t to = 0;

    for (size_t i = 0; i < n; i++) {
        bool is_encoded = s[i] == '%' && n - i > 2 && hex_value(s[i + 1]) >= 0 &&
                          hex_value(s[i + 2]) >= 0;
        if (is_encoded) {
            s[to++] = (char)(hex_value(s[i + 1]) * 16 + hex_value(s[i + 2]));
            i += 2;
        } else {
            s[to++] = s[i];
        }
    }
    return to;
}

/* ---- errors ------------------------------------------------------------------------ */

/*
 * True if `s` begins with a port such as ":8080", followed by "/", "?", "#" or the end.
 */
static bool is_port(const char *s)
{
    size_t n = strspn(s + 1, "0123456789");

    return n > 0 && strchr("/?#", s[1 + n]) != NULL; /* or NUL */
}

/*
 * True for misspellings of "http" and "https" such as "htpp" and "ttps". False for "ssh"
 * and RFC 2660's "shttp".
 */
static bool is_nearly_https(const char *scheme, size_t n)
{
    static const char *const meant[] = {"http:", "https:", "shttp:"};

    if (n < 3 || strspn(scheme, "htps") != n || memchr(scheme, 't', n) == NULL ||
        memchr(scheme, 'p', n) == NULL)
        return false;
    for (size_t i = 0; i < sizeof meant / sizeof meant[0]; i++)
        if (strncmp(scheme, meant[i], n + 1) == 0)
            return false;
    return true;
}

bool url_is_mistyped(const char *url)
{
    size_t n = strcspn(url, ":");

    return n == 1 || strncmp(url, "localhost:", n + 1) == 0 ||
           (memchr(url, '.', n) != NULL && is_port(url + n)) || is_nearly_https(url, n);
}

/* ---- passwords --------------------------------------------------------------------- */

/*
 * Return the password of the authority that begins at `at` ("user:password@host"), or an
 * empty span if there is none.
 */
static struct whatwg_span password_at(const char *at)
{
    const char *end = at + strcspn(at, "/\\?#");
    const char *sign = memrchr(at, '@', (size_t)(end - at));
    const char *colon = sign != NULL ? memchr(at, ':', (size_t)(sign - at)) : NULL;

    if (colon == NULL)
        return (struct whatwg_span){at, 0};
    return (struct whatwg_span){colon + 1, (size_t)(sign - colon - 1)};
}

/*
 * Return the beginning of the authority, or NULL if there is none. Like browsers, accept
 * any number of slashes and backslashes, and ignore tabs and newlines.
 */
static const char *authority_of(const char *url)
{
    static const char scheme[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                 "0123456789+.-\t\r\n";
    size_t n;

    while (*url != '\0' && (unsigned char)*url <= ' ')
        url++;
    n = strspn(url, scheme);
    if (url[n] == ':')
        url += n + 1;
    else if (url[0] != '/' && url[0] != '\\')
        return NULL;
    return url + strspn(url, "/\\\t\r\n");
}

struct whatwg_span url_password(const char *text)
{
    struct whatwg_span none = {text, 0}, found = none;
    const char *at;

    if (strchr(text, '@') == NULL)
        return none;
    at = authority_of(text);
    if (at != NULL)
        found = password_at(at);
    /* also search URLs inside another URL or text, such as "/login?next=http://..." */
    for (at = strstr(text, "://"); found.n == 0 && at != NULL; at = strstr(at + 3, "://"))
        found = password_at(at + 3);
    return found.n > 0 ? found : none;
}

void url_put_masked(const char *text, void (*put)(void *to, const char *piece, size_t n),
                    void *to)
{
    struct whatwg_span password;

    for (password = url_password(text); password.n > 0; password = url_password(text)) {
        put(to, text, (size_t)(password.at - text));
        put(to, "***", 3);
        text = password.at + password.n;
    }
    put(to, text, strlen(text));
}

static void write_piece(void *to, const char *piece, size_t n)
{
    fwrite(piece, 1, n, to);
}

static void put_to_stream(void *to, const char *piece, size_t n)
{
    text_put_visible(piece, n, "?", write_piece, to);
}

void url_print(FILE *to, const char *text)
{
    url_put_masked(text, put_to_stream, to);
}
