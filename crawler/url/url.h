/*
 * url.h - what a page writes in a link, into a URL that can be compared and fetched.
 *
 * The URLs made here are absolute, in one spelling each: scheme and host in lower case, host
 * names in ASCII, no default port, no dot segments, a path of at least "/", unsafe bytes
 * percent-encoded. Two of them name the same page, as far as the text can tell, if
 * and only if they are equal but for the fragment.
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
    char *href;         /* for free(); with the fragment, if it has one */
    size_t n;           /* its length */
    size_t fragment_at; /* behind the '#'; 0 if there is no fragment */
};

/*
 * Resolve `reference` against `base`, or NULL where there is none yet. An empty fragment, and
 * the text directive of one (":~:text=..."), are cut off.
 *
 * Fails with -EINVAL for what is no URL, -ENOMEM; *out is zeroed then. (RFC 3986, section 5;
 * white space, backslashes and encoding as in the WHATWG's URL standard)
 */
int url_parse(const struct whatwg_url *base, const char *reference, struct url *out);

/*
 * The same for http and https alone, and without fragment; `base` was made here. *out is the
 * caller's, for free(). Fails with -EPROTONOSUPPORT for another scheme, -EINVAL, -ENOMEM.
 */
int url_resolve(const char *base, const char *reference, char **out);

/* The length of the origin of a web URL: "http://example.org:8080". */
size_t url_origin_length(const char *url);

/*
 * True if the scheme of a URL, as url_parse() has made it, is hardly meant for one: of "C:\docs",
 * "localhost:3000/x", "example.com:8080/x", and of "htttps://x/", letters of "https" in a wrong order.
 */
bool url_is_mistyped(const char *url);

/* "example.org:8080" of a web URL: without credentials. */
struct whatwg_span url_host_and_port(const char *url);

/* True if two web URLs have the same scheme, credentials, host and port. */
bool url_same_origin(const char *a, const char *b);

/*
 * True if what is meant for the host of one web URL may be sent to another: scheme, host and port
 * are the same, or it is http there and https here, neither with a port; credentials aside.
 */
bool url_is_trusted_as(const char *url, const char *as);

/* "user:password" of a web URL, as it is written; of no length if it has none. */
struct whatwg_span url_credentials(const char *url);

/* True if a web URL is of that host and port; 0: of any port. Or of a host below it. */
bool url_has_host(const char *url, const char *name, unsigned port);
bool url_is_below_host(const char *url, const char *name, unsigned port);

/* True if the hosts are the same but for a "www." in front; scheme and port aside. */
bool url_sibling_hosts(const char *a, const char *b);

/* "%20" and so on into bytes, at `s` itself; returns the length. (RFC 3986, section 2.1) */
size_t url_decode(char *s, size_t n);

/*
 * The one spelling of fragments that mean the same, at `s` itself: what need not be encoded is
 * not, and hexadecimal digits are in upper case. Returns the length. (RFC 3986, section 6.2.2)
 */
size_t url_unify_escapes(char *s, size_t n);

/*
 * The first password in a text that is a URL, well-formed or not, or that has URLs in it;
 * of no length if there is none. Whoever prints a URL prints "***" in its place.
 */
struct whatwg_span url_password(const char *text);

/* Give put() a text in pieces, with "***" in the place of each password. */
void url_put_masked(const char *text, void (*put)(void *to, const char *piece, size_t n),
                    void *to);

/* The same to a stream, with "?" for what would speak to a terminal: text_put_visible(). */
void url_print(FILE *to, const char *text);

#endif
