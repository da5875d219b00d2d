/* srcdoc.c - see srcdoc.h */
#include "srcdoc.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 8 /* maximum depth of nested documents, to limit stack usage */

struct srcdoc {
    struct link_visit *visit;
    char *base; /* the <base> of the document, or NULL */
};

/*
 * Visit a link of this document or of a document nested in it. Its bases are those of
 * this document, followed by those of nested ones.
 */
static int visit_nested(const struct srcdoc *srcdoc, struct link *link)
{
    const char *inner = link->base;
    char *both = NULL;
    int rc;

    link->base = srcdoc->base != NULL ? srcdoc->base : inner;
    if (srcdoc->base != NULL && inner != NULL) {
        if (asprintf(&both, "%s\n%s", srcdoc->base, inner) < 0)
            return -ENOMEM;
        link->base = both;
    }
    rc = srcdoc->visit->function(link, srcdoc->visit->arg);
    free(both);
    return rc;
}

static int on_link(const struct link *link, void *arg)
{
    struct srcdoc *srcdoc = arg;
    struct link adjusted = *link;

    if (link->kind == LINK_BASE) {
        srcdoc->base = strdup(link->reference);
        return srcdoc->base != NULL ? 0 : -ENOMEM;
    }
    adjusted.place = srcdoc->visit->link.place;
    adjusted.nofollow |= srcdoc->visit->link.nofollow;
    /* a srcdoc document is always in UTF-8 */
    adjusted.has_no_encoding = true;
    adjusted.stays = false; /* the document is dropped before the page */
    return visit_nested(srcdoc, &adjusted);
}

static int search_document(struct links *inner, struct srcdoc *srcdoc, const char *html)
{
    int rc = links_feed(inner, html, strlen(html));

    if (rc == 0 && srcdoc->visit->cut)
        links_break_off(inner);
    else if (rc == 0)
        rc = links_end(inner);
    return rc == 0 ? links_visit(inner, false, on_link, srcdoc) : rc;
}

int srcdoc_visit(const struct links *links, struct link_visit *visit, const char *html)
{
    struct srcdoc srcdoc = {.visit = visit};
    struct links *inner;
    int rc;

    if (links->depth == DEPTH_MAX || *html == '\0')
        return 0;
    inner = malloc(sizeof *inner);
    if (inner == NULL)
        return -ENOMEM;
    links_init(inner);
    inner->wants_rel = links->wants_rel;
    inner->wants_css = links->wants_css;
    inner->depth = links->depth + 1;
    rc = search_document(inner, &srcdoc, html);
    links_finish(inner);
    free(inner);
    free(srcdoc.base);
    return rc;
}
