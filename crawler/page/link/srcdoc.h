/* srcdoc.h - find the links of the document in the srcdoc attribute of an iframe. */
#ifndef CRAWLER_SRCDOC_H
#define CRAWLER_SRCDOC_H

#include "link_visit.h"
#include "links.h"

/*
 * Visit each link of the document `html`, which is the value of a srcdoc attribute, with
 * the settings of `links`. URLs are relative to a <base> in the document, or to the
 * page's base. Each link has the place of the attribute. Ids are ignored, because
 * fragments of the page's URL cannot refer to them. (HTML: about:srcdoc) Returns 0, the
 * nonzero value of a visit, or -ENOMEM.
 */
int srcdoc_visit(const struct links *links, struct link_visit *visit, const char *html);

#endif
