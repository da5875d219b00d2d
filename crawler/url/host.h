/*
 * host.h - the host of a URL, in its one spelling.
 */
#ifndef CRAWLER_HOST_H
#define CRAWLER_HOST_H

#include "../base/text.h"

/*
 * Append the host `s`, as it stands in a URL, to `out`: a name in lower-case ASCII, an
 * IPv4 address in four decimal numbers, or an IPv6 address in brackets, shortened.
 *
 * `s` is UTF-8, `opaque` true for a scheme that is not special, whose hosts nobody can
 * interpret: they are only checked and encoded. An empty host is allowed only there.
 * Fails with -EINVAL for what is no host, or -ENOMEM. (WHATWG URL standard, section 3.5)
 */
int host_parse(struct text *out, const char *s, size_t n, bool opaque);

#endif
