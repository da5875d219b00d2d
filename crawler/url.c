/*
 * url.c - resolving references for the crawler, by the parser that browsers have.
 *
 * What whatwg_url.c makes of a reference is its one spelling already. The crawler wants
 * http and https alone, and no fragments, since they do not name another page.
 */
#include "url.h"

#include "whatwg_url.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A URL without its fragment is as good, and needs no copy. */
static int take_href(struct whatwg_url *url, char **out)
{
    if (!whatwg_url_scheme_is(url, "http") && !whatwg_url_scheme_is(url, "https")) {
        whatwg_url_finish(url);
        return -EPROTONOSUPPORT;
    }
    url->href[url->fragment_at] = '\0';
    *out = url->href;
    return 0;
}

int url_resolve(const char *base, const char *reference, char **out)
{
    struct whatwg_url base_url = {0}, url;
    int rc = 0;

    if (base != NULL)
        rc = whatwg_url_parse(base, strlen(base), NULL, &base_url);
    if (rc < 0)
        return rc;
    rc = whatwg_url_parse(reference, strlen(reference), base != NULL ? &base_url : NULL,
                          &url);
    whatwg_url_finish(&base_url);
    return rc < 0 ? rc : take_href(&url, out);
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

/* The host, without "www.", between credentials and port. */
static struct whatwg_span host_without_www(const char *url)
{
    const char *end = url + url_origin_length(url);
    const char *host = strstr(url, "://") + 3;
    const char *sign = memchr(host, '@', (size_t)(end - host));

    if (sign != NULL)
        host = sign + 1;
    if (end - host > 4 && memcmp(host, "www.", 4) == 0)
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
