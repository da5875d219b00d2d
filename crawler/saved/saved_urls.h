/*
 * saved_urls.h - all URLs of a saved crawl in memory, by number, to resolve the numbers
 * in links.
 */
#ifndef CRAWLER_SAVED_URLS_H
#define CRAWLER_SAVED_URLS_H

#include "../base/arena.h"
#include "../base/blocks.h"
#include "store.h"

/* Initialize with zeroes. */
struct saved_urls {
    struct blocks
        urls; /* of struct url_entry *, by number; NULL for numbers that the file lacks */
    size_t count;
    struct arena arena;
};

/*
 * Read all URLs into `cold`, or into the heap if that is NULL. Fails with -ENOMEM, with
 * -EBADMSG if a URL is invalid, or the error of the store. Call saved_urls_finish() in
 * any case.
 */
int saved_urls_read(struct saved_urls *book, struct store *store, struct cold *cold);
void saved_urls_finish(struct saved_urls *book);

/* Return the URL, or NULL if the number is unknown. */
const char *saved_urls_at(const struct saved_urls *book, uint32_t number);

/* Like saved_urls_at(), as the url_of() of a link_blob_reader. `book` is a struct
   saved_urls. */
const char *saved_urls_text(uint32_t number, size_t *fragment_at, void *book);

#endif
