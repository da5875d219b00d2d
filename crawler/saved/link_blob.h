/*
 * link_blob.h - the links of a page in a few bytes each, as a page of a crawl keeps them.
 *
 *     link_blob_begin(&blob);
 *     link_blob_add(&blob, &found, id);          // for each link, in the order of the page
 *     ... blob.bytes.at, blob.bytes.n ...
 *
 *     rc = link_blob_read(bytes, n, &reader);    // tells each as the search had found it
 *
 * A URL that the crawl follows is a number, that of the crawl's file; the words of a link are
 * mostly the end of its URL, and are then a length. docs/design/state.md has the bytes.
 */
#ifndef CRAWLER_LINK_BLOB_H
#define CRAWLER_LINK_BLOB_H

#include "../base/text.h"
#include "../page/search.h"

#define LINK_BLOB_PLACES 128

/* Zeroes are an empty one. */
struct link_blob {
    struct text bytes;
    const char *elements[LINK_BLOB_PLACES], *attributes[LINK_BLOB_PLACES];
    size_t place_count; /* pairs of element and attribute that it has named */
    uint32_t line;      /* of the last link */
};

/* Forget what was in it. */
void link_blob_begin(struct link_blob *blob);

/* `id` is the number of found->url; 0: it has none, and is written out. `url` is as it was found. What
   memory is missing for is seen at the end: blob->bytes.failed. */
void link_blob_add(struct link_blob *blob, const struct search_found *found, uint32_t id,
                   const char *url, size_t url_n);

void link_blob_finish(struct link_blob *blob);

struct link_blob_reader {
    /* The URL of a number, and where its fragment begins, or 0; NULL: there is none. */
    const char *(*url_of)(uint32_t id, size_t *fragment_at, void *arg);
    /* Returns below 0 to end it with that. All lasts for the call; the URL may be written to. */
    int (*visit)(const struct search_found *found, void *arg);
    void *arg;
};

/* -EBADMSG: these are no links; some may have been told. -ENOMEM, or as visit(). */
int link_blob_read(const void *bytes, size_t n, const struct link_blob_reader *reader);

#endif
