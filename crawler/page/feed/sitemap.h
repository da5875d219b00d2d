/*
 * sitemap.h - find the URLs in a sitemap or a feed that arrives in pieces.
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
 * The input is a urlset or a sitemapindex (sitemaps.org, protocol 0.9), a feed in RSS or
 * Atom, or a text with one URL per line. A gzip-compressed sitemap must be passed to
 * sitemap_inflate(), or be decompressed first. XML is parsed by expat. The protocol's
 * limits apply: 50,000 URLs, 50 MiB. A document type that contains declarations is
 * rejected, to prevent the expansion of entities.
 *
 * The functions do not use coil, and can run on any thread.
 */
#ifndef CRAWLER_SITEMAP_H
#define CRAWLER_SITEMAP_H

#include "../link/links.h"

#include <stdbool.h>
#include <stddef.h>

#define SITEMAP_BYTES ((size_t)50 << 20)
#define SITEMAP_URLS 50000

struct sitemap;

/* The kind of a document, determined by the name of its root element. */
enum sitemap_root {
    SITEMAP_NO_XML, /* a text that does not begin with '<' */
    SITEMAP_OTHER,
    SITEMAP_HTML,
    SITEMAP_URLSET,
    SITEMAP_INDEX,
    SITEMAP_RSS, /* RSS 0.91 to 2.0; also RSS 1.0, with the root element rdf:RDF */
    SITEMAP_ATOM
};

/*
 * Guess the kind of a UTF-8 document from its first n bytes. Returns SITEMAP_OTHER if
 * they do not include the root element.
 */
enum sitemap_root sitemap_root_of(const char *bytes, size_t n);

/* Begin a sitemap. Returns NULL if memory runs out. sitemap_destroy() accepts NULL. */
struct sitemap *sitemap_create(void);
void sitemap_destroy(struct sitemap *sitemap);

/*
 * Process the next piece. If the sitemap has an error, the rest of it is ignored,
 * sitemap_problem() returns the error, and sitemap_visit() visits the URLs before the
 * error. Fails with -ENOMEM, or with -EMSGSIZE if more than 1 GiB must be stored.
 */
int sitemap_feed(struct sitemap *sitemap, const char *bytes, size_t n);
int sitemap_end(struct sitemap *sitemap);

/*
 * Process a whole gzip-compressed sitemap. Call this instead of sitemap_feed() and
 * sitemap_end(). Fails like sitemap_feed().
 */
int sitemap_inflate(struct sitemap *sitemap, const char *bytes, size_t n);

/* True if the bytes begin with the signature of gzip. */
bool sitemap_is_gzip(const char *bytes, size_t n);

/* Return the first error in the sitemap, such as "line 3: mismatched tag", or NULL. */
const char *sitemap_problem(const struct sitemap *sitemap);

/* True if the problem is only that the sitemap exceeds a limit of the protocol. */
bool sitemap_is_beyond_limit(const char *problem);

/*
 * Call visit() for each URL, in document order, until visit() returns nonzero. Returns
 * the last value that visit() returned, or -ENOMEM. If a URL leads to another sitemap,
 * link->is_sitemap is set. If a URL is in an attribute, link->place is the place of the
 * tag.
 */
int sitemap_visit(struct sitemap *sitemap, links_visit_function visit, void *arg);

#endif
