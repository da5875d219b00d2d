/*
 * url.h - resolve links, as written on a page, to URLs that can be compared and fetched.
 *
 * The results are absolute and normalized: the scheme and the host are in lower case,
 * host names are in ASCII, default ports and dot segments are removed, the path is at
 * least "/", and unsafe bytes are percent-encoded. URLs that differ only in their
 * fragments refer to the same page. All other URLs count as different pages.
 */
#ifndef CRAWLER_URL_H
#define CRAWLER_URL_H

#include "whatwg_url.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum url_kind {
    URL_WEB,  /* http, https */
    URL_FILE, /* file */
    URL_OTHER /* mailto, data, ... */
};

struct url {
    enum url_kind kind;
    char *href;         /* URL with its fragment; the caller frees it */
    size_t n;           /* length of `href` */
    size_t fragment_at; /* offset of the fragment after '#', or 0 */
    bool is_plain;      /* the reference is known to lack a directive ":~:text=..." */
};

/*
 * Resolve `reference` relative to `base`, which may be NULL. Remove an empty fragment and
 * a text directive (":~:text=...").
 *
 * Fails with -EINVAL if the result is not a URL, or with -ENOMEM. After a failure, *out
 * is all zero. (RFC 3986, section 5; white space, backslashes and encoding as in the
 * WHATWG's URL standard)
 */
int url_parse(const struct whatwg_url *base, const char *reference, struct url *out);

/* Reusable memory for the URLs of url_parse_in(). Initialize with zeroes. */
struct url_room {
    char *bytes; /* the caller frees them */
    size_t n;
};

/*
 * Like url_parse(), but faster for most references. out->href may be equal to
 * room->bytes. If it is, it is valid until the next call with this room, and must not be
 * freed.
 */
int url_parse_in(struct url_room *room, const struct whatwg_url *base,
                 const char *reference, struct url *out);

/*
 * Replace *url with the absolute URL `text`. Initialize *url with zeroes. Fails like
 * whatwg_url_parse(); *url is then all zero. The function is fast if both URLs have the
 * same host, as most pages of a crawl have.
 */
int url_parse_next(struct whatwg_url *url, const char *text);

/*
 * Resolve `reference` relative to `base` to an http or https URL without fragment. `base`
 * must be a result of this function, or NULL. The caller frees *out. Fails with
 * -EPROTONOSUPPORT for other schemes, -EINVAL or -ENOMEM.
 */
int url_resolve(const char *base, const char *reference, char **out);

/* Return the length of the origin of a web URL: "http://example.org:8080". */
size_t url_origin_length(const char *url);

/*
 * True if the scheme of a URL from url_parse() is probably a mistake: "C:\docs",
 * "localhost:3000/x", "example.com:8080/x", and misspelt schemes such as "htttps://x/".
 */
bool url_is_mistyped(const char *url);

/* Return the host and port of a web URL, such as "example.org:8080", without
   credentials. */
struct whatwg_span url_host_and_port(const char *url);

/* True if two web URLs have the same scheme, credentials, host and port. */
bool url_same_origin(const char *a, const char *b);

/*
 * True if credentials for the host of `as` may be sent to `url`. Scheme, host and port
 * must be equal. Exception: `url` may use https if `as` uses http and neither has a port.
 * Credentials in the URLs are not compared.
 */
bool url_is_trusted_as(const char *url, const char *as);

/* Return the "user:password" of a web URL as written, or an empty span. */
struct whatwg_span url_credentials(const char *url);

/*
 * url_has_host() is true if a web URL has this host, and url_is_below_host() if its host
 * is a subdomain of this host. The port must also match; 0 matches any port.
 */
bool url_has_host(const char *url, const char *name, unsigned port);
bool url_is_below_host(const char *url, const char *name, unsigned port);

/* True if the hosts are equal, ignoring "www.". Scheme and port are not compared. */
bool url_sibling_hosts(const char *a, const char *b);

/* Decode percent escapes in place. Returns the new length. (RFC 3986, section 2.1) */
size_t url_decode(char *s, size_t n);

/*
 * Normalize the percent escapes of a fragment in place: decode characters that need not
 * be encoded, and convert hexadecimal digits to upper case. Returns the new length. (RFC
 * 3986, section 6.2.2)
 */
size_t url_unify_escapes(char *s, size_t n);

/*
 * Find the first password in a text that is a URL or contains URLs, even invalid ones.
 * Returns an empty span if there is none. Code that prints a URL must replace passwords
 * with "***".
 */
struct whatwg_span url_password(const char *text);

/* Pass a text to put() in pieces, with "***" instead of each password. */
void url_put_masked(const char *text, void (*put)(void *to, const char *piece, size_t n),
                    void *to);

/*
 * Print a text to a stream, with passwords masked. Characters that could control a
 * terminal are replaced with "?", as in text_put_visible().
 */
void url_print(FILE *to, const char *text);

#endif
