/*
 * whatwg_url.h - the URL parser of the WHATWG's URL standard, which browsers follow.
 *
 * A parsed URL is stored as its serialisation, with the offset of each part:
 *
 *     https://user:password@example.com:8080/path?query#fragment
 *          |  |   |        ||          |    |    |     |        |
 *          |  |   |        ||          |    |    |     |        length
 *          |  |   |        ||          |    |    |     fragment_at
 *          |  |   |        ||          |    |    query_at
 *          |  |   |        ||          |    path_at
 *          |  |   |        ||          host_end
 *          |  |   |        |host_at
 *          |  |   |        password_end
 *          |  |   username_end
 *          |  username_at
 *          scheme_end
 *
 *     struct whatwg_url url;
 *     int rc = whatwg_url_parse("HTTP://h/a/../b", 15, NULL, &url);
 *     if (rc == 0)
 *         puts(url.href); // http://h/b
 *     whatwg_url_finish(&url);
 */
#ifndef CRAWLER_WHATWG_URL_H
#define CRAWLER_WHATWG_URL_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/*
 * A parsed URL. A missing part has length 0 at the offset at which it would be. The
 * struct has many members, because each part of a URL needs its offset.
 */
struct whatwg_url {
    char *href; /* NUL-terminated ASCII; spaces occur only in an opaque path */
    size_t length;
    size_t scheme_end;   /* offset of ':' */
    size_t username_at;  /* offset after "//" */
    size_t username_end; /* offset of ':' before a password, otherwise of '@' */
    size_t password_end; /* offset of '@', or host_at without credentials */
    /* range of the host, with the brackets of an IPv6 address */
    size_t host_at, host_end;
    size_t path_at; /* offset of the path, after the port and any "/." */
    /* Offsets of '?' and '#'. Query and fragment include these characters. */
    size_t query_at, fragment_at;
    int port;         /* -1 if the URL has no port, or the default port of its scheme */
    bool special;     /* the scheme is http, https, ws, wss, ftp or file */
    bool has_host;    /* may be empty */
    bool opaque_path; /* as in mailto:a@b; such a URL cannot be a base */
};

/* The parts of JavaScript's URL object, for comparisons with other parsers. */
enum whatwg_part {
    WHATWG_PROTOCOL, /* "https:" */
    WHATWG_USERNAME,
    WHATWG_PASSWORD,
    WHATWG_HOST, /* "example.com:8080" */
    WHATWG_HOSTNAME,
    WHATWG_PORT,
    WHATWG_PATHNAME,
    WHATWG_SEARCH, /* "?query", or "" if the query is empty */
    WHATWG_HASH    /* "#fragment", or "" if the fragment is empty */
};

struct whatwg_span {
    const char *at;
    size_t n;
};

/*
 * Parse the n bytes at `input`, relative to `base` unless `base` is NULL. (Basic URL
 * parser)
 *
 * The input is in UTF-8; invalid bytes count as U+FFFD. The time is linear in the length.
 * After success, the caller must pass `url` to whatwg_url_finish(). After a failure,
 * `url` is all zero. Fails with -ENOMEM, or with -EINVAL if the input is not a URL, or if
 * it is relative and `base` is NULL.
 */
int whatwg_url_parse(const char *input, size_t n, const struct whatwg_url *base,
                     struct whatwg_url *url);

void whatwg_url_finish(struct whatwg_url *url);

struct whatwg_span whatwg_url_part(const struct whatwg_url *url, enum whatwg_part part);

static inline bool whatwg_url_scheme_is(const struct whatwg_url *url, const char *scheme)
{
    return url->scheme_end == strlen(scheme) &&
           memcmp(url->href, scheme, url->scheme_end) == 0;
}

/*
 * Return the origin, such as "https://example.com:8080", or "null" if the URL has an
 * opaque origin. The caller frees *out. Fails with -ENOMEM.
 */
int whatwg_url_origin(const struct whatwg_url *url, char **out);

#endif
