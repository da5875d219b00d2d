/*
 * header_links.h - what the headers of an answer point at: Link and Refresh.
 *
 *     rc = header_links_visit(HEADER_LINK, "<style.css>; rel=stylesheet, </>; rel=up", visit, arg);
 *     rc = header_links_visit(HEADER_REFRESH, "5; url=next.html", visit, arg);
 */
#ifndef CRAWLER_HEADER_LINKS_H
#define CRAWLER_HEADER_LINKS_H

#include "links.h"

enum header_kind { HEADER_LINK, HEADER_REFRESH };

/*
 * Call visit() for each URL in the value of a header, until it returns non-zero, and return that.
 * A link of RFC 8288 counts if it has a relation that is none of a name (`type`, `profile`), nor
 * one that asks to get a host ready (`preconnect`, `dns-prefetch`). A link's element is NULL, its
 * attribute the header, and its place is 0:0. -ENOMEM.
 */
int header_links_visit(enum header_kind kind, const char *value,
                       links_visit_function visit, void *arg);

#endif
