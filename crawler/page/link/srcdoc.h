/* srcdoc.h - find the links of the document in the srcdoc attribute of an iframe. */
#ifndef CRAWLER_SRCDOC_H
#define CRAWLER_SRCDOC_H

#include "link_visit.h"
#include "links.h"

/*
 * Visit each link of a srcdoc document, with the settings of `links`. URLs are relative
 * to the page's base, or to a <base> in the document. The place of every link is the
 * place of the srcdoc attribute. Ids are ignored, because they do not belong to the page.
 * (HTML: about:srcdoc) Returns 0, the nonzero value of a visit, or -ENOMEM.
 */
int srcdoc_visit(const struct links *links, struct link_visit *visit, const char *html);

#endif
