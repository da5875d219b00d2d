/*
 * page_blob.h - what came of asking for a URL, in one piece: what one machine sends to another.
 *
 *     page_blob_write(&bytes, &page, url, fragment_at);
 *
 *     struct page_blob blob = {.ids = NULL};
 *     rc = page_blob_read(bytes, n, &blob);
 *     ... blob.page, blob.url ...
 *     page_blob_finish(&blob);
 *
 * The page's number and the id of its URL are not in it: they belong to a file. So its links must have their
 * URLs written out (link_blob.h: id 0).
 */
#ifndef CRAWLER_PAGE_BLOB_H
#define CRAWLER_PAGE_BLOB_H

#include "../base/text.h"
#include "store.h"

/* Append it. What memory is missing for is seen at the end: bytes->failed. */
void page_blob_write(struct text *bytes, const struct store_page *page, const char *url,
                     uint32_t fragment_at);

struct page_blob {
    struct store_page page; /* its texts and links are where the bytes are */
    const char *url;
    uint32_t fragment_at;
    uint64_t *ids; /* page.ids, for one blob after the other */
    size_t id_capacity;
};

/* -EBADMSG: it is none; -ENOMEM. */
int page_blob_read(const void *bytes, size_t n, struct page_blob *blob);

/* Zeroes are accepted. */
void page_blob_finish(struct page_blob *blob);

#endif
