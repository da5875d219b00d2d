/*
 * saved_urls.h - all URLs of a crawl's file, by their numbers, while links are read that name them.
 */
#ifndef CRAWLER_SAVED_URLS_H
#define CRAWLER_SAVED_URLS_H

#include "../base/arena.h"
#include "../base/blocks.h"
#include "store.h"

/* Zeroes are an empty one. */
struct url_book {
    struct blocks
        urls; /* of struct url_entry *, by number; NULL where the file has none */
    size_t count;
    struct arena arena;
};

/* 0, -ENOMEM, -EBADMSG: it is not in order; or what the store failed with. All is kept in `cold`; NULL: on
   the heap. Finish it in any case. */
int url_book_read(struct url_book *book, struct store *store, struct cold *cold);
void url_book_finish(struct url_book *book);

/* NULL if there is none. */
const char *url_book_at(const struct url_book *book, uint32_t number);

/* The same, as struct link_blob_reader wants it; `book` is a struct url_book. */
const char *url_book_text(uint32_t number, size_t *fragment_at, void *book);

#endif
