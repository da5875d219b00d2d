/*
 * page_blob.h - encode an answer as a byte string that can be sent to another machine,
 * and decode it.
 *
 *     page_blob_write(&bytes, &page, url, fragment_at);
 *
 *     struct page_blob blob = {.ids = NULL};
 *     rc = page_blob_read(bytes, n, &blob);
 *     ... blob.page, blob.url ...
 *     page_blob_finish(&blob);
 *
 * The byte string does not contain the numbers of the page and of its URL, which are
 * valid only in one file. For the same reason, its links must contain URLs instead of
 * numbers (link_blob.h: id 0).
 */
#ifndef CRAWLER_PAGE_BLOB_H
#define CRAWLER_PAGE_BLOB_H

#include "../base/text.h"
#include "store.h"

/* Append the answer. If memory runs out, bytes->failed is set. */
void page_blob_write(struct text *bytes, const struct store_page *page, const char *url,
                     uint32_t fragment_at);

struct page_blob {
    struct store_page page; /* texts and links of the page point into the input */
    const char *url;
    uint32_t fragment_at;
    uint64_t *ids; /* buffer for page.ids, reused by the next page_blob_read() */
    size_t id_capacity;
};

/* Decode an answer. Fails with -EBADMSG if the bytes are not an answer, or -ENOMEM. */
int page_blob_read(const void *bytes, size_t n, struct page_blob *blob);

/* Free the buffer. A zeroed struct is accepted. */
void page_blob_finish(struct page_blob *blob);

#endif
