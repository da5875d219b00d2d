/* srcdoc.h - find the links of the document in the srcdoc attribute of an iframe. */
#ifndef CRAWLER_SRCDOC_H
#define CRAWLER_SRCDOC_H

#include "link_visit.h"
#include "links.h"

/*
 * Visit each link of a srcdoc document, using the settings of `links`. URLs are relative
 * to the page's base, or to a <base> in the document. The place of each link is that of
 * the srcdoc attribute. Ids in the document do not belong to the page. (HTML:
 * about:srcdoc) Fails with -ENOMEM.
 */
int srcdoc_visit(const struct links *links, struct link_visit *visit, const char *html);

#endif
