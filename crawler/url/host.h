/* host.h - normalize the host of a URL. */
#ifndef CRAWLER_HOST_H
#define CRAWLER_HOST_H

#include "../base/text.h"

/*
 * Append the host `s`, as written in a URL, to `out`: a name in lower-case ASCII, an IPv4
 * address as four decimal numbers, or a shortened IPv6 address in brackets.
 *
 * `s` is in UTF-8. `opaque` is true if the URL's scheme is not special: such a host may
 * be empty, and is only checked and encoded, because the standard does not define its
 * meaning. Fails with -EINVAL if `s` is not a host, or with -ENOMEM. (WHATWG URL
 * standard, section 3.5)
 */
int host_parse(struct text *out, const char *s, size_t n, bool opaque);

#endif
