/*
 * header_links.h - find the URLs in the headers of an answer: Link and Refresh.
 *
 *     rc = header_links_visit(HEADER_LINK, "<style.css>; rel=stylesheet, </>; rel=up", visit, arg);
 *     rc = header_links_visit(HEADER_REFRESH, "5; url=next.html", visit, arg);
 */
#ifndef CRAWLER_HEADER_LINKS_H
#define CRAWLER_HEADER_LINKS_H

#include "links.h"

enum header_kind { HEADER_LINK, HEADER_REFRESH };

/*
 * Call visit() for each URL in the value of a header, until visit() returns nonzero.
 * Returns the last value that visit() returned, or -ENOMEM. A link in a Link header
 * (RFC 8288) counts only if one of its relations refers to a resource that can be
 * fetched. Relations that are only names (`type`, `profile`) or only prepare a connection
 * (`preconnect`, `dns-prefetch`) do not count.
 *
 * In the link that visit() receives, the element is NULL, the attribute is the name of
 * the header, and the place is 0:0.
 */
int header_links_visit(enum header_kind kind, const char *value,
                       links_visit_function visit, void *arg);

#endif
