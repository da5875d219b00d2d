/*
 * url.c - resolving references, the way browsers do.
 *
 * A reference is cleaned, split into its five parts (RFC 3986, appendix B), completed
 * from the base (section 5.2.2), and written out in its one spelling. Only the authority,
 * with its rules for host names, numbers and ports, is left to libcurl; that is also the
 * one part a relative reference takes over from its base unchanged, so that most links
 * never get there. libcurl's own resolving is not used: as of 7.88 it is wrong for "#x",
 * "?x" and "" against a base with a query.
 */
#include "url.h"

#include <curl/curl.h>
#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* A part of a string. An absent one has at == NULL, which an empty one has not. */
struct span {
    const char *at;
    size_t n;
};

struct parts {
    struct span scheme, authority, path, query;
};

/* ---- cleaning and splitting -------------------------------------------------------- */

static bool is_space_or_control(char c)
{
    return (unsigned char)c <= ' ';
}

/*
 * Copy `s` without the white space round it and without the line breaks and tabs in it,
 * which stem from wrapped attributes. Before the query a backslash is a slash.
 */
static char *clean_copy(const char *s)
{
    bool before_query = true;
    size_t n;
    char *copy, *to;

    while (*s != '\0' && is_space_or_control(*s))
        s++;
    n = strlen(s);
    while (n > 0 && is_space_or_control(s[n - 1]))
        n--;
    copy = to = malloc(n + 1);
    if (copy == NULL)
        return NULL;
    for (size_t i = 0; i < n; i++) {
        if (s[i] == '\t' || s[i] == '\n' || s[i] == '\r')
            continue;
        if (s[i] == '?' || s[i] == '#')
            before_query = false;
        *to++ = s[i] == '\\' && before_query ? '/' : s[i];
    }
    *to = '\0';
    return copy;
}

static size_t scheme_length(const char *s)
{
    size_t n = 0;

    if (!isalpha((unsigned char)s[0]))
        return 0;
    while (isalnum((unsigned char)s[n]) || (s[n] != '\0' && strchr("+-.", s[n])))
        n++;
    return s[n] == ':' ? n : 0;
}

static struct parts split(const char *s)
{
    struct parts parts = {0};
    size_t n = scheme_length(s);

    if (n > 0) {
        parts.scheme = (struct span){s, n};
        s += n + 1;
    }
    if (s[0] == '/' && s[1] == '/') {
        s += 2;
        parts.authority = (struct span){s, strcspn(s, "/?#")};
        s += parts.authority.n;
    }
    parts.path = (struct span){s, strcspn(s, "?#")};
    s += parts.path.n;
    if (*s == '?')
        parts.query = (struct span){s + 1, strcspn(s + 1, "#")};
    return parts;
}

static bool span_is(struct span span, const char *word)
{
    return span.n == strlen(word) && strncasecmp(span.at, word, span.n) == 0;
}

static bool spans_equal(struct span a, struct span b)
{
    return a.n == b.n && strncasecmp(a.at, b.at, a.n) == 0;
}

/* ---- authority --------------------------------------------------------------------- */

static char *get_part(CURLU *handle, CURLUPart part, unsigned flags)
{
    char *value = NULL;

    if (curl_url_get(handle, part, &value, flags) != CURLUE_OK)
        return NULL;
    return value;
}

static const char *or_empty(const char *s)
{
    return s != NULL ? s : "";
}

/* Put together what libcurl made of it: "user:password@host:port". */
static char *join_authority(CURLU *handle)
{
    char *host = get_part(handle, CURLUPART_HOST, CURLU_PUNYCODE);
    char *port = get_part(handle, CURLUPART_PORT, CURLU_NO_DEFAULT_PORT);
    char *user = get_part(handle, CURLUPART_USER, 0);
    char *password = get_part(handle, CURLUPART_PASSWORD, 0);
    char *joined = NULL;

    for (char *c = host; c != NULL && *c != '\0'; c++)
        *c = (char)tolower((unsigned char)*c);
    if (host != NULL &&
        asprintf(&joined, "%s%s%s%s%s%s%s", or_empty(user), password ? ":" : "",
                 or_empty(password), user || password ? "@" : "", host, port ? ":" : "",
                 or_empty(port)) < 0)
        joined = NULL;
    curl_free(host);
    curl_free(port);
    curl_free(user);
    curl_free(password);
    return joined;
}

static int normalise_authority(struct span scheme, struct span authority, char **out)
{
    CURLU *handle;
    CURLUcode code;
    char *url;

    if (asprintf(&url, "%.*s://%.*s/", (int)scheme.n, scheme.at, (int)authority.n,
                 authority.at) < 0)
        return -ENOMEM;
    handle = curl_url();
    code = handle != NULL ? curl_url_set(handle, CURLUPART_URL, url, 0)
                          : CURLUE_OUT_OF_MEMORY;
    *out = code == CURLUE_OK ? join_authority(handle) : NULL;
    curl_url_cleanup(handle);
    free(url);
    if (*out != NULL)
        return 0;
    return code == CURLUE_OUT_OF_MEMORY ? -ENOMEM : -EINVAL;
}

/* ---- writing it out ---------------------------------------------------------------- */

static char *put(char *to, const char *s, size_t n)
{
    memcpy(to, s, n);
    return to + n;
}

/* Bytes that browsers encode too; a '%' stays, since most of them begin an escape. */
static char *put_encoded(char *to, struct span span, const char *unsafe)
{
    static const char digits[] = "0123456789ABCDEF";

    for (size_t i = 0; i < span.n; i++) {
        unsigned char c = (unsigned char)span.at[i];
        if (c > ' ' && c < 0x7f && strchr(unsafe, c) == NULL) {
            *to++ = (char)c;
            continue;
        }
        *to++ = '%';
        *to++ = digits[c >> 4];
        *to++ = digits[c & 15];
    }
    return to;
}

/* How many dots the segment consists of, "%2e" being one: 1, 2, or 0 for any other. */
static int dot_count(struct span segment)
{
    int dots = 0;

    for (size_t i = 0; i < segment.n; dots++) {
        if (segment.at[i] == '.')
            i++;
        else if (segment.n - i >= 3 && strncasecmp(segment.at + i, "%2e", 3) == 0)
            i += 3;
        else
            return 0;
    }
    return dots <= 2 ? dots : 0;
}

/*
 * Write a path, a segment at a time, after what has been written since `root`. A ".."
 * takes the latest segment back; a dot segment at the end leaves its slash.
 */
static char *put_path(char *root, char *to, struct span path)
{
    const char *s = path.at, *end = path.at + path.n;

    while (s < end) {
        struct span segment = {.at = *s == '/' ? s + 1 : s};
        int dots;

        while (segment.at + segment.n < end && segment.at[segment.n] != '/')
            segment.n++;
        s = segment.at + segment.n;
        dots = dot_count(segment);
        if (dots == 2)
            while (to > root && *--to != '/')
                continue;
        if (dots == 0 || s == end)
            *to++ = '/';
        if (dots == 0)
            to = put_encoded(to, segment, "\"<>`{}^");
    }
    return to;
}

/* The path of a relative reference replaces what follows the base's last slash. */
static struct span directory(struct span path)
{
    while (path.n > 0 && path.at[path.n - 1] != '/')
        path.n--;
    if (path.n > 0)
        path.n--;
    return path;
}

/*
 * RFC 3986, section 5.2.2, with `ref` complete as far as its authority. `authority` is
 * in its one spelling.
 */
static char *write_url(const struct parts *base, const struct parts *ref,
                       const char *authority)
{
    bool path_from_base = ref->authority.at == NULL && ref->path.n == 0;
    bool merge = ref->authority.at == NULL && ref->path.n > 0 && ref->path.at[0] != '/';
    struct span path = path_from_base ? base->path : ref->path;
    struct span query =
        path_from_base && ref->query.at == NULL ? base->query : ref->query;
    size_t n = strlen(authority) + sizeof "https:///?" +
               3 * (base->path.n + path.n + query.n + 1);
    char *url = malloc(n), *to = url, *root;

    if (url == NULL)
        return NULL;
    for (size_t i = 0; i < ref->scheme.n; i++)
        *to++ = (char)tolower((unsigned char)ref->scheme.at[i]);
    to = put(to, "://", 3);
    root = to = put(to, authority, strlen(authority));
    if (merge)
        to = put_path(root, to, directory(base->path));
    to = put_path(root, to, path);
    if (to == root)
        *to++ = '/';
    if (query.at != NULL) {
        *to++ = '?';
        to = put_encoded(to, query, "\"<>'");
    }
    *to = '\0';
    return url;
}

/* ---- resolving --------------------------------------------------------------------- */

/*
 * Settle scheme and authority. "http:page.html" counts as relative where the base has the
 * same scheme, an accident of early browsers that pages rely on.
 */
static int complete(const struct parts *base, struct parts *ref, char **authority)
{
    struct span from = ref->authority;

    if (ref->scheme.n == 0)
        ref->scheme = base->scheme;
    if (ref->scheme.n == 0)
        return -EINVAL;
    if (!span_is(ref->scheme, "http") && !span_is(ref->scheme, "https"))
        return -EPROTONOSUPPORT;
    if (from.at != NULL)
        return normalise_authority(ref->scheme, from, authority);
    if (!spans_equal(ref->scheme, base->scheme))
        return -EINVAL;
    *authority = strndup(base->authority.at, base->authority.n);
    return *authority != NULL ? 0 : -ENOMEM;
}

int url_resolve(const char *base, const char *reference, char **out)
{
    struct parts base_parts = {0}, ref;
    char *authority = NULL, *clean = clean_copy(reference);
    int rc;

    if (clean == NULL)
        return -ENOMEM;
    if (base != NULL)
        base_parts = split(base);
    ref = split(clean);
    rc = complete(&base_parts, &ref, &authority);
    if (rc == 0) {
        *out = write_url(&base_parts, &ref, authority);
        rc = *out != NULL ? 0 : -ENOMEM;
    }
    free(authority);
    free(clean);
    return rc;
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

static struct span host_without_www(const char *url)
{
    struct span host = split(url).authority;
    const char *at = memchr(host.at, '@', host.n); // NOLINT: at is never NULL
    const char *end = host.at + host.n;

    if (at != NULL)
        host.at = at + 1;
    if (end - host.at > 4 && memcmp(host.at, "www.", 4) == 0)
        host.at += 4;
    host.n = (size_t)(end - host.at);
    if (host.n > 0 && host.at[0] == '[')
        host.n = strcspn(host.at, "]");
    else
        for (size_t i = 0; i < host.n; i++)
            if (host.at[i] == ':')
                host.n = i;
    return host;
}

bool url_sibling_hosts(const char *a, const char *b)
{
    return spans_equal(host_without_www(a), host_without_www(b));
}
