/*
 * url.h - what a page writes in a link, into a URL that can be compared and fetched.
 *
 * The URLs made here are absolute http or https URLs in one spelling each: no fragment,
 * scheme and host in lower case, host names in ASCII, no default port, no dot segments, a
 * path of at least "/", unsafe bytes percent-encoded. Two of them name the same page,
 * as far as the text can tell, if and only if they are equal.
 */
#ifndef CRAWLER_URL_H
#define CRAWLER_URL_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Resolve `reference` against `base`, a URL made here, or NULL where there is none yet.
 *
 * *out is the caller's, for free(). Fails with -EPROTONOSUPPORT for a scheme other than
 * http and https ("mailto:"), -EINVAL for what is no URL, -ENOMEM. (RFC 3986, section 5;
 * white space, backslashes and encoding as in the WHATWG's URL standard)
 */
int url_resolve(const char *base, const char *reference, char **out);

/* The length of the origin of a URL made here: "http://example.org:8080". */
size_t url_origin_length(const char *url);

/* True if two URLs made here have the same scheme, host and port. */
bool url_same_origin(const char *a, const char *b);

/* True if the hosts are the same but for a "www." in front; scheme and port aside. */
bool url_sibling_hosts(const char *a, const char *b);

#endif
