/*
 * saved_urls.h - all URLs of a crawl's file, by their numbers, while links are read that name them.
 */
#ifndef CRAWLER_SAVED_URLS_H
#define CRAWLER_SAVED_URLS_H

#include "../base/arena.h"
#include "../base/blocks.h"
#include "store.h"

/* Zeroes are an empty one. */
struct saved_urls {
    struct blocks
        urls; /* of struct url_entry *, by number; NULL where the file has none */
    size_t count;
    struct arena arena;
};

/* 0, -ENOMEM, -EBADMSG: it is not in order; or what the store failed with. All is kept in `cold`; NULL: on
   the heap. Finish it in any case. */
int saved_urls_read(struct saved_urls *book, struct store *store, struct cold *cold);
void saved_urls_finish(struct saved_urls *book);

/* NULL if there is none. */
const char *saved_urls_at(const struct saved_urls *book, uint32_t number);

/* The same, as struct link_blob_reader wants it; `book` is a struct saved_urls. */
const char *saved_urls_text(uint32_t number, size_t *fragment_at, void *book);

#endif
