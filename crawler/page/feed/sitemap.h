/*
 * sitemap.h - the URLs in a sitemap or a feed, out of a text that comes in pieces.
 *
 *     sitemap = sitemap_create();
 *     while (rc == 0 && ... more of it ...)
 *         rc = sitemap_feed(sitemap, bytes, n);
 *     if (rc == 0)
 *         rc = sitemap_end(sitemap);
 *     if (rc == 0)
 *         rc = sitemap_visit(sitemap, visit, arg);
 *     sitemap_destroy(sitemap);
 *
 * What it may be: a urlset or a sitemapindex (sitemaps.org, protocol 0.9), a feed in RSS or Atom, or a
 * text with a URL a line; gzip around it is the caller's, or that of sitemap_inflate(). XML is read
 * by expat. As much is read as the protocol allows a sitemap to have: 50,000 URLs, 50 MiB. A document
 * type with declarations of its own is refused, so there are no entities to expand.
 *
 * Calls nothing of coil, and can run on any thread.
 */
#ifndef CRAWLER_SITEMAP_H
#define CRAWLER_SITEMAP_H

#include "../link/links.h"

#include <stdbool.h>
#include <stddef.h>

#define SITEMAP_BYTES ((size_t)50 << 20)
#define SITEMAP_URLS 50000

struct sitemap;

/* By the name of the root element. */
enum sitemap_root {
    SITEMAP_NO_XML, /* no '<' at its beginning */
    SITEMAP_OTHER,
    SITEMAP_URLSET,
    SITEMAP_INDEX,
    SITEMAP_RSS, /* 0.91 to 2.0, and RSS 1.0: rdf:RDF */
    SITEMAP_ATOM
};

/* What a document is by its first bytes, in UTF-8; SITEMAP_OTHER as well if the root element is not
   among them. */
enum sitemap_root sitemap_root_of(const char *bytes, size_t n);

/* NULL without memory; NULL may be destroyed. */
struct sitemap *sitemap_create(void);
void sitemap_destroy(struct sitemap *sitemap);

/*
 * Take the next piece. What is wrong with the sitemap ends it there, and what was found until then
 * counts: sitemap_problem() says what it was. Fails with -ENOMEM, or -EMSGSIZE where there is more
 * to keep than anybody would.
 */
int sitemap_feed(struct sitemap *sitemap, const char *bytes, size_t n);
int sitemap_end(struct sitemap *sitemap);

/* All of it at once, gzip around it; then it is at its end. Fails likewise. */
int sitemap_inflate(struct sitemap *sitemap, const char *bytes, size_t n);

/* True for the first bytes of gzip. */
bool sitemap_is_gzip(const char *bytes, size_t n);

/* "line 3: mismatched tag"; NULL if nothing was wrong. */
const char *sitemap_problem(const struct sitemap *sitemap);

/* True for the problem of a sitemap that is well-formed, and has more than the protocol allows. */
bool sitemap_is_beyond_limit(const char *problem);

/*
 * Call visit() for each URL, in their order, until it returns non-zero, and return that. A URL that
 * names another sitemap says so: link->is_sitemap. The place of a URL in an attribute is that of its
 * tag. -ENOMEM.
 */
int sitemap_visit(struct sitemap *sitemap, links_visit_function visit, void *arg);

#endif
