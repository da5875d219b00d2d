/*
 * url_book.h - all URLs of a saved crawl in memory, by number, to resolve the numbers in
 * links.
 */
#ifndef CRAWLER_URL_BOOK_H
#define CRAWLER_URL_BOOK_H

#include "../base/arena.h"
#include "../base/blocks.h"
#include "store.h"

/* Initialize with zeroes. */
struct url_book {
    struct blocks
        urls; /* of struct url_entry *, by number; NULL for numbers that the file lacks */
    size_t count;
    struct arena arena;
};

/*
 * Read all URLs into `cold`, or into the heap if that is NULL. Fails with -ENOMEM, with
 * -EBADMSG if a URL is invalid, or as the store fails. Call url_book_finish() in any
 * case.
 */
int url_book_read(struct url_book *book, struct store *store, struct cold *cold);
void url_book_finish(struct url_book *book);

/* Return the URL, or NULL if the number is unknown. */
const char *url_book_at(const struct url_book *book, uint32_t number);

/* The same, in the form of link_blob_reader's url_of(). `book` is a struct url_book. */
const char *url_book_text(uint32_t number, size_t *fragment_at, void *book);

#endif
