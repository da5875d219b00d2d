/*
 * srcdoc.h - the links of the document in the srcdoc attribute of an iframe.
 */
#ifndef CRAWLER_SRCDOC_H
#define CRAWLER_SRCDOC_H

#include "link_visit.h"
#include "links.h"

/*
 * Visit each link of the document, which is searched as the page in `links` is. Its URLs are relative to
 * the page's base, or to a <base> of its own; their place is that of the attribute; its ids are no
 * places of the page. (HTML: about:srcdoc) -ENOMEM.
 */
int srcdoc_visit(const struct links *links, struct link_visit *visit, const char *html);

#endif
