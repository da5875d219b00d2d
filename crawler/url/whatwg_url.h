/*
 * whatwg_url.h - the URL parser of the WHATWG's URL standard, which browsers follow.
 *
 * A parsed URL is its own serialisation, and where in it each part lies:
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

/* A part that is absent is empty, and lies where it would be. */
struct whatwg_url {
    char *href; /* terminated; ASCII, with spaces in an opaque path alone */
    size_t length;
    size_t scheme_end;            /* its ':' */
    size_t username_at;           /* behind "//", where there is an authority */
    size_t username_end;          /* ':' if there is a password, '@' if not */
    size_t password_end;          /* '@', or equal to host_at without credentials */
    size_t host_at, host_end;     /* an address in brackets for IPv6 */
    size_t path_at;               /* behind the port, and "/." where a path has "//" */
    size_t query_at, fragment_at; /* '?' and '#', which belong to them */
    int port;                     /* -1: the scheme's own, or none */
    bool special;                 /* http, https, ws, wss, ftp, file */
    bool has_host;                /* an empty one, maybe */
    bool opaque_path;             /* mailto:a@b: nothing can be relative to it */
};

/* The parts as a URL object in JavaScript has them, to compare with other parsers. */
enum whatwg_part {
    WHATWG_PROTOCOL, /* "https:" */
    WHATWG_USERNAME,
    WHATWG_PASSWORD,
    WHATWG_HOST, /* "example.com:8080" */
    WHATWG_HOSTNAME,
    WHATWG_PORT,
    WHATWG_PATHNAME,
    WHATWG_SEARCH, /* "?query"; "" for an empty one */
    WHATWG_HASH    /* "#fragment", likewise */
};

struct whatwg_span {
    const char *at;
    size_t n;
};

/*
 * Parse `input`, n bytes, relative to `base` unless that is NULL. (Basic URL parser)
 *
 * The input is UTF-8; what is not counts as U+FFFD. Any length is parsed in linear time.
 * On success `url` is for whatwg_url_finish(); after a failure it is zeroed. Fails with
 * -EINVAL for what is no URL, or relative and without a base to be so, or -ENOMEM.
 */
int whatwg_url_parse(const char *input, size_t n, const struct whatwg_url *base,
                     struct whatwg_url *url);

void whatwg_url_finish(struct whatwg_url *url);

struct whatwg_span whatwg_url_part(const struct whatwg_url *url, enum whatwg_part part);

bool whatwg_url_scheme_is(const struct whatwg_url *url, const char *scheme);

/*
 * The origin, "https://example.com:8080", or "null" where there is none that two URLs
 * could share. *out is the caller's, for free(). Fails with -ENOMEM.
 */
int whatwg_url_origin(const struct whatwg_url *url, char **out);

#endif
