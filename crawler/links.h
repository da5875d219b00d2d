/*
 * links.h - what an HTML page points at.
 */
#ifndef CRAWLER_LINKS_H
#define CRAWLER_LINKS_H

#include <stddef.h>

enum link_kind {
    LINK_BASE, /* <base href>: what the others are relative to; at most one, and first */
    LINK_OTHER
};

/* `reference` is as written, with character references decoded; it lasts for the call. */
typedef int (*links_visit)(enum link_kind kind, const char *reference, void *arg);

/*
 * Call visit(kind, reference, arg) for every reference in the page to another resource,
 * in the order of the page, until it returns non-zero, and return that.
 *
 * `html` is UTF-8 or nearly, of less than 4 GiB; anything is accepted, as browsers do.
 * Fails with -ENOMEM, or -ETIME if it would take more than ten
 * seconds of processor time. Calls nothing of coil and touches nothing global, so that it
 * can run on any thread.
 */
int links_find(const char *html, size_t n, links_visit visit, void *arg);

#endif
