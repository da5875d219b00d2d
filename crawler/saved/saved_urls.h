/*
 * saved_urls.h - all URLs of a saved crawl in memory, for finding the URL with a given
 * number.
 */
#ifndef CRAWLER_SAVED_URLS_H
#define CRAWLER_SAVED_URLS_H

#include "../base/arena.h"
#include "../base/blocks.h"
#include "store.h"

/* Initialize with zeroes. */
struct saved_urls {
    struct blocks
        /* maps numbers to struct url_entry *, or NULL if a number is unused */
        urls;
    size_t count;
    struct arena arena;
};

/*
 * Read all URLs into `cold`, or into the heap if `cold` is NULL. Fails with -ENOMEM, with
 * -EBADMSG if a URL is invalid, or with the error of the store. saved_urls_finish() must
 * be called even after an error.
 */
int saved_urls_read(struct saved_urls *saved, struct store *store, struct cold *cold);
void saved_urls_finish(struct saved_urls *saved);

/* Return the URL with this number, or NULL if there is none. */
const char *saved_urls_at(const struct saved_urls *saved, uint32_t number);

/* Implements link_blob_reader.url_of(). `saved` is a struct saved_urls. */
const char *saved_urls_text(uint32_t number, size_t *fragment_at, void *saved);

#endif
