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
 * Returns the last value that visit() returned, or -ENOMEM. A link in a Link header (RFC
 * 8288) is visited only if one of its relations refers to a resource that can be fetched.
 * Examples of other relations are names (`type`, `profile`) and hosts to connect to
 * (`preconnect`, `dns-prefetch`).
 *
 * In the link that visit() receives, the element is NULL, the attribute is the name of
 * the header, and the place is 0:0.
 */
int header_links_visit(enum header_kind kind, const char *value,
                       links_visit_function visit, void *arg);

#endif
