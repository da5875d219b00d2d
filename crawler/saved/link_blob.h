/*
 * link_blob.h - encode and decode the links of a page in compact form, for the page's
 * record in a crawl's file.
 *
 *     link_blob_begin(&blob);
 *     link_blob_add(&blob, &found, id, url, n); // for each link, in document order
 *     ... blob.bytes.at, blob.bytes.n ...
 *
 *     rc = link_blob_read(bytes, n, &reader);   // calls reader.visit() for each link
 *
 * The URL of a link that is followed is stored as its number in the crawl's file. The
 * reference as written on the page is often a suffix of this URL, in which case only its
 * length is stored. docs/design/state.md describes the format.
 */
#ifndef CRAWLER_LINK_BLOB_H
#define CRAWLER_LINK_BLOB_H

#include "../base/text.h"
#include "../page/search.h"

#define LINK_BLOB_PLACES 128

/* Initialize with zeroes. */
struct link_blob {
    struct text bytes;
    const char *elements[LINK_BLOB_PLACES], *attributes[LINK_BLOB_PLACES];
    size_t place_count; /* number of (element, attribute) pairs so far */
    uint32_t line;      /* line of the last link */
};

/* Empty the blob. */
void link_blob_begin(struct link_blob *blob);

/*
 * Append a link. `url` is its resolved URL, and `id` is the number of this URL, or 0 to
 * store the URL itself. If memory runs out, blob->bytes.failed is set.
 */
void link_blob_add(struct link_blob *blob, const struct search_found *found, uint32_t id,
                   const char *url, size_t url_n);

void link_blob_finish(struct link_blob *blob);

struct link_blob_reader {
    /*
     * Return the URL with this number, or NULL if there is none. Stores the offset of its
     * fragment in *fragment_at, or 0.
     */
    const char *(*url_of)(uint32_t id, size_t *fragment_at, void *arg);
    /*
     * Called for each link. A negative return value stops the reader. `found` is valid
     * only during the call, and its URL may be modified.
     */
    int (*visit)(const struct search_found *found, void *arg);
    void *arg;
};

/*
 * Read all links. Fails with -EBADMSG if the bytes are invalid, perhaps after visit() was
 * called for some links. Also fails with -ENOMEM, or with the negative return value of
 * visit().
 */
int link_blob_read(const void *bytes, size_t n, const struct link_blob_reader *reader);

#endif
